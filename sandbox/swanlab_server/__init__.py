"""Stand-in for SwanLab's self-hosted servers: what the official SDKs need of them, and nothing else.

The real images and their licence cannot be had in a sandbox. This one speaks the HTTP contract that the SDKs 0.7.20 to
0.10.3 speak, read in their wheels, and keeps everything in the same kinds of store as the real one: metadata in
PostgreSQL, sessions in Redis, points in ClickHouse by way of a delivery buffer, media in S3.

One program with a word for each process: `python3 -P -m sandbox.swanlab_server server|auth|house|vector|pages`.

What it does not do, or does otherwise than the real one:

- No pages for people beyond a plain one, no charts, no chart editing, no sharing, no organisations, no mail.
- Activation asks nobody: any text is a licence (`sandbox.swanlab_server.licences`).
- A licence that is over lets nobody log in; sessions that are open go on.
- A project has one owner, who alone writes to it. Private ones are seen by the owner and by root, public ones by all.
- API keys are shown once: lists hold stars in their place.
- Filters of runs by scalars are refused (422).
- Points of a run that come out of the buffer after the run was deleted are stored, and seen by nobody; they go with
  the project. What comes after that stays.
- A board is upgraded to multi-view by `POST /api/project/{user}/{project}/multi_view`, which has no button here.
- A server that finds a schema newer than its own refuses to start. The real one starts on it and fails later.
- Status codes that the SDKs do not look at are chosen, not observed.
"""
