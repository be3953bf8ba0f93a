"""What a run says of its steps, on a clock that is turned by hand."""

from __future__ import annotations

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from sandbox.images.materials import SDK, WHEEL_SETS
from sandbox.images.wheels import ENTRY, LOCK
from sandbox.workloads.training import IDENTITY, PARTS, SYNC
from sandbox.workloads.training.script import Script, ScriptError
from sandbox.workloads.training.settings import Settings, SettingsError, parse
from sandbox.workloads.training.steps import NOISE
from sandbox.workloads.training.traces import Traces
from signals.catalogue.labels import WORKLOAD_IDENTITY
from tests.offline.sandbox.training.played import Turned, play

BEGIN = 1_800_000_000.0
TWO = Settings(identity={"run_id": "run-7", "team": "vision"}, steps=6, step_seconds=2.0, ranks=2)
SLOW = {3: {1: 4.0}}
PARTS_ON_GPU = 2.0 * (0.3 + 0.5 + 0.06)


def test_each_rank_writes_a_line_per_step_with_its_parts() -> None:
    found = play(TWO, Turned(BEGIN), {})
    assert found.done == 6
    assert [(one["rank"], one["step"]) for one in found.lines] == [(rank, step) for step in range(6) for rank in (0, 1)]
    for line in found.lines:
        parts = [line[f"{name}_time"] for name in (*PARTS, SYNC)]
        assert line["step_time"] == pytest.approx(sum(parts), abs=1e-4)
        # Shares of 2 s, and noise of 3 % at most on 94 % of it.
        assert 2.0 * 0.97 <= line["step_time"] <= 2.0 * 1.03
        assert (line["message"], line["level"], line["run_id"], line["team"]) == (
            "step done",
            "INFO",
            "run-7",
            "vision",
        )


def test_lines_are_stamped_when_the_step_has_ended() -> None:
    clock = Turned(BEGIN)
    lines = play(TWO, clock, {}).lines
    assert lines[0]["time"].startswith("2027-01-15T08:00:0")
    ended = [sum(one["step_time"] for one in lines[: 2 * n : 2]) for n in range(1, 7)]
    assert clock.at == pytest.approx(BEGIN + ended[-1], abs=1e-3)
    assert [float(one["time"][17:-1]) for one in lines[::2]] == pytest.approx(ended, abs=0.002)


def test_slow_gpu_of_one_rank_makes_the_others_wait_in_that_step_alone() -> None:
    found = play(TWO, Turned(BEGIN), SLOW)
    steps = {(one["step"], one["rank"]): one for one in found.lines}
    slow, waiting = steps[3, 1], steps[3, 0]
    assert slow["step_time"] == waiting["step_time"]
    # The parts on the GPU take four times as long: three times their time more.
    assert slow["step_time"] == pytest.approx(2.0 + 3 * PARTS_ON_GPU, rel=NOISE * 2)
    assert waiting["sync_time"] == pytest.approx(3 * PARTS_ON_GPU + 0.12, rel=0.1)
    assert slow["sync_time"] == pytest.approx(0.12, abs=0.001)
    assert steps[4, 1]["step_time"] == pytest.approx(2.0, rel=NOISE)


def test_experiment_gets_one_call_per_step_with_every_rank() -> None:
    kept = play(TWO, Turned(BEGIN), {}).experiment.steps
    assert [[(one.number, one.rank) for one in ranks] for ranks in kept] == [[(n, 0), (n, 1)] for n in range(6)]
    assert kept[5][0].loss < kept[0][0].loss


def test_trace_per_step_and_rank_has_its_parts_one_after_the_other() -> None:
    exporter = InMemorySpanExporter()
    traces = Traces(TWO.identity, exporter)
    found = play(TWO, Turned(BEGIN), SLOW, traces)
    traces.close()
    spans = exporter.get_finished_spans()
    assert len({line["trace_id"] for line in found.lines}) == 12
    (line,) = (one for one in found.lines if (one["step"], one["rank"]) == (3, 1))
    mine = [span for span in spans if f"{span.context.trace_id:032x}" == line["trace_id"]]
    (root,) = (span for span in mine if span.parent is None)
    assert (root.name, f"{root.context.span_id:016x}") == ("step", line["span_id"])
    assert root.attributes is not None
    assert {key: root.attributes[key] for key in ("run_id", "rank", "step")} == {
        "run_id": "run-7",
        "rank": 1,
        "step": 3,
    }
    children = sorted((span for span in mine if span.parent), key=lambda span: span.start_time or 0)
    assert [span.name for span in children] == [*PARTS, SYNC]
    assert [span.start_time for span in children[1:]] == pytest.approx([span.end_time for span in children[:-1]])
    assert ((root.end_time or 0) - (root.start_time or 0)) / 1e9 == pytest.approx(line["step_time"], abs=1e-4)


