"""`make drill`: the order of its steps, and nothing left behind however it ends."""

from __future__ import annotations

import pytest

from cli import drill
from cli.words import _parse, _run
from sandbox.errors import SandboxError
from sandbox.process import ProgramError
from tests.offline.cli.drill_facts import API_KEY, BEFORE, DESTROYING, NEW, PLAIN, POINT, RESTORE, UP
from tests.offline.cli.drill_world import World, broken, report, run


def test_steps_come_in_order_and_nothing_stays(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    before = dict(world.objects)
    assert run(world) == 0
    assert world.events == PLAIN
    assert world.remains() == []
    assert world.objects == before
    found = report(world)
    assert (found["verdict"], found["point"], found["destroyed"]) == ("green", POINT, False)
    assert (found["rpo_seconds"], found["rpo_aim_seconds"], found["rto_aim_seconds"]) == (42.5, 28800, 1800)
    assert set(found["seconds"]) == {"write", "create", "verify", "deploy", "restore", "promote", "judge"}
    shown = capsys.readouterr().out
    assert "RPO            42.5 s, aim 28800 s: met" in shown
    assert "green (a stack of its own, the source untouched)" in shown


def test_source_is_destroyed_and_comes_back_with_its_key(world: World) -> None:
    assert run(world, destroy=True) == 0
    assert world.events == DESTROYING
    assert world.restored_key == API_KEY
    assert world.remains() == []
    assert not [name for _, _, name in world.objects if "kept" in name]
    assert (report(world)["verdict"], report(world)["destroyed"]) == ("green", True)


@pytest.mark.parametrize("event", [*BEFORE[:5], *UP, *RESTORE])
@pytest.mark.parametrize("kind", ["ours", "of a program"])
def test_failure_leaves_nothing_behind_and_a_report_that_is_not_green(world: World, event: str, kind: str) -> None:
    source = {place: one["metadata"]["uid"] for place, one in world.objects.items()}
    world.stop[event] = broken() if kind == "ours" else ProgramError(["kubectl get x:"], "exited with 1", "no")
    with pytest.raises((SandboxError, ProgramError)):
        run(world)
    assert world.remains() == []
    assert {place: one["metadata"]["uid"] for place, one in world.objects.items()} == source
    assert "end of writer" in world.events or event == "write"
    assert world.events[-1] == "smoke"
    assert report(world)["verdict"] == "failed"
    assert report(world)["reasons"]


@pytest.mark.parametrize("event", [*BEFORE[:5], *UP, *RESTORE])
def test_interrupt_leaves_nothing_behind_and_nobody_waits_for_checks(world: World, event: str) -> None:
    world.stop[event] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run(world)
    assert world.remains() == []
    assert "smoke" not in world.events


def test_stack_that_cannot_be_destroyed_at_once_is_destroyed_without_its_namespaces(world: World) -> None:
    world.codes["destroy drill"] = 1
    assert run(world) == 0
    assert "destroy drill --refresh" in world.events
    assert world.remains() == []


def test_stack_that_stays_is_an_error_and_not_green(world: World) -> None:
    world.codes |= {"destroy drill": 1, "destroy drill --refresh": 255}
    with pytest.raises(SandboxError, match="pulumi destroy of the drill's stack failed with 255, twice"):
        run(world)
    assert report(world)["verdict"] == "failed"
    world.codes.clear()
    assert run(world) == 0, "the next drill begins with it"
    assert world.remains() == []


def test_namespace_of_somebody_else_is_neither_taken_nor_deleted(world: World) -> None:
    place = ("namespace", None, f"{NEW}-swanlab")
    world.put(place, {})
    with pytest.raises(SandboxError, match=f"namespace {NEW}-swanlab is there, and no drill made it"):
        run(world)
    assert place in world.objects


@pytest.mark.parametrize(
    ("word", "code"),
    [("create plumbline-swanlab", 3), ("verify plumbline-recovery", 1), ("restore plumbline-drill-swanlab", 1)],
)
def test_word_that_is_not_good_ends_the_drill(world: World, word: str, code: int) -> None:
    world.codes[word] = code
    with pytest.raises(SandboxError, match=rf"recovery {word.partition(' ')[0]} .* in .* ended with {code}"):
        run(world)
    assert world.remains() == []


@pytest.mark.parametrize("event", BEFORE[:4])
def test_nothing_is_destroyed_without_a_verified_point(world: World, event: str) -> None:
    world.stop[event] = broken()
    with pytest.raises(SandboxError):
        run(world, destroy=True)
    assert not [one for one in world.events if one.startswith("delete")]


def test_engine_that_fails_is_an_error(world: World) -> None:
    world.codes["up drill"] = 255
    with pytest.raises(SandboxError, match="pulumi up of the drill's stack failed with 255"):
        run(world)
    assert world.remains() == []


@pytest.mark.parametrize(("line", "destroy"), [(["drill"], False), (["drill", "--destroy", "yes"], True)])
def test_word_of_the_makefile_arrives(monkeypatch: pytest.MonkeyPatch, line: list[str], *, destroy: bool) -> None:
    seen: list[tuple[str, bool]] = []

    def noted(_: object, stack: str, __: object, *, destroy: bool) -> int:
        seen.append((stack, destroy))
        return 7

    monkeypatch.setattr(drill, "drill", noted)
    assert _run(_parse(line)) == 7
    assert seen == [("local", destroy)]


def test_wrong_answer_to_destroy_is_a_usage_error() -> None:
    with pytest.raises(SystemExit):
        _parse(["drill", "--destroy", "Yes"])


def test_evidence_is_gathered_before_the_stack_is_taken_down(world: World) -> None:
    world.stop["restore"] = broken()
    with pytest.raises(SandboxError):
        run(world)
    text = (world.out / "drill-evidence.txt").read_text()
    assert f"{NEW}-swanlab" in world.looked
    assert [
        name for name in (f"{NEW}-swanlab", "plumbline-swanlab") if f"kubectl -n {name} get events" not in text
    ] == []
