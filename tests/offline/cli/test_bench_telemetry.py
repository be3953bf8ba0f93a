"""The bench of telemetry at a small size, over the real collector: every row is there, and a loss is an error."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from cli.engine import ROOT
from components.otel_collector.lint import TOOL
from tests.bench.errors import BenchError
from tests.bench.recovery.cost import family
from tests.bench.telemetry import __main__ as command
from tests.bench.telemetry import balance, content, identity, plan, sender, sides
from tests.bench.telemetry.figures import LINES, RECORDS, SPANS, latency, ratios
from tests.bench.telemetry.run import run
from tests.bench.telemetry.sink import Sink
from tests.bench.telemetry.table import table
from tests.bench.telemetry.verdict import problems
from tests.offline.programs import require
from tests.offline.sandbox.fakes import PATIENCE, silent, wait_until_ended
from tests.offline.sandbox.inference.test_inference_traces import TREE
from tests.offline.serving import serving

if TYPE_CHECKING:
    from tests.bench.telemetry.figures import Report

SMALL: Final = plan.Plan(
    spans=2000, records=500, lines=2000, seconds=0.5, wait=1, scrape=1, patience=30.0, ticks=10, tick_records=3
)
IMPATIENT: Final = plan.Plan(spans=2000, records=500, lines=800, seconds=0.1, wait=1, scrape=1, patience=4.0)


@pytest.fixture(scope="module")
def report() -> Report:
    """Of a run in which nothing is lost."""
    return run(SMALL, Path(require(TOOL)), silent()[0])


def test_every_row_is_there_and_everything_balances(report: Report) -> None:
    assert problems(report) == []
    rows = [(one.collector, one.signal, one.side) for one in report.measured]
    gateway = [(sides.GATEWAY, signal, side) for side in sides.SIDES for signal in (SPANS, RECORDS)]
    assert rows == [*gateway, *((sides.AGENT, LINES, side) for side in sides.SIDES)]
    printed = table(report)
    for what in (SPANS, RECORDS, LINES):
        for side in (sides.SAME_QUEUE, sides.DEFAULTS):
            assert f"  {what} / {side} " in printed
    assert all(printed.count(f"\n  {side} ") == 3 for side in (sides.SAME_QUEUE, sides.DEFAULTS))


def test_figures_are_measured(report: Report) -> None:
    sent = {SPANS: 2000, RECORDS: 500, LINES: 2000}
    at_a_rate = {SPANS: 5, RECORDS: 15, LINES: 15}
    for one in report.measured:
        fast = one.throughput
        assert fast.count == sent[one.signal]
        assert fast.seconds > 0
        assert fast.peak > 1, "no program has so little memory"
        assert 0 < one.latency.median <= one.latency.p99 <= one.latency.most
        assert one.latency.count == at_a_rate[one.signal]
        # Of 100 traces one has an error and one is slow; at least these are kept, and of the rest few.
        if (one.signal, one.side) == (SPANS, sides.AS_RENDERED):
            assert 40 <= fast.kept < 1000
            assert fast.cpu > 0
        else:
            assert fast.kept == fast.count


def test_report_is_written_with_what_follows(report: Report, tmp_path: Path) -> None:
    command.write(report, tmp_path / "below" / "report.json")
    found = json.loads((tmp_path / "below" / "report.json").read_text(encoding="utf-8"))
    assert found["problems"] == []
    assert len(found["measured"]) == 9
    pairs = {(one["signal"], one["beside"]) for one in found["ratios"]}
    assert pairs == {(signal, side) for signal in (SPANS, RECORDS, LINES) for side in sides.SIDES[1:]}


def test_ratio_is_ours_by_the_other_and_latency_is_what_is_added(report: Report) -> None:
    of = {(one.signal, one.side): one for one in report.measured}
    found = next(
        one for one in ratios(report, sides.AS_RENDERED) if (one.signal, one.beside) == (LINES, sides.DEFAULTS)
    )
    ours, other = of[LINES, sides.AS_RENDERED], of[LINES, sides.DEFAULTS]
    assert found.per_second == (2000 / ours.throughput.seconds) / (2000 / other.throughput.seconds)
    assert found.peak == ours.throughput.peak / other.throughput.peak
    assert found.added_median == ours.latency.median - other.latency.median


def lossy(collector: str, side: str, document: sides.Json) -> None:
    """Errors are not kept, one record is dropped by a processor, and one file is not read."""
    del side
    if collector == sides.AGENT:
        document["receivers"]["file_log"]["exclude"].append("**/team-a_gateway-3_*/**")
        return
    sampling = document["processors"]["tail_sampling"]
    sampling["policies"] = [one for one in sampling["policies"] if one["name"] != "errors"]
    # Phase 2 of a run are the log records of the first side.
    one = identity.trace_id(2, 7).hex()
    document["processors"]["filter/loss"] = {"logs": {"log_record": [f"trace_id == TraceID(0x{one})"]}}
    document["service"]["pipelines"]["logs"]["processors"].append("filter/loss")


def test_a_loss_fails_the_bench_and_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = [(sides.GATEWAY, sides.AS_RENDERED), (sides.AGENT, sides.SAME_QUEUE)]
    found = run(IMPATIENT, Path(require(TOOL)), silent()[0], lossy, wrong)
    words = problems(found)
    gateway = f"{sides.GATEWAY}, {sides.AS_RENDERED}"
    assert f"{gateway}: log records: 1 of 500 log records never arrived at the sink, the first are 7" in words
    errors = [line for line in words if line.startswith(f"{gateway}: spans: 1 of 1 traces with an error are not")]
    kept_by_chance = [one.throughput.kept for one in found.measured if one.signal == SPANS]
    assert errors or kept_by_chance[0] > 20
    # Both traces at the fixed rate have errors; that the share of 1 per cent takes both is one of 10 000 runs.
    assert any("2 of 2 traces with an error" in line or "1 of 2 traces with an error" in line for line in words)
    agent = f"{sides.AGENT}, {sides.SAME_QUEUE}: lines"
    assert f"{agent}: the collector counts 700 lines as accepted, 800 were sent" in words
    assert f"{agent}: 100 of 800 lines never arrived at the sink, the first are 3, 11, 19" in words
    assert command.judged(found) == 1
    assert f"error: {agent}: 100 of 800 lines" in capsys.readouterr().err


def test_counts_of_traces_are_held_against_each_other() -> None:
    kinds = [content.ERROR, content.SLOW, content.OK, content.OK]
    whole, none = b"\1" * 20, bytes(20)
    assert [*balance.sampled(whole + whole + none + b"\3" * 20, kinds, 3)] == []
    assert [*balance.sampled(none + whole, kinds, 1)] == ["1 of 1 traces with an error are not at the sink as a whole"]
    partly = b"\1" * 19 + b"\0"
    assert [*balance.sampled(whole + partly, kinds, 2)] == [
        "1 of 1 traces that were slow are not at the sink as a whole",
        "1 traces are at the sink in part, the first are 1",
    ]
    assert [*balance.sampled(whole + whole, kinds, 3)] == [
        "2 traces are at the sink, but the collector says that it kept 3"
    ]


def test_counts_of_items_are_held_against_what_was_sent() -> None:
    assert [*balance.lost(b"\1\2\1", 3, "lines")] == []
    assert [*balance.lost(b"\1\0\1", 4, "lines")] == ["2 of 4 lines never arrived at the sink, the first are 1, 3"]
    assert [*balance.accepted(4, 4, "spans")] == [*balance.decided(4, 4)] == [*balance.counted(4, 4)] == []
    assert [*balance.accepted(5, 4, "spans")] == ["the collector counts 5 spans as accepted, 4 were sent"]
    assert [*balance.decided(3, 4)] == ["the collector decided about 3 traces, 4 were sent"]
    assert [*balance.counted(3, 4)] == ["span metrics count 3 spans, 4 were sent"]


def test_traces_have_the_shape_of_the_inference_service() -> None:
    spans = []
    for body in content.traces(3, [200], [content.ERROR]):
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            role = next(one.value.string_value for one in resource.resource.attributes if one.key == "service.name")
            spans += [(role.removeprefix("inference-"), span) for span in resource.scope_spans[0].spans]
    spans.sort(key=lambda pair: pair[1].span_id)
    ids = [span.span_id for _, span in spans]
    kinds = {1: "internal", 2: "server", 3: "client"}
    found = [
        (role, one.name, kinds[one.kind], ids.index(one.parent_span_id) if one.parent_span_id else None)
        for role, one in spans
    ]
    assert found == TREE
    assert len(TREE) == len(set(ids)) == plan.SPANS_OF_A_TRACE
    assert {identity.of(span.trace_id) for _, span in spans} == {(3, 200)}
    assert any(span.status.code == 2 for _, span in spans)


def test_one_trace_of_a_hundred_has_an_error_and_one_is_slow() -> None:
    assert Counter(map(content.kind_of, range(1000))) == {content.OK: 980, content.ERROR: 10, content.SLOW: 10}


def test_sink_knows_what_came_twice_and_what_is_not_the_benchs() -> None:
    sink = Sink()
    for body in (content.records(9, [0, 1, 2]), content.records(9, [2, 5])):
        sink.take("logs", body)
    found = json.loads(sink.told("phase", 9))
    assert (found["distinct"], found["again"]) == (4, 1)
    assert [*sink.told("counts", 9)[:6]] == [1, 1, 2, 0, 0, 1]
    assert sorted(json.loads(sink.told("times", 9))) == ["0", "1", "2", "5"]
    assert json.loads(sink.told("phase", 8))["distinct"] == 0
    assert identity.of(bytes(16)) is None


def test_lines_are_known_by_their_text() -> None:
    line = content.line(4, 77)
    found = identity.TEXT.search(line.encode())
    assert found is not None
    assert identity.of(bytes.fromhex(found[1].decode())) == (4, 77)


def test_sides_differ_by_processors_and_queue_alone(tmp_path: Path) -> None:
    of: dict[tuple[str, str], sides.Json] = {}
    place = sides.Place(directory=tmp_path, ports=sides.Ports(), sink_http=1, sink_grpc=2)

    def look(collector: str, side: str, document: sides.Json) -> None:
        of[collector, side] = document

    for collector in (sides.GATEWAY, sides.AGENT):
        for side in sides.SIDES:
            sides.files(collector, side, SMALL, place, look)
        rendered, same, defaults = (of[collector, side] for side in sides.SIDES)
        assert rendered["processors"]
        assert "processors" not in same
        assert "processors" not in defaults
        for name, exporter in same["exporters"].items():
            assert exporter == rendered["exporters"][name]
            assert exporter["sending_queue"]["storage"] == "file_storage/queue"
            assert rendered["extensions"]["file_storage/queue"]["fsync"] is True
            assert set(defaults["exporters"][name]) <= {"endpoint", "logs_endpoint", "headers", "tls"}
        assert same["extensions"].keys() == rendered["extensions"].keys()
        assert [*defaults["extensions"]] == ["health_check"]


def test_refused_requests_are_sent_again_and_others_end_the_bench() -> None:
    answers = [503, 429, 200, 400]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(answers.pop(0))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: ANN401  # the library's signature
            """Nothing."""

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as address:
        where = address.removeprefix("http://")
        one = plan.Plan(senders=1)
        sent = sender.send_all(where, "/v1/logs", [[b"x"]], one)
        assert (sent.groups, sent.refused) == (1, 2)
        with pytest.raises(BenchError, match="/v1/logs was answered with 400"):
            sender.send_all(where, "/v1/logs", [[b"x"]], one)


def test_nothing_that_arrived_has_no_latency() -> None:
    assert math.isnan(latency([]).median)
    found = latency([0.5, 0.1, 0.3])
    assert (found.count, found.median, found.p99, found.most) == (3, 0.3, 0.5, 0.5)


def test_sizes_come_from_the_environment(tmp_path: Path) -> None:
    assert plan.plan({}) == plan.Plan()
    asked = {"BENCH_SPANS": "4000", "BENCH_RECORDS": "300", "BENCH_LINES": "20"}
    assert plan.plan(asked) == plan.Plan(spans=4000, records=300, lines=20)
    for wrong in ("-1", "19", "x", "10000001"):
        with pytest.raises(BenchError, match=f"BENCH_LINES is '{wrong}'; accepted is a number from 20 to 10000000"):
            plan.plan({"BENCH_LINES": wrong})
    with pytest.raises(BenchError, match=r"GB free, the bench needs .* GB; free some, or set TMPDIR"):
        plan.check_room(plan.Plan(spans=10**12), tmp_path)


def test_collector_that_does_not_start_is_told_with_its_words() -> None:
    def broken(collector: str, side: str, document: sides.Json) -> None:
        del collector, side
        document["exporters"]["nobody"] = {}

    with pytest.raises(BenchError, match="nobody"):
        run(IMPATIENT, Path(require(TOOL)), silent()[0], broken, [(sides.GATEWAY, sides.DEFAULTS)])


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_bench_ends_its_programs_and_removes_its_files(tmp_path: Path, sent: signal.Signals) -> None:
    with tempfile.TemporaryDirectory(prefix="plumbline-room-") as room:
        sizes = {"BENCH_SPANS": "2000", "BENCH_RECORDS": "500", "BENCH_LINES": "2000"}
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": room, **sizes}
        argv = [sys.executable, "-m", "tests.bench.telemetry", "--collector", require(TOOL)]
        argv += ["--out", str(tmp_path / "out.json")]
        with subprocess.Popen(argv, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            for line in process.stderr:
                if line.endswith(" spans\n"):
                    break
            started = family(process.pid)[1:]
            process.send_signal(sent)
            printed = process.stderr.read()
            assert process.wait(PATIENCE) == 130, printed
        assert len(started) == 2
        assert all(wait_until_ended(child) for child in started)
        assert "what the bench had started is ended" in printed
        assert "Traceback" not in printed
        assert list(Path(room).iterdir()) == []
