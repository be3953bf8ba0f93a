"""How the bench of experiments asks: side by side, in turn, over HTTP, by the SDK, and which stacks it takes."""

from __future__ import annotations

import http.server
import json
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from sandbox.swanlab_server import tables
from sandbox.swanlab_server.settings import ClickHouse as Points
from smoke.access.objects import Key
from stacks.contract import (
    Bucket,
    Cluster,
    Component,
    Contract,
    Experiments,
    ObjectStore,
    SecretRef,
    Store,
)
from tests.bench.errors import BenchError
from tests.bench.experiments import __main__ as command
from tests.bench.experiments import sdk, site
from tests.bench.experiments.http import Http, in_turn, side_by_side
from tests.bench.experiments.plan import Plan
from tests.bench.experiments.points import rows
from tests.bench.experiments.site import Database, Site
from tests.bench.experiments.stores import ClickHouse
from tests.offline.sandbox.clickhouse_engine.process import DATABASE, PASSWORD, USER, engine
from tests.offline.sandbox.fakes import program
from tests.offline.smoke import objects

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECRET = SecretRef(namespace="n", name="s", key="k")
BUCKET = Bucket(name="b", owner="swanlab", access=SECRET, secret=SECRET)
PLAN = Plan(keys=2, steps=6, batch=4, sdk_keys=2, sdk_steps=3, sdk_seconds=1.0)
SITE = Site(
    sdk="0.8.4",
    gateway="http://127.0.0.1:1",
    api_key="abcdefghijklmnopqrstu",
    database=Database("http://127.0.0.1:1", "app", "swanlab", "word-of-database"),
    store="http://127.0.0.1:1",
    bucket="b",
    store_key=Key("swanlab", "word-of-store"),
)
# Stands for the SDK's Python: `-I sdk_logger.py plan.json`.
LOGS = """
result=$(sed 's/.*"result": "\\([^"]*\\)".*/\\1/' "$3")
echo "$SWANLAB_API_HOST" > "$(dirname "$0")/host"; cp "$3" "$(dirname "$0")/plan.json"
echo '{"slug": "abc", "steps": 3, "begun": 1.0, "logged": 2.0, "finished": 4.0, "computed": 0.5}' > "$result"
"""


def contract(clickhouse: str = "chart", *, store: bool = True, experiments: bool = True, node: bool = True) -> Contract:
    """Of a stack that can be measured, but for what is told otherwise."""
    promised = Experiments(
        sdk="0.8.4",
        host="http://h",
        login=SECRET,
        stores={"clickhouse": Store(mode=clickhouse)},  # type: ignore[arg-type]  # one of its words
        body_limit=1,
    )
    return Contract(
        stack="local",
        cluster=Cluster(uid="uid", context="c", name="local", environment="test"),
        namespace="plumbline",
        capabilities=("experiments", "node-access") if node else ("experiments",),
        components={"swanlab": Component(tier="simulated", namespace="plumbline-swanlab")},
        scrape=(),
        rules=objects.RULES,
        experiments=promised if experiments else None,
        object_store=ObjectStore(buckets=(BUCKET,)) if store else None,
        expected_checks=(),
    )


