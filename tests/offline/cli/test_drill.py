"""`make drill`: the order of its steps, nothing left behind however it ends, and no green without proof."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from cli import deploy, drill
from cli.drill_state import Book
from sandbox.errors import SandboxError
from sandbox.process import ProgramError
from tests.offline.cli.drill_world import API_KEY, CANARIES, CONFIG, NEW, POINT, Killed, World, broken, install
from tests.offline.sandbox.fakes import silent

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.home import Home

BEFORE = ["write", "lead", "create plumbline-recovery", "verify plumbline-recovery", "live", "end of writer"]
UP = ["apply Namespace", "apply Secret", "apply NetworkPolicy", "up drill"]
RESTORE = [
    "restore plumbline-drill-recovery",
    "promote plumbline-drill-recovery",
    "rollout plumbline-drill-swanlab",
    "judge",
]
DOWN = [
    "destroy drill",
    *(f"delete namespace {NEW}{part}" for part in ("", "-swanlab", "-recovery")),
    "delete networkpolicy plumbline-drill",
    "stack rm drill",
]
PLAIN = [*BEFORE, *UP, *RESTORE, *DOWN, "clean", "smoke"]
DISASTER = [
    "delete statefulset object-store",
    "delete persistentvolumeclaim object-store",
    "delete namespace plumbline-swanlab",
]
BACK = ["apply Namespace Secret", "up local"]
REBORN = [
    "restore plumbline-recovery",
    "promote plumbline-recovery",
    "rollout plumbline-swanlab",
    "apply Namespace Secret",
    "judge",
]
KEEP = ["apply Secret"]
DESTROYING = [
    *BEFORE[:4],
    *KEEP,
    *BEFORE[4:],
    *DISASTER,
    *BACK,
    *REBORN,
    "confirm plumbline-recovery",
    "clean",
    "smoke",
]
AFTER_DISASTER = [*DISASTER, *BACK, *REBORN[:3], "judge"]


@pytest.fixture
def world(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A healthy stack."""
    made = World(home)
    install(monkeypatch, made, tmp_path / "checkout")
    return made


def run(world: World, *, destroy: bool = False) -> int:
    """`make drill`."""
    return drill.drill(world.home, "local", silent()[0], destroy=destroy)


def report(tmp_path: Path) -> dict[str, Any]:
    """The report that machines read."""
    found: dict[str, Any] = json.loads((tmp_path / "checkout" / ".out" / "local" / "drill.json").read_text())
    return found


def kill(world: World, monkeypatch: pytest.MonkeyPatch, event: str, *, destroy: bool) -> None:
    """A drill that ends like under SIGKILL when `event` comes."""
    with monkeypatch.context() as patch:
        patch.setattr(drill.Drill, "_leave", lambda *_, **__: None)
        patch.setattr("tests.offline.cli.drill_world.FakeWriter.end", lambda _: None)
        world.stop[event] = Killed()
        with pytest.raises(Killed):
            run(world, destroy=destroy)


