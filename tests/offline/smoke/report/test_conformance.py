"""Requirements of the CNCF programme: proven by checks that passed, and by nothing else."""

from __future__ import annotations

import pytest

from smoke.conformance import ACCELERATORS, REQUIREMENTS, SERVICES, Finding, Standing, findings
from smoke.model import Outcome, Status
from smoke.registry import REGISTRY
from smoke.skips import reason_to_skip
from tests.offline.smoke.report.records import outcome

BEHIND = (ACCELERATORS,)
GPU = REGISTRY["gpu.count"]
NO_GPU = reason_to_skip(GPU, ["metrics"], GPU.impact) or ""


def check(name: str, status: Status, **fields: object) -> Outcome:
    """A check behind the requirement about accelerators."""
    return outcome(name, status, conformance=BEHIND, **fields)


def standing(*outcomes: Outcome) -> Finding:
    """How the requirement about accelerators stands."""
    return next(found for found in findings(outcomes) if found.requirement.id == ACCELERATORS)


PASSED = check("a", Status.PASS)


def test_proven_where_every_check_behind_it_passed() -> None:
    found = standing(PASSED, check("b", Status.PASS), outcome("other", Status.FAIL))
    assert (found.standing, found.reason, [o.id for o in found.checks]) == (Standing.PROVEN, "", ["a", "b"])


@pytest.mark.parametrize(
    ("outcomes", "expected", "reason"),
    [
        ((), Standing.NOT_PROVEN, "no check of this run is behind it"),
        ((outcome("other", Status.PASS),), Standing.NOT_PROVEN, "no check of this run is behind it"),
        ((PASSED, check("b", Status.FAIL)), Standing.FAILED, "b"),
        ((PASSED, check("b", Status.NOT_RUN, evidence="ended")), Standing.NOT_PROVEN, "b: ended"),
        ((PASSED, check("b", Status.SKIP, skip_reason="not selected")), Standing.NOT_PROVEN, "b: not selected"),
        ((check("b", Status.SKIP, skip_reason="no GPU is free"),), Standing.NOT_PROVEN, "b: no GPU is free"),
        ((PASSED, check("b", Status.SKIP, skip_reason=NO_GPU)), Standing.NOT_HERE, f"b: {NO_GPU}"),
        (
            (PASSED, check("b", Status.FAIL), check("c", Status.SKIP, skip_reason=NO_GPU)),
            Standing.NOT_HERE,
            f"c: {NO_GPU}",
        ),
        ((PASSED, check("b", Status.PASS, stand_ins=("dcgm", "api"))), Standing.ON_STAND_INS, "on api, dcgm"),
    ],
)
def test_nothing_less_is_proven(outcomes: tuple[Outcome, ...], expected: Standing, reason: str) -> None:
    found = standing(*outcomes)
    assert (found.standing, found.reason) == (expected, reason)


def test_reason_of_a_stack_without_gpus_is_the_one_that_smoke_gives() -> None:
    assert NO_GPU == "the stack does not claim the capability gpu"


def test_requirement_of_which_a_part_is_open_is_never_wholly_proven() -> None:
    passed = outcome("a", Status.PASS, conformance=(SERVICES,))
    found = next(one for one in findings([passed]) if one.requirement.id == SERVICES)
    assert found.requirement.open != ""
    assert (found.standing, found.reason) == (Standing.IN_PART, found.requirement.open)


def test_checks_name_requirements_that_exist_and_each_has_checks() -> None:
    named = {one for each in REGISTRY.values() for one in each.conformance}
    assert named == {one.id for one in REQUIREMENTS} == {"accelerator_metrics", "ai_service_metrics"}


def test_accelerators_are_proven_by_what_their_metrics_are_and_whose() -> None:
    behind = {each.id for each in REGISTRY.values() if ACCELERATORS in each.conformance}
    assert behind == {"gpu.count", "gpu.attribution", "signals.contract", "signals.fresh"}
