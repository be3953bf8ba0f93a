"""A stack expects what the smoke suite can check on it: no claim is unproven, no check is unheard of."""

from __future__ import annotations

from itertools import combinations

import pytest

from smoke.model import Impact
from smoke.registry import REGISTRY
from stacks.checks import ALWAYS, BY_CAPABILITY, PROOFS, expected
from stacks.contract import CAPABILITIES, Capability

EVERY_SET = [found for size in range(len(CAPABILITIES) + 1) for found in combinations(CAPABILITIES, size)]


def test_checks_follow_from_capabilities_as_the_suite_itself_decides() -> None:
    """For each set of capabilities: whatever the suite would not skip, unless it disrupts."""
    # 65536 sets: whatever is the same in all of them is made once.
    needed = [(c.id, frozenset(c.needs)) for c in REGISTRY.values() if c.impact is not Impact.DISRUPTIVE]
    for held in EVERY_SET:
        claimed = frozenset(held)
        wanted = {name for name, needs in needed if needs <= claimed}
        assert set(expected(held)) == wanted, held


def test_proofs_are_the_disruptive_checks() -> None:
    assert set(PROOFS) == {check.id for check in REGISTRY.values() if check.impact is Impact.DISRUPTIVE}


def test_no_check_is_expected_twice() -> None:
    everything = expected(tuple(CAPABILITIES))
    assert len(everything) == len(set(everything))


def test_stack_that_claims_nothing_is_still_checked() -> None:
    assert expected(()) == ALWAYS


@pytest.mark.parametrize("needed", BY_CAPABILITY, ids="+".join)
def test_check_is_not_expected_if_one_of_its_capabilities_is_missing(needed: tuple[Capability, ...]) -> None:
    for missing in needed:
        held = tuple(name for name in CAPABILITIES if name != missing)
        assert not set(BY_CAPABILITY[needed]) & set(expected(held))


def test_every_capability_has_a_meaning_that_a_check_or_the_suite_uses() -> None:
    """`kube-state` decides what a check looks at, not whether it runs."""
    used = {name for needed in BY_CAPABILITY for name in needed}
    assert set(CAPABILITIES) - used == {"kube-state", "disruptive"}