def test_steps_come_in_order_and_nothing_stays(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = dict(world.objects)
    assert run(world) == 0
    assert world.events == PLAIN
    assert world.remains() == []
    assert world.objects == before
    found = report(tmp_path)
    assert (found["verdict"], found["point"], found["destroyed"]) == ("green", POINT, False)
    assert (found["rpo_seconds"], found["rpo_aim_seconds"], found["rto_aim_seconds"]) == (42.5, 28800, 1800)
    assert set(found["seconds"]) == {"write", "create", "verify", "deploy", "restore", "promote", "judge"}
    shown = capsys.readouterr().out
    assert "RPO            42.5 s, aim 28800 s: met" in shown
    assert "green (a stack of its own, the source untouched)" in shown


def test_source_is_destroyed_and_comes_back_with_its_key(world: World, tmp_path: Path) -> None:
    assert run(world, destroy=True) == 0
    assert world.events == DESTROYING
    assert world.restored_key == API_KEY
    assert world.remains() == []
    assert not [name for _, _, name in world.objects if "kept" in name]
    assert (report(tmp_path)["verdict"], report(tmp_path)["destroyed"]) == ("green", True)


@pytest.mark.parametrize("event", [*BEFORE[:5], *UP, *RESTORE])
@pytest.mark.parametrize("kind", ["ours", "of a program"])
def test_failure_leaves_nothing_behind_and_a_report_that_is_not_green(
    world: World, tmp_path: Path, event: str, kind: str
) -> None:
    source = {place: one["metadata"]["uid"] for place, one in world.objects.items()}
    world.stop[event] = broken() if kind == "ours" else ProgramError(["kubectl get x:"], "exited with 1", "no")
    with pytest.raises((SandboxError, ProgramError)):
        run(world)
    assert world.remains() == []
    assert {place: one["metadata"]["uid"] for place, one in world.objects.items()} == source
    assert "end of writer" in world.events or event == "write"
    assert world.events[-1] == "smoke"
    assert report(tmp_path)["verdict"] == "failed"
    assert report(tmp_path)["reasons"]


@pytest.mark.parametrize("event", [*BEFORE[:5], *UP, *RESTORE])
def test_interrupt_leaves_nothing_behind_and_nobody_waits_for_checks(world: World, event: str) -> None:
    world.stop[event] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run(world)
    assert world.remains() == []
    assert "smoke" not in world.events


@pytest.mark.parametrize("event", [*UP, *RESTORE, *DOWN, "clean", "smoke"])
def test_killed_drill_goes_on_with_the_same_point(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, event: str
) -> None:
    kill(world, monkeypatch, event, destroy=False)
    begun = len(world.events)
    assert run(world) == 0
    again = world.events[begun:]
    assert not {"create plumbline-recovery", "write"} & set(again)
    assert ("judge" in again) is (event in [*UP, *RESTORE])
    assert world.remains() == []
    assert report(tmp_path)["verdict"] == "green"


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
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, event: str, way: str
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
    assert not {"create plumbline-recovery", "verify plumbline-recovery", "write"} & set(again)
    done = [one for one in world.events[: begun - 1] if one in DISASTER]
    assert not set(done) & set(again), "something was destroyed twice"
    assert world.restored_key == API_KEY
    assert report(tmp_path)["verdict"] == "green"
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


def test_failed_destruction_is_told_as_such_and_the_clock_runs_on(world: World, tmp_path: Path) -> None:
    world.stop["restore"] = broken()
    with pytest.raises(SandboxError):
        run(world, destroy=True)
    state = Book(world.state / "drill").read()
    assert state is not None
    assert (state.phase, state.recovering, state.spent) == ("deployed", state.disaster, 0.0)
    assert "smoke" not in world.events
    assert report(tmp_path)["verdict"] == "failed"


def test_point_that_failed_twice_is_given_up(world: World) -> None:
    for _ in range(2):
        world.stop["restore"] = broken()
        with pytest.raises(SandboxError):
            run(world)
    begun = len(world.events)
    assert run(world) == 0
    assert "create plumbline-recovery" in world.events[begun:]


def test_remains_of_another_drill_go_first(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    kill(world, monkeypatch, "judge", destroy=False)
    (world.state / "drill" / "drill.json").unlink()
    assert world.remains()
    begun = len(world.events)
    assert run(world) == 0
    assert world.events[begun : begun + len(DOWN)] == DOWN


def test_stack_that_cannot_be_destroyed_at_once_is_destroyed_without_its_namespaces(world: World) -> None:
    world.codes["destroy drill"] = 1
    assert run(world) == 0
    assert "destroy drill --refresh" in world.events
    assert world.remains() == []


def test_stack_that_stays_is_an_error_and_not_green(world: World, tmp_path: Path) -> None:
    world.codes |= {"destroy drill": 1, "destroy drill --refresh": 255}
    with pytest.raises(SandboxError, match="pulumi destroy of the drill's stack failed with 255, twice"):
        run(world)
    assert report(tmp_path)["verdict"] == "failed"
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
    [("create plumbline-recovery", 3), ("verify plumbline-recovery", 1), ("restore plumbline-drill-recovery", 1)],
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


# No green without proof.


@pytest.mark.parametrize("destroy", [False, True])
@pytest.mark.parametrize(
    ("figures", "aims", "reason"),
    [
        ({"rpo_seconds": 28800.5}, {}, "rpo was 28800.5 s"),
        ({}, {"rto_seconds": 0}, "rto was"),
        ({"verdict": "red", "reasons": ["3 values are lost"]}, {}, "judged red"),
        ({"values_expected_before_point": 0}, {}, "none of the values"),
        ({"media_expected_before_point": 0}, {}, "none of the media"),
    ],
)
def test_missed_aim_is_red(  # what makes it red, and how it is told
    world: World, tmp_path: Path, figures: dict[str, Any], aims: dict[str, Any], reason: str, *, destroy: bool
) -> None:
    world.judged |= figures
    world.source["recovery"] |= aims
    world.codes["judge"] = 1 if "verdict" in figures else 0
    assert run(world, destroy=destroy) == 1
    found = report(tmp_path)
    assert found["verdict"] == "red"
    assert [one for one in found["reasons"] if reason in one]
    assert world.remains() == []
    assert ("confirm plumbline-recovery" in world.events) is (destroy and "verdict" not in figures)


def test_exit_code_of_the_comparison_counts_as_well(world: World) -> None:
    world.codes["judge"] = 1
    assert run(world) == 1


def test_source_that_is_red_afterwards_is_red(world: World, tmp_path: Path) -> None:
    world.codes["smoke"] = 1
    assert run(world) == 1
    assert "make smoke of the source ended with 1" in report(tmp_path)["reasons"][0]


def test_comparison_that_could_not_be_made_is_no_verdict(world: World, tmp_path: Path) -> None:
    world.codes["judge"] = 3
    with pytest.raises(SandboxError, match="judge ended with 3"):
        run(world)
    assert report(tmp_path)["verdict"] == "failed"


def test_verdict_of_before_does_not_stay(world: World, tmp_path: Path) -> None:
    assert run(world) == 0
    world.stop["write"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run(world)
    assert report(tmp_path)["verdict"] == "failed"


# What must not be destroyed.


def _profile(world: World, profile: str) -> None:
    config = {**CONFIG["config"], "plumbline:profile": profile}
    (world.state / "Pulumi.local.yaml").write_text(yaml.safe_dump({**CONFIG, "config": config}))


def test_durable_stack_is_not_destroyed(world: World) -> None:
    _profile(world, "durable")
    with pytest.raises(SandboxError, match="stack local is durable"):
        run(world, destroy=True)
    assert world.events == []


def test_durable_stack_is_drilled_beside(world: World) -> None:
    _profile(world, "durable")
    assert run(world) == 0


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"experiments.stores.postgres.mode": "external"}, "store postgres is run by somebody else"),
        ({"experiments.stores.redis.mode": "external"}, "store redis is run by somebody else"),
        ({"experiments.stores.s3.place": "s3.example.org:443/a,b"}, "S3 is run by somebody else"),
        ({"object_store.buckets": [{"name": "private"}, {"name": "mine"}]}, "bucket mine of the object store"),
        (
            {"recovery.own": False, "recovery.target": "http://object-store.plumbline.svc:8333"},
            "the restore points themselves are in the object store",
        ),
        ({"components.swanlab.namespace": "plumbline"}, "no namespace of its own"),
    ],
)
def test_what_no_point_brings_back_is_not_destroyed(world: World, change: dict[str, Any], why: str) -> None:
    for path, value in change.items():
        *above, last = path.split(".")
        place = world.source
        for key in above:
            place = place[key]
        place[last] = value
    with pytest.raises(SandboxError, match=re.escape(why)):
        run(world, destroy=True)
    assert world.events == []


