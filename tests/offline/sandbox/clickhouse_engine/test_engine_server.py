"""The HTTP interface over the real engine. Expected: ClickHouse's documentation, "HTTP Interface"."""

from __future__ import annotations

import gzip
import http.client
import json
import threading
import zlib

import pytest

from tests.offline.sandbox.clickhouse_engine.process import (
    DATABASE,
    Server,
    engine,
    environment,
    free_port,
    request,
    start,
)


def test_ping_needs_no_password(server: Server) -> None:
    answer = request(server.port, "GET", "/ping", b"", {})
    assert (answer.status, answer.text) == (200, "Ok.\n")


def test_a_wrong_password_is_refused_with_code_516(server: Server) -> None:
    answer = server.ask("SELECT 1", headers={"X-ClickHouse-User": "swanlab", "X-ClickHouse-Key": "wrong"})
    assert (answer.status, answer.headers["x-clickhouse-exception-code"]) == (403, "516")
    assert answer.text.startswith("Code: 516. DB::Exception: swanlab: Authentication failed")


def test_database_format_settings_and_values_come_by_parameters(server: Server) -> None:
    parameters = {
        "database": DATABASE,
        "default_format": "JSONEachRow",
        "max_block_size": "77",
        "param_x": "it's \\\\ 41",
        "query": "SELECT currentDatabase() AS d, {x:String} AS x, getSetting('max_block_size') AS s",
    }
    answer = server.ask(b"", parameters)
    assert json.loads(answer.text) == {"d": "app", "x": "it's \\ 41", "s": 77}
    assert server.ask("SELECT currentDatabase()").text == "default\n", "settings of a request end with it"


def test_get_reads_and_does_not_write(server: Server) -> None:
    assert server.ask(parameters={"query": "SELECT 1"}, method="GET").text == "1\n"
    answer = server.ask(parameters={"query": "CREATE TABLE app.no (a Int8) ENGINE = Memory"}, method="GET")
    assert (answer.status, answer.headers["x-clickhouse-exception-code"]) == (500, "164")


@pytest.mark.parametrize(
    ("statement", "parameters", "code", "status"),
    [
        ("SELECT FROM WHERE", {}, "62", 400),
        ("SELECT * FROM nowhere", {}, "60", 404),
        ("SELECT 1", {"database": "nowhere"}, "81", 404),
        ("SELECT 1", {"no_such_setting": "1"}, "115", 404),
        ("SELECT 1", {"session_id": "x"}, "48", 501),
        ("SELECT throwIf(1)", {}, "395", 500),
    ],
)
def test_errors_have_code_and_status(
    server: Server, statement: str, parameters: dict[str, str], code: str, status: int
) -> None:
    answer = server.ask(statement, parameters)
    assert (answer.headers.get("x-clickhouse-exception-code"), answer.status) == (code, status)
    assert answer.text.startswith(f"Code: {code}. DB::Exception: ")


def test_rows_come_plain_compressed_and_behind_the_statement(server: Server) -> None:
    server.rows("CREATE TABLE many (a Int64, b String) ENGINE = MergeTree ORDER BY a")
    into = {"query": "INSERT INTO app.many FORMAT TSV"}
    assert server.ask(b"1\tx\n", into).headers["x-clickhouse-summary"].count('"written_rows":"1"') == 1
    own = {"X-ClickHouse-User": "swanlab", "X-ClickHouse-Key": "of the test: 'quoted' \\ & more"}
    assert server.ask(gzip.compress(b"2\ty\n"), into, {**own, "Content-Encoding": "gzip"}).status == 200
    assert server.ask(zlib.compress(b"3\tz\n"), into, {**own, "Content-Encoding": "deflate"}).status == 200
    assert server.ask("INSERT INTO app.many FORMAT CSV\n4,u\n").status == 200
    assert server.ask("INSERT INTO app.many VALUES (5, 'v')").status == 200
    assert server.rows("SELECT a, b FROM many ORDER BY a") == ["1\tx", "2\ty", "3\tz", "4\tu", "5\tv"]
    torn = server.ask(gzip.compress(b"6\tw\n")[:-9], into, {**own, "Content-Encoding": "gzip"})
    assert torn.headers["x-clickhouse-exception-code"] == "354"
    assert server.ask(b"7\tw\nx\tw\n", into).status == 400
    assert server.rows("SELECT count() FROM many") == ["5"], "of what was refused nothing is stored"