@contextmanager
def answering(code: int, text: str) -> Iterator[str]:
    """Address of a server that gives every question the same answer."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(code)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def later() -> float:
    """A moment that no test reaches."""
    return time.monotonic() + 600


def test_every_task_is_done_once() -> None:
    done: list[int] = []
    found, seconds = side_by_side(4, range(100), done.append, later())
    assert sorted(found) == sorted(done) == list(range(100))
    assert seconds > 0


def test_no_task_is_begun_after_the_time_is_over() -> None:
    assert side_by_side(4, range(100), lambda _: None, time.monotonic())[0] == []


def test_failed_task_ends_all_and_is_told() -> None:
    done: list[int] = []

    def do(number: int) -> None:
        if number == 3:
            raise BenchError("task 3 failed")
        done.append(number)

    with pytest.raises(BenchError, match="task 3 failed"):
        side_by_side(1, range(100), do, later())
    assert done == [0, 1, 2]


def test_questions_are_asked_in_turn_and_the_first_pair_does_not_count() -> None:
    asked: list[str] = []
    both = in_turn(lambda: asked.append("ours"), lambda: asked.append("store"), 3, later())
    assert asked == ["ours", "store"] * 4
    assert (len(both.ours.samples), len(both.store.samples)) == (3, 3)
    assert in_turn(lambda: None, lambda: None, 3, time.monotonic()).ours.samples == ()


def test_bad_answer_is_told_without_the_query_which_may_be_a_key() -> None:
    with answering(503, "busy") as address, pytest.raises(BenchError) as caught:
        Http().ask("GET", f"{address}/path?X-Amz-Signature=secret")
    assert str(caught.value) == f"GET {address}/path: HTTP 503: busy"
    with pytest.raises(BenchError, match="no answer") as caught:
        Http().ask("GET", "http://127.0.0.1:1/path?X-Amz-Signature=secret")
    assert "secret" not in str(caught.value)


def test_good_answer_is_given() -> None:
    with answering(200, "text") as address:
        assert Http().ask("GET", address).text == "text"


def test_secrets_are_in_no_print() -> None:
    assert "word-of" not in repr(SITE) + repr(SITE.database) + repr(SITE.store_key)
    assert SITE.api_key not in repr(SITE)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (contract(), ""),
        (contract(experiments=False), "no SwanLab that takes runs"),
        (contract("external"), "ClickHouse is external"),
        (contract(store=False), "no object store of its own"),
        (contract(node=False), "no node of its cluster"),
    ],
)
def test_stacks_that_cannot_be_measured_are_refused(found: Contract, words: str, tmp_path: Path) -> None:
    why = site.refusal(found)
    assert words in why
    assert bool(why) == bool(words)
    if why:
        with pytest.raises(BenchError, match=f"stack local cannot be measured: .*{words}"):
            site.find(found, tmp_path / "kubeconfig")


def test_command_says_what_it_cannot_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "contract.json"
    argv = [f"--contract={path}", f"--kubeconfig={tmp_path}/k", f"--cache={tmp_path}/c", f"--out={tmp_path}/o.json"]
    assert command.main(argv) == 1
    assert "cannot be used" in capsys.readouterr().err
    path.write_text(contract(store=False).model_dump_json())
    assert command.main(argv) == 1
    assert "error: stack local cannot be measured: it deploys no object store" in capsys.readouterr().err
    assert not (tmp_path / "o.json").exists()


def test_sdk_logs_what_the_plan_says_to_the_gateway(tmp_path: Path) -> None:
    python = program(tmp_path / "bin", "python", LOGS)
    done = sdk.log(python, SITE, PLAN, "bench-sdk-1", later())
    assert done == sdk.Logged(slug="abc", steps=3, begun=1.0, logged=2.0, finished=4.0, computed=0.5)
    plan: dict[str, Any] = json.loads((tmp_path / "bin" / "plan.json").read_text())
    expected = {"project": "plumbline-bench", "run": "bench-sdk-1", "keys": 2, "steps": 3, "seconds": 1.0}
    assert {name: plan[name] for name in expected} == expected
    assert (tmp_path / "bin" / "host").read_text().strip() == SITE.gateway


def test_sdk_that_fails_or_hangs_ends_the_bench_and_its_words_lack_the_key(tmp_path: Path) -> None:
    fails = program(tmp_path / "bin", "fails", f"echo no route for {SITE.api_key}; exit 3")
    with pytest.raises(BenchError, match=r"the SDK ended with 3:\nno route for \*\*\*"):
        sdk.log(fails, SITE, PLAN, "run", later())
    hangs = program(tmp_path / "bin", "hangs", "echo waiting; sleep 600")
    for seconds in (1, 20):  # on a busy machine it may not have said a word by then
        with pytest.raises(BenchError, match=r"did not come to its end within .* s:") as caught:
            sdk.log(hangs, SITE, PLAN, "run", time.monotonic() + seconds)
        if "waiting" in str(caught.value):
            break
    assert "s:\nwaiting" in str(caught.value)


def test_version_without_a_lock_is_told(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"there is no lock of SDK 0\.0\.1"):
        sdk.interpreter("0.0.1", tmp_path, print)


def test_clickhouse_holds_the_rows_until_they_are_removed(tmp_path: Path) -> None:
    with engine(tmp_path) as server:
        database = Database(server.url, DATABASE, USER, PASSWORD)
        own = ClickHouse(Http(), database)
        table = own.make("word")
        for batch in range(PLAN.batches):
            own.insert(table, rows(PLAN, batch, "p", "e"))
        assert own.rows(table) == 12
        own.insert(table, rows(PLAN, 0, "p", "e"))
        assert own.rows(table) == 12  # a step that comes again is the same point
        assert own.tables() == ["plumbline_bench_word"]
        own.drop(own.tables())
        assert own.tables() == []
        with pytest.raises(BenchError, match="HTTP 4"):
            own.rows(table)


def test_series_and_summaries_of_a_run_are_its_own_and_can_be_forgotten(tmp_path: Path) -> None:
    with engine(tmp_path) as server:
        database = Database(server.url, DATABASE, USER, PASSWORD)
        own = ClickHouse(Http(), database)
        tables.make(Points(url=server.url, database=DATABASE, user=USER, password=PASSWORD))
        for run in ("mine", "mine2"):
            own.insert("scalar", rows(PLAN, 1, "p", f"{run}.1"))
        steps = [line.split(b"\t")[0] for line in own.series("mine", "bench/k1").splitlines()]
        assert steps == [b"2", b"3"]
        assert [line.split(b"\t")[0] for line in own.summaries("mine").splitlines()] == [b"bench/k0", b"bench/k1"]
        assert (own.stored("mine"), own.stored("mine2")) == (4, 4)
        own.forget(["mine"])
        assert (own.stored("mine"), own.stored("mine2")) == (0, 4)