def test_source_without_its_key_is_not_destroyed(world: World) -> None:
    del world.objects["secret", "plumbline-swanlab", "swanlab-api-key"]
    with pytest.raises(SandboxError, match="with the API key is not there"):
        run(world, destroy=True)
    assert not [one for one in world.events if one.startswith("delete")]


def test_stack_without_restore_points_is_refused(world: World) -> None:
    world.source["recovery"] = None
    with pytest.raises(SandboxError, match="has no restore points to drill with"):
        run(world)


def test_state_that_cannot_be_read_is_an_error(world: World) -> None:
    (world.state / "drill").mkdir()
    for text in ("{", "[]", '{"source": "local"}', json.dumps({"phase": "x"})):
        (world.state / "drill" / "drill.json").write_text(text)
        with pytest.raises(SandboxError, match="does not say how far the last drill came"):
            run(world, destroy=True)
    assert world.events == []


# Secrets.


@pytest.mark.parametrize("destroy", [False, True])
def test_no_secret_is_in_arguments_or_files(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, destroy: bool
) -> None:
    kill(world, monkeypatch, "judge", destroy=destroy)
    texts = [*world.arguments, *(path.read_text() for path in tmp_path.rglob("*") if path.is_file())]
    assert len(texts) > 10
    assert [canary for canary in CANARIES if any(canary in text for text in texts)] == []