def test_run_that_is_told_to_end_does_not_claim_the_step_it_was_in() -> None:
    found = play(TWO, Turned(BEGIN, stop_after=BEGIN + 5.0), {})
    assert found.done == 2
    assert [one["message"] for one in found.lines] == ["step done"] * 4 + ["told to end"]
    assert len(found.experiment.steps) == 2


def test_held_run_goes_on_with_what_was_asked_for() -> None:
    script = Script(range(2))
    script.hold(0)
    with pytest.raises(ScriptError, match="no step is held"):
        script.release({})
    assert script.status() == {"next": 0, "held": False, "ranks": [0, 1]}
    asked = []

    def stopped() -> bool:
        """Called while the step is held: the place of a test's hand."""
        if script.status()["held"]:
            asked.append(script.status())
            script.release({"1": 3}, hold=1)
        return False

    assert script.begin(0, stopped) == {1: 3.0}
    assert asked[0]["held"]
    assert script.begin(1, lambda: True) == {}


@pytest.mark.parametrize(
    ("slowed", "hold", "words"),
    [({"2": 3}, None, "rank '2'"), ({"1": 0.5}, None, "factor"), ({"1": True}, None, "rank"), ({}, 0, "hold 0")],
)
def test_what_cannot_be_played_is_refused(slowed: dict[str, float], hold: int | None, words: str) -> None:
    script = Script(range(2))
    script.hold(0)
    seen: list[str] = []

    def stopped() -> bool:
        if script.status()["held"]:
            with pytest.raises(ScriptError, match=words) as caught:
                script.release(slowed, hold)
            seen.append(str(caught.value))
        return bool(seen)

    script.begin(0, stopped)
    assert seen
    with pytest.raises(ScriptError, match="from 1 on"):
        script.hold(0)


def test_identity_is_that_of_the_catalogue() -> None:
    assert IDENTITY == WORKLOAD_IDENTITY


def test_settings_come_from_the_environment() -> None:
    found = parse(
        {
            "TRAINING_RUN_ID": "run-7",
            "TRAINING_TEAM": "vision",
            "TRAINING_STEPS": "50",
            "TRAINING_STEP_SECONDS": "0.5",
            "TRAINING_RANKS": "2",
            "TRAINING_CONTROL": "none",
            "SWANLAB_API_HOST": "http://swanlab",
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://otel:4318",
        }
    )
    assert (found.run_id, found.identity["team"], found.steps, found.step_seconds, found.ranks) == (
        "run-7",
        "vision",
        50,
        0.5,
        2,
    )
    assert (found.control, found.host, found.otlp) == (None, "http://swanlab", True)


@pytest.mark.parametrize(
    "wrong",
    [
        {"TRAINING_RUN_ID": ""},
        {"TRAINING_RUN_ID": "a b"},
        {"TRAINING_STEPS": "0"},
        {"TRAINING_RANKS": "65"},
        {"TRAINING_STEP_SECONDS": "-1"},
        {"TRAINING_STEP_SECONDS": "soon"},
        {"TRAINING_CONTROL": "9402"},
    ],
    ids=str,
)
def test_wrong_variable_is_named(wrong: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        parse({"TRAINING_RUN_ID": "run-7", **wrong})


def test_lock_of_the_image_agrees_with_the_others() -> None:
    (wanted,) = (item for item in WHEEL_SETS if item.name == "training")
    mine, ours = (
        {found[1]: found[2] for found in ENTRY.finditer(lock.read_text() + "\n")} for lock in (wanted.lock, LOCK)
    )
    assert mine["swanlab"] == SDK
    same = {name for name in mine if name.startswith("opentelemetry")} | {"protobuf", "googleapis-common-protos"}
    assert {name: mine[name] for name in same} == {name: ours[name] for name in same}
