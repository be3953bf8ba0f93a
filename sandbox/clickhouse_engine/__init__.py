"""ClickHouse's HTTP interface over the real ClickHouse engine, for a sandbox where the server cannot be had.

The engine is chdb, ClickHouse as a library: its SQL, its formats, its MergeTree on disk, its errors. Around it stands
what the server would add: `/` and `/ping` on port 8123 with one user and a password, and metrics on port 9363 under
the server's own names. Contract: ClickHouse's documentation, "HTTP Interface", and `src/Server/HTTPHandler.cpp`.

What it does not do, and refuses rather than ignores: sessions (`session_id`), ClickHouse's own compression
(`compress`, `decompress`), roles, encodings other than gzip and deflate. What the engine itself lacks: `CREATE USER`,
`query_log`, `asynchronous_metrics`; so of the asynchronous metrics there is only the uptime.

Start it with `python3 -P -m sandbox.clickhouse_engine`; `settings` lists the environment.
"""