def test_drill_is_given_the_key_of_the_reader_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    kill(world, monkeypatch, "judge", destroy=False)
    secrets = {(w, n): one["data"] for (k, w, n), one in world.objects.items() if k == "secret" and NEW in (w or "")}
    reader = {"accessKey": "cmVhZGVy", "secretKey": CANARIES[3]}
    none = {"accessKey": "bm9uZQ==", "secretKey": "bm9uZQ=="}
    assert secrets == {
        (f"{NEW}-swanlab", "drill-reader"): reader,
        (f"{NEW}-recovery", "drill-reader"): reader,
        (f"{NEW}-swanlab", "drill-writer"): none,
        (f"{NEW}-recovery", "drill-writer"): none,
        (f"{NEW}-recovery", "drill-pruner"): none,
    }


def test_target_lets_in_the_jobs_that_restore_and_nobody_else(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    kill(world, monkeypatch, "judge", destroy=False)
    spec = world.objects["networkpolicy", "plumbline-recovery", "plumbline-drill"]["spec"]
    assert spec == {
        "podSelector": {"matchLabels": {"a": "store"}},
        "policyTypes": ["Ingress"],
        "ingress": [
            {
                "from": [
                    {
                        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": f"{NEW}-swanlab"}},
                        "podSelector": {"matchLabels": {"app.kubernetes.io/name": "recovery-restore"}},
                    }
                ],
                "ports": [{"protocol": "TCP", "port": 8333}],
            }
        ],
    }


def test_target_of_somebody_else_needs_no_door(world: World) -> None:
    world.source["recovery"]["own"] = False
    assert run(world) == 0
    assert "apply NetworkPolicy" not in world.events


def test_settings_of_the_drill_are_readable_by_the_owner_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    kill(world, monkeypatch, "judge", destroy=False)
    assert (world.state / "Pulumi.drill.yaml").stat().st_mode & 0o777 == 0o600
    assert (world.state / "drill" / "drill.json").stat().st_mode & 0o777 == 0o600


def test_smoke_that_cannot_be_run_does_not_hide_what_broke(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> int:
        raise SandboxError("no contract", "run make up")

    monkeypatch.setattr(deploy, "prove", never)
    world.stop["restore"] = broken()
    with pytest.raises(SandboxError, match="it broke"):
        run(world)
