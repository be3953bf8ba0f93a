"""The XID table against NVIDIA's catalogue: counts and single rows taken from it by hand."""

from __future__ import annotations

import pytest

from signals.xid import XIDS, XidAction, XidClass, xid_groups


@pytest.mark.parametrize(
    ("code", "kind", "action", "severity"),
    [
        (13, XidClass.APP, XidAction.RESTART_APP, "P3"),
        (31, XidClass.APP, XidAction.RESTART_APP, "P3"),
        (43, XidClass.INFO, XidAction.IGNORE, "P3"),
        (45, XidClass.INFO, XidAction.FOLLOW_OTHER_XID, "P3"),
        (48, XidClass.GPU, XidAction.RESET_GPU, "P1"),
        (54, XidClass.NODE, XidAction.CHECK_MECHANICALS, "P1"),
        (62, XidClass.GPU, XidAction.RESET_GPU, "P2"),
        (63, XidClass.INFO, XidAction.IGNORE, "P3"),
        (64, XidClass.GPU, XidAction.RESET_GPU, "P2"),
        (74, XidClass.LINK, XidAction.RESET_GPU, "P2"),
        (78, XidClass.APP, XidAction.UPDATE_SWFW, "P3"),
        (79, XidClass.NODE, XidAction.RESTART_BM, "P1"),
        (94, XidClass.APP, XidAction.RESTART_APP, "P3"),
        (95, XidClass.GPU, XidAction.RESET_GPU, "P1"),
        (119, XidClass.GPU, XidAction.RESET_GPU, "P2"),
        (120, XidClass.GPU, XidAction.RESET_GPU, "P2"),
        (137, XidClass.INFO, XidAction.IGNORE, "P3"),
        (140, XidClass.GPU, XidAction.RESET_GPU, "P1"),
        (145, XidClass.LINK, XidAction.RESET_GPU, "P2"),
        (151, XidClass.NODE, XidAction.RESTART_VM, "P1"),
        (154, XidClass.INFO, XidAction.FOLLOW_OTHER_XID, "P3"),
        (159, XidClass.LINK, XidAction.CHECK_UVM, "P2"),
    ],
)
def test_row(code: int, kind: XidClass, action: XidAction, severity: str) -> None:
    found = XIDS[code]
    assert (found.kind, found.action, found.severity) == (kind, action, severity)


@pytest.mark.parametrize("code", [1, 7, 12, 24, 42, 47, 55, 61, 65, 73, 81, 87, 90, 91, 111, 118, 122, 125, 138, 173])
def test_unused_codes_are_left_out(code: int) -> None:
    assert code not in XIDS


def test_nothing_between_the_last_unused_code_and_the_newest_is_missing() -> None:
    assert set(range(139, 173)) <= set(XIDS)


def test_every_restart_of_the_machine_is_urgent_and_every_app_is_not() -> None:
    assert {x.severity for x in XIDS.values() if x.action in (XidAction.RESTART_BM, XidAction.RESTART_VM)} == {"P1"}
    assert {x.severity for x in XIDS.values() if x.kind in (XidClass.APP, XidClass.INFO)} == {"P3"}


def test_each_code_is_in_exactly_one_group() -> None:
    codes = [code for group in xid_groups() for code in group.codes]
    assert sorted(codes) == sorted(XIDS)
    for group in xid_groups():
        assert {(XIDS[c].kind, XIDS[c].action, XIDS[c].severity) for c in group.codes} == {
            (group.kind, group.action, group.severity)
        }
