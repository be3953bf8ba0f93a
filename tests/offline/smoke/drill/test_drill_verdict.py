"""The verdict: green for what is whole, red with its reason for each way of not being whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from smoke.drill.model import Asked, Journal, Read, Restored
from smoke.drill.verdict import judge
from tests.offline.smoke.drill.made import (
    ASKED,
    JOURNAL,
    RESTORED,
    SDK,
    SDK_READ,
    SHA,
    WHOLE,
    T,
    after,
    series,
    timed,
)

POINT = Asked(disaster=T + 100, point_started=T + 9, window=3.0)
"""What was acknowledged until T+6 must be there: steps 0 to 5, without 4, and the image of step 0."""


def _document(restored: Restored, asked: Asked = ASKED, journal: Journal = JOURNAL) -> dict[str, Any]:
    found = judge(journal, restored, asked)
    assert found.document["verdict"] == ("green" if found.green else "red")
    assert list(found.reasons) == found.document["reasons"]
    return dict(found.document)


def test_all_of_it_is_green_and_nothing_is_lost() -> None:
    found = _document(RESTORED, POINT)
    assert (found["verdict"], found["reasons"]) == ("green", [])
    assert (found["login"], found["runs_found"]) == (True, ["drill-1", "drill-1-sdk"])
    # Eleven steps of two series, and the three of the SDK.
    assert (found["values_acknowledged"], found["values_equal"], found["values_lost"]) == (25, 25, 0)
    # Steps 0, 1, 2, 3, 5 of two series, and the three of the SDK.
    assert found["values_expected_before_point"] == 13
    assert (found["media_acknowledged"], found["media_equal"], found["media_expected_before_point"]) == (3, 3, 2)
    assert (found["first_lost"], found["rpo_seconds"]) == (None, 0.0)
    assert found["last_kept"] == "2026-01-01T00:00:11.500000Z"


def test_the_end_may_be_lost_and_is_the_recovery_point_objective() -> None:
    found = _document(
        timed(
            series={"drill/a": series(4, 8, 9, 10, 11), "drill/b": series(-8, 8, 9, 10, 11)},
            files={"drill/image": ((0, SHA["i0"]),)},
        ),
        POINT,
    )
    assert (found["verdict"], found["values_lost"], found["media_lost"]) == ("green", 8, 1)
    # Step 8 was acknowledged at T+8.5, the disaster was at T+100.
    assert (found["first_lost"], found["rpo_seconds"]) == ("2026-01-01T00:00:08.500000Z", 91.5)
    assert found["last_kept"] == "2026-01-01T00:00:07.500000Z"
    first = {"series": "drill-1/drill/a", "step": 8, "acked": "2026-01-01T00:00:08.500000Z"}
    assert (found["values_missing"][0], found["gaps"]) == (first, [])


def test_an_image_that_is_lost_first_counts_for_the_objective() -> None:
    found = _document(timed(files={"drill/image": ((0, SHA["i0"]),)}))
    assert (found["verdict"], found["first_lost"]) == ("green", "2026-01-01T00:00:10.750000Z")
    assert found["media_missing"] == [
        {"series": "drill-1/drill/image", "step": 10, "acked": "2026-01-01T00:00:10.750000Z"}
    ]


def test_what_came_after_the_disaster_is_not_lost() -> None:
    found = _document(after(8, 9, 10, 11), replace(POINT, disaster=T + 8.4, point_started=T + 8))
    assert (found["verdict"], found["values_lost"], found["rpo_seconds"]) == ("green", 0, 0.0)


def test_what_was_sent_after_the_disaster_is_in_no_copy() -> None:
    asked = Asked(disaster=T + 9.75)
    # Restored in place and written to again, or the source itself: only who knows which of the two can judge it.
    assert _document(RESTORED, asked)["verdict"] == "green"
    assert _document(RESTORED, replace(asked, beside=True))["reasons"] == [
        "5 values are there that were sent after the disaster, as drill-1/drill/a step 10: this is no restored copy"
    ]
    assert _document(after(10, 11), replace(asked, beside=True))["reasons"] == [
        "1 values are there that were sent after the disaster, as drill-1/drill/image step 10: this is no restored copy"
    ]


LATE = "4 of 13 values that were acknowledged before the restore point are lost"
RED: list[tuple[Restored, Asked, list[str]]] = [
    # Steps 3 and 5 and all behind them, of both series.
    (after(*range(3, 12)), POINT, [LATE]),
    (
        after(3),
        ASKED,
        ["2 values are lost although later ones of their series are there"],
    ),
    (
        timed(series={"drill/a": (*series(4)[:3], (3, "0.76"), *series(4)[4:]), "drill/b": series(-8)}),
        ASKED,
        ["1 values are wrong; the first: drill-1/drill/a step 3: '0.76' instead of '0.75'"],
    ),
    (
        timed(series={"drill/a": (*series(4), (2, "0.5")), "drill/b": series(-8)}),
        ASKED,
        ["1 values are wrong; the first: drill-1/drill/a step 2: is there 2 times"],
    ),
    (
        timed(series={"drill/a": series(4), "drill/b": series(-8), "drill/c": ((0, "1.0"),)}),
        ASKED,
        ["1 values are wrong; the first: drill-1/drill/c step 0: '1.0' is there, and nobody sent it"],
    ),
    (
        timed(files={"drill/image": ((0, SHA["i10"]), (10, SHA["i10"]))}),
        ASKED,
        [f"1 media files are wrong; the first: drill-1/drill/image step 0: {SHA['i10']!r} instead of {SHA['i0']!r}"],
    ),
    (
        timed(files={"drill/image": ((0, SHA["i0"]), (10, None))}),
        ASKED,
        ["1 media files are named and not there; the first: drill-1/drill/image step 10"],
    ),
    (
        timed(files={}),
        POINT,
        ["1 of 2 media files that were acknowledged before the restore point are lost"],
    ),
    (timed(series={}), ASKED, ["no value of the timed run is there"]),
    (replace(RESTORED, refused=("key drill/a: HTTP 403",)), ASKED, ["key drill/a: HTTP 403"]),
    (
        replace(RESTORED, old_key=False),
        ASKED,
        ["login: the key that lets in is not the one with which the journal was written; the old one is unproven"],
    ),
    (
        replace(RESTORED, whole=replace(WHOLE, config={})),
        ASKED,
        ["run of the SDK, setting lr: seen missing; expected 0.1"],
    ),
    (replace(RESTORED, whole=None), ASKED, ["run of the SDK: it was not read"]),
    (
        replace(RESTORED, runs={"drill-1": "t1", "drill-1-sdk": "s2"}),
        ASKED,
        ["run drill-1-sdk is not in the list of project plumbline-drill under its id"],
    ),
]


@pytest.mark.parametrize(("restored", "asked", "reasons"), RED)
def test_red_and_why(restored: Restored, asked: Asked, reasons: list[str]) -> None:
    assert _document(restored, asked)["reasons"] == reasons


def test_a_loss_in_the_run_of_the_sdk_is_red_whatever_the_window() -> None:
    lost = replace(SDK_READ, series={"loss": ((0, "0.5"), (1, "nan"))})
    found = _document(replace(RESTORED, sdk=lost), Asked(disaster=T + 100, point_started=T + 9, window=1e6))
    assert found["reasons"] == ["1 of 3 values that were acknowledged before the restore point are lost"]
    # Nothing of it was acknowledged before its run began, at T-60.
    assert found["rpo_seconds"] == 160.0


def test_a_refused_login_is_red_and_everything_is_lost() -> None:
    found = _document(Restored(login=False))
    assert found["reasons"][0] == "login: the restored SwanLab refuses the API key"
    assert (found["login"], found["runs_found"], found["values_equal"], found["rpo_seconds"]) == (False, [], 0, 160.0)


def test_a_swanlab_without_the_runs_is_red() -> None:
    found = _document(Restored(login=True, old_key=True))
    assert "run drill-1 is not in the list of project plumbline-drill under its id" in found["reasons"]
    assert "no value of the timed run is there" in found["reasons"]


@pytest.mark.parametrize(
    ("journal", "reason"),
    [
        (Journal(), "the journal is empty: nothing was compared"),
        (
            replace(JOURNAL, sdk=None),
            "the journal names no run of the SDK that was complete before the restore point",
        ),
        (
            replace(JOURNAL, sent=()),
            "no value of the timed run was acknowledged before the disaster: nothing was compared",
        ),
        (
            replace(JOURNAL, sent=tuple(replace(sent, acked=None) for sent in JOURNAL.sent)),
            "no value of the timed run was acknowledged before the disaster: nothing was compared",
        ),
    ],
)
def test_a_journal_that_proves_nothing_is_red(journal: Journal, reason: str) -> None:
    assert reason in _document(RESTORED, ASKED, journal)["reasons"]


def test_a_disaster_before_everything_proves_nothing() -> None:
    assert _document(RESTORED, Asked(disaster=T - 100))["verdict"] == "red"


def test_lists_are_bounded_and_counts_are_not() -> None:
    found = _document(after(*range(1, 11)))
    assert (found["values_lost"], len(found["values_missing"]), len(found["gaps"])) == (18, 10, 10)


def test_odd_numbers_must_come_back_as_this_sdk_writes_them() -> None:
    exact = replace(JOURNAL, sdk=replace(SDK, odd="exact"))
    found = _document(RESTORED, ASKED, exact)
    assert found["values_wrong"] == ["drill-1-sdk/loss step 1: 'nan' instead of '-inf'"]
    assert _document(replace(RESTORED, sdk=Read()), ASKED)["verdict"] == "red"
