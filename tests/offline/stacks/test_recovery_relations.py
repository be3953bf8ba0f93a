"""Relations between the settings of recovery: each fault alone is seen, and what is right passes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from components.errors import DeployError
from stacks.recovery import Recovery
from stacks.recovery_relations import broken
from tests.offline.stacks.examples import settings
from tests.offline.stacks.swanlab_examples import ELSEWHERE, section

if TYPE_CHECKING:
    from stacks.settings import Settings

IMAGE = "registry.example.org/recovery:1"
WRITER = "points-writer"
EXTERNAL: dict[str, Any] = {
    "endpoint": "https://backup.example.net",
    "bucket": "points",
    "writer_secret": WRITER,
    "reader_secret": "points-reader",
    "pruner_secret": "points-pruner",
}
KEY = "plumbline-recovery-public-1:" + "A" * 43
GOOD: dict[str, Any] = {
    "mode": "managed",
    "image": IMAGE,
    "target": {"external": EXTERNAL},
    "recovery_public_key": KEY,
}


def stack(name: str = "prod", lab: dict[str, Any] | None = None, **keys: Any) -> Settings:  # noqa: ANN401  # any key of the section
    """A committed stack with SwanLab and these keys of recovery. lab: keys of SwanLab."""
    wanted = Recovery.model_validate_json(json.dumps(GOOD | keys))
    return settings(name).model_copy(update={"swanlab": section(**(lab or {})), "recovery": wanted})


def external(**keys: Any) -> dict[str, Any]:  # noqa: ANN401  # any key of the section
    return {"external": EXTERNAL | keys}


def test_durable_stack_with_a_bucket_elsewhere_is_right() -> None:
    assert broken(stack()) == []
    assert broken(stack(lab={"stores": ELSEWHERE})) == []


def test_local_stack_is_right_as_committed() -> None:
    assert broken(settings("local")) == []


def test_nothing_is_asked_where_recovery_is_off() -> None:
    assert broken(stack(mode="off", image=None, target={}, rpo="1s")) == []


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"image": None}, "plumbline:recovery.image is missing"),
        ({"target": {}}, "has neither own nor external"),
        ({"target": {"own": {}, "external": EXTERNAL}}, "has both own and external"),
        ({"target": {"own": {}}}, "is in the same cluster as what it should bring back"),
        (
            {"target": external(endpoint="https://backup.example.net/points")},
            "accepted: scheme, host and perhaps a port",
        ),
        ({"target": external(reader_secret=WRITER)}, "who writes must not be able to delete"),
        ({"target": external(pruner_secret=WRITER)}, "who writes must not be able to delete"),
        ({"rpo": "5h"}, "is shorter than the 360 minutes"),
        ({"schedule": {"create": "0 8-18/2 * * *"}}, "is shorter than the 840 minutes"),
        ({"retention": {"lock_days": 31}}, "lock_days 31 is more than keep_days 30"),
        ({"gate_max_age": "23h"}, "no upgrade could begin most of the time"),
        ({"recovery_public_key": None}, "would be in no restore point"),
    ],
)
def test_what_cannot_work_together_is_refused(keys: dict[str, Any], said: str) -> None:
    found = broken(stack(**keys))
    assert [line for line in found if said in line], found
    assert all("accepted: " in line and "fix: " in line for line in found)


@pytest.mark.parametrize(
    "keys",
    [
        {"rpo": "6h"},
        {"retention": {"lock_days": 30}},
        {"gate_max_age": "24h"},
        {"target": external(endpoint="https://backup.example.net:9000/")},
    ],
)
def test_what_just_fits_is_right(keys: dict[str, Any]) -> None:
    assert broken(stack(**keys)) == []


def test_bucket_beside_the_source_is_refused_on_a_durable_stack_alone() -> None:
    lab = {"stores": ELSEWHERE}
    beside = external(endpoint="https://s3.example.org:9000")
    (line,) = broken(stack(lab=lab, target=beside))
    assert "is at `s3.example.org`, and so is plumbline:swanlab.stores.s3" in line
    assert broken(stack("kind", lab=lab, target=beside)) == []


def test_account_of_the_source_is_refused_on_a_durable_stack_alone() -> None:
    lab = {"stores": ELSEWHERE}
    same = external(writer_secret=ELSEWHERE["s3"]["secret"])
    (line,) = broken(stack(lab=lab, target=same))
    assert "has Secret `s3-login`, with which SwanLab writes" in line
    assert broken(stack("kind", lab=lab, target=same)) == []


def test_own_target_and_missing_key_are_right_on_a_throwaway_stack() -> None:
    assert broken(stack("kind", target={"own": {}}, recovery_public_key=None)) == []


def test_own_target_needs_policies() -> None:
    found = stack("kind", target={"own": {}})
    open_one = found.model_copy(update={"network": found.network.model_copy(update={"policies": False})})
    (line,) = broken(open_one)
    assert "needs plumbline:network.policies true" in line


def test_recovery_needs_what_it_recovers_and_somebody_who_is_told() -> None:
    found = stack()
    off = {"mode": "off"}
    without = found.model_copy(update={"swanlab": section(**off)})
    assert "there is nothing to restore" in broken(without)[0]
    silent = found.model_copy(update={"pushgateway": found.pushgateway.model_copy(update=off)})
    (line,) = broken(silent)
    assert "nobody would learn that points are no longer made" in line


def test_image_that_is_built_is_not_named() -> None:
    with pytest.raises(DeployError, match=r"plumbline:recovery\.image is for upstream images"):
        settings("local", None, recovery={"image": IMAGE})


def test_recovery_key_that_is_none_is_refused_with_its_key() -> None:
    with pytest.raises(DeployError, match=r"plumbline:recovery\.recovery_public_key"):
        settings("local", None, recovery={"recovery_public_key": "age1abc"})


def test_schedule_that_is_none_is_refused_with_its_key() -> None:
    with pytest.raises(DeployError, match=r"plumbline:recovery\.schedule\.create.*is not a schedule"):
        settings("local", None, recovery={"schedule": {"create": "hourly"}})