def test_a_result_is_whole_or_breaks_off(server: Server) -> None:
    answer = server.ask("SELECT number FROM numbers(300000)")
    assert answer.text.splitlines()[-1] == "299999"
    assert answer.text.count("\n") == 300_000
    with pytest.raises(http.client.IncompleteRead):
        server.ask("SELECT throwIf(number > 2000000) FROM numbers(3000000)")


def test_a_result_in_blocks_comes_while_it_is_made_and_goes_back_in(server: Server) -> None:
    with pytest.raises(http.client.IncompleteRead):  # the answer had begun when the statement failed
        server.ask("SELECT throwIf(number > 2000000), number FROM numbers(3000000) FORMAT Native")
    server.rows("CREATE TABLE blocks (a UInt64) ENGINE = MergeTree ORDER BY a")
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    own = {"X-ClickHouse-User": "swanlab", "X-ClickHouse-Key": "of the test: 'quoted' \\ & more"}
    connection.request("POST", "/", b"SELECT number AS a FROM numbers(300000) FORMAT Native", own)
    answer = connection.getresponse()
    assert answer.getheader("Transfer-Encoding") == "chunked"
    content = answer.read()
    connection.close()
    assert len(content) > 8 * 300_000, "eight bytes for each number, and a head for each block"
    assert server.ask(content, {"query": "INSERT INTO app.blocks FORMAT Native"}).status == 200
    assert server.rows("SELECT count(), sum(a) FROM blocks") == ["300000\t44999850000"]
    assert server.ask(content[:-3], {"query": "INSERT INTO app.blocks FORMAT Native"}).status == 500


def test_statements_run_side_by_side(server: Server) -> None:
    long = "SELECT sleepEachRow(1) FROM numbers(3) SETTINGS max_block_size = 1"
    thread = threading.Thread(target=server.ask, args=(long,))
    thread.start()
    running = 0
    while running < 2 and thread.is_alive():  # this statement and the long one
        running = max(running, int(server.rows("SELECT value FROM system.metrics WHERE metric = 'Query'")[0]))
    thread.join()
    assert running == 2


def test_metrics_are_the_engines_own(server: Server) -> None:
    def events() -> int:
        page = request(server.metrics_port, "GET", "/metrics", b"", {}).text
        line = next(line for line in page.splitlines() if line.startswith("ClickHouseProfileEvents_InsertedRows "))
        return int(line.split()[1])

    server.rows("CREATE TABLE counted (a Int64) ENGINE = MergeTree ORDER BY a")
    before = events()
    server.ask(b"1\n2\n3\n", {"query": "INSERT INTO app.counted FORMAT TSV"})
    assert events() - before == 3
    page = request(server.metrics_port, "GET", "/metrics", b"", {}).text
    assert "# TYPE ClickHouseMetrics_Query gauge" in page
    assert "# TYPE ClickHouseProfileEvents_Query counter" in page
    assert "\nClickHouseAsyncMetrics_Uptime " in page


def test_acknowledged_rows_survive_a_kill(tmp_path_factory: pytest.TempPathFactory) -> None:
    directory = tmp_path_factory.mktemp("killed")
    with engine(directory) as first:
        first.rows("CREATE TABLE kept (a Int64) ENGINE = MergeTree ORDER BY a SETTINGS fsync_after_insert = 1")
        assert first.ask(b"1\n2\n", {"query": "INSERT INTO app.kept FORMAT TSV"}).status == 200
        first.kill()
    with engine(directory) as second:
        assert second.rows("SELECT a FROM kept ORDER BY a") == ["1", "2"]


def test_it_does_not_start_without_a_password(tmp_path_factory: pytest.TempPathFactory) -> None:
    directory = tmp_path_factory.mktemp("open")
    given = {**environment(directory, free_port(), free_port()), "CLICKHOUSE_PASSWORD": ""}
    assert start(["sandbox.clickhouse_engine"], given).wait(60) == 1
    assert list(directory.iterdir()) == []
