"""No drill is green without proof, and none destroys what no restore point brings back."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from sandbox.errors import SandboxError
from tests.offline.cli.drill_facts import CONFIG
from tests.offline.cli.drill_world import World, report, run


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
    world: World, figures: dict[str, Any], aims: dict[str, Any], reason: str, *, destroy: bool
) -> None:
    world.judged |= figures
    world.source["recovery"] |= aims
    world.codes["judge"] = 1 if "verdict" in figures else 0
    assert run(world, destroy=destroy) == 1
    found = report(world)
    assert found["verdict"] == "red"
    assert [one for one in found["reasons"] if reason in one]
    assert world.remains() == []
    assert ("confirm plumbline-swanlab" in world.events) is (destroy and "verdict" not in figures)


def test_exit_code_of_the_comparison_counts_as_well(world: World) -> None:
    world.codes["judge"] = 1
    assert run(world) == 1


def test_source_that_is_red_afterwards_is_red(world: World) -> None:
    world.codes["smoke"] = 1
    assert run(world) == 1
    assert "make smoke of the source ended with 1" in report(world)["reasons"][0]


def test_comparison_that_could_not_be_made_is_no_verdict(world: World) -> None:
    world.codes["judge"] = 3
    with pytest.raises(SandboxError, match="judge ended with 3"):
        run(world)
    assert report(world)["verdict"] == "failed"


def test_verdict_of_before_does_not_stay(world: World) -> None:
    assert run(world) == 0
    world.stop["write"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run(world)
    assert report(world)["verdict"] == "failed"


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
