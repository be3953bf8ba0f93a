"""A drill that was killed goes on where it stopped: nothing is destroyed twice, and no point is taken of ruins."""

from __future__ import annotations

import json

import pytest

from cli.drill_state import Book
from sandbox.errors import SandboxError
from tests.offline.cli.drill_facts import AFTER_DISASTER, API_KEY, BEFORE, DISASTER, DOWN, POINT, RESTORE, UP, judgement
from tests.offline.cli.drill_world import World, broken, kill, report, run


@pytest.mark.parametrize("event", [*UP, *RESTORE, *DOWN, "clean", "smoke"])
def test_killed_drill_goes_on_with_the_same_point(world: World, monkeypatch: pytest.MonkeyPatch, event: str) -> None:
    kill(world, monkeypatch, event, destroy=False)
    begun = len(world.events)
    assert run(world) == 0
    again = world.events[begun:]
    assert not {"create plumbline-swanlab", "write"} & set(again)
    assert ("judge" in again) is (event in [*UP, *RESTORE])
    assert world.remains() == []
    assert report(world)["verdict"] == "green"


@pytest.mark.parametrize("event", BEFORE)
def test_drill_that_was_killed_before_the_disaster_starts_anew(
    world: World, monkeypatch: pytest.MonkeyPatch, event: str
) -> None:
    """Its writer died, so that a disaster now would lose nothing."""
    if event == "end of writer":
        event = "live"
    kill(world, monkeypatch, event, destroy=False)
    begun = len(world.events)
    assert run(world) == 0
    assert [one for one in world.events[begun:] if one in BEFORE] == BEFORE


@pytest.mark.parametrize("event", AFTER_DISASTER)
@pytest.mark.parametrize("way", ["killed", "failed", "interrupted"])
def test_destroyed_source_comes_back_with_the_point_of_before(
    world: World, monkeypatch: pytest.MonkeyPatch, event: str, way: str
) -> None:
    if way == "killed":
        kill(world, monkeypatch, event, destroy=True)
    else:
        world.stop[event] = broken() if way == "failed" else KeyboardInterrupt()
        with pytest.raises((SandboxError, KeyboardInterrupt)):
            run(world, destroy=True)
    begun = len(world.events)
    assert run(world, destroy=True) == 0
    again = world.events[begun:]
    assert not {"create plumbline-swanlab", "verify plumbline-recovery", "write"} & set(again)
    done = [one for one in world.events[: begun - 1] if one in DISASTER]
    assert not set(done) & set(again), "something was destroyed twice"
    assert world.restored_key == API_KEY
    assert report(world)["verdict"] == "green"
    assert not [name for _, _, name in world.objects if "kept" in name]


def test_source_that_somebody_brought_up_meanwhile_is_not_destroyed_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill(world, monkeypatch, "apply Namespace Secret", destroy=True)
    book = Book(world.state / "drill")
    state = book.read()
    assert state is not None
    book.write(state.__class__(**{**state.__dict__, "phase": "disaster"}))
    world.put(("namespace", None, "plumbline-swanlab"), {})
    begun = len(world.events)
    assert run(world, destroy=True) == 0
    assert not [one for one in world.events[begun:] if one.startswith("delete")]


def test_drill_beside_is_refused_while_the_source_is_destroyed(world: World) -> None:
    world.stop["restore"] = broken()
    with pytest.raises(SandboxError):
        run(world, destroy=True)
    with pytest.raises(SandboxError, match=rf"was destroyed by a drill.*\n.*DESTROY=yes.*{POINT}"):
        run(world)


def test_failed_destruction_is_told_as_such_and_the_clock_runs_on(world: World) -> None:
    world.stop["restore"] = broken()
    with pytest.raises(SandboxError):
        run(world, destroy=True)
    state = Book(world.state / "drill").read()
    assert state is not None
    assert (state.phase, state.recovering, state.spent) == ("deployed", state.disaster, 0.0)
    assert "smoke" not in world.events
    assert report(world)["verdict"] == "failed"


def test_point_that_failed_twice_is_given_up(world: World) -> None:
    for _ in range(2):
        world.stop["restore"] = broken()
        with pytest.raises(SandboxError):
            run(world)
    begun = len(world.events)
    assert run(world) == 0
    assert "create plumbline-swanlab" in world.events[begun:]


def test_remains_of_another_drill_go_first(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    kill(world, monkeypatch, "judge", destroy=False)
    (world.state / "drill" / "drill.json").unlink()
    assert world.remains()
    begun = len(world.events)
    assert run(world) == 0
    assert world.events[begun : begun + len(DOWN)] == DOWN


def test_no_point_is_taken_by_the_schedule_before_the_data_is_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill(world, monkeypatch, "let go", destroy=True)
    assert run(world, destroy=True) == 0
    held = [one for one in world.events if one in ("hold recovery-create", "let go recovery-create", "up local")]
    assert held == ["up local", "hold recovery-create", "let go recovery-create", *["let go recovery-create"] * 2]


def test_new_drill_has_the_contract_of_now(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of a drill that was given up may be of another deployment."""
    for _ in range(2):
        world.stop["restore"] = broken()
        with pytest.raises(SandboxError):
            run(world)
    world.source["recovery"]["rto_seconds"] = 77
    kill(world, monkeypatch, "judge", destroy=False)
    assert json.loads((world.state / "drill" / "source.json").read_text())["recovery"]["rto_seconds"] == 77


def test_source_that_was_judged_may_be_drilled_otherwise(world: World) -> None:
    world.stop["confirm"] = broken()
    with pytest.raises(SandboxError):
        run(world, destroy=True)
    assert report(world)["verdict"] == "failed"
    assert run(world) == 0
    assert not [name for _, _, name in world.objects if "kept" in name]


def test_time_of_every_attempt_counts_and_none_between_them(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts of 100 s and of 30 s, an hour apart."""
    clock = [1_000_000.0]
    monkeypatch.setattr("cli.drill_run.time.time", lambda: clock[0])
    world.waits = {"restore": lambda: _later(clock, 100.0)}
    world.stop["promote"] = broken()
    with pytest.raises(SandboxError):
        run(world)
    clock[0] += 3600.0
    world.waits = {"restore": lambda: _later(clock, 30.0)}
    assert run(world) == 0
    assert (report(world)["rto_seconds"], report(world)["attempts"]) == (130.0, 2)


def test_clock_of_a_destroyed_source_runs_on_between_attempts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1_000_000.0]
    monkeypatch.setattr("cli.drill_run.time.time", lambda: clock[0])
    world.stop["promote"] = broken()
    with pytest.raises(SandboxError):
        run(world, destroy=True)
    clock[0] += 3600.0
    assert run(world, destroy=True) == 1
    assert report(world)["rto_seconds"] == 3600.0


def _later(clock: list[float], seconds: float) -> None:
    clock[0] += seconds


def test_verdict_of_an_earlier_comparison_is_not_taken_for_one(world: World) -> None:
    world.stop["rollout"] = broken()
    with pytest.raises(SandboxError):
        run(world)
    (world.state / "drill" / "judged.json").write_text(json.dumps(judgement()))
    world.silent_judge = True
    with pytest.raises(SandboxError, match="judge ended with 0: what was restored could not be compared"):
        run(world)
