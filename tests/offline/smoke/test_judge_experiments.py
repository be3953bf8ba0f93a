"""Judgement over a round trip: every value, step, file, setting and line, and the words for what is not there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from smoke import limits
from smoke.judge import experiments
from smoke.sdk.driver import column
from smoke.sdk.model import DriverResult, LoggedFile, LoggedRun, ReadBack

if TYPE_CHECKING:
    from collections.abc import Callable

POINTS = tuple((step, repr(step / 4)) for step in range(1000))
RUN = LoggedRun(
    label="first",
    project="plumbline-sentinel",
    name="sentinel-1",
    path="alice/plumbline-sentinel/r1",
    logged={"loss": POINTS, "odd": ((0, "nan"), (1, "inf"), (2, "-inf"))},
    media={"image": (LoggedFile(0, "aa", 3), LoggedFile(1, "bb", 4))},
    config={"lr": 0.1, "nested": {"layers": [1, 2]}},
    lines=("one", "two", "two"),
    finished=True,
)
READ = ReadBack(
    state="FINISHED",
    keys=frozenset({"loss", "odd", "image"}),
    series={"loss": POINTS, "odd": ((0, "nan"), (1, "nan"), (2, "nan"))},
    media={"image": ("aa", "bb")},
    config={"lr": 0.1, "nested": {"layers": [1, 2]}, "more": 1},
    lines=("swanlab: started", "one", "two", "two", "swanlab: finished"),
)


def _loss(points: tuple[tuple[int, str], ...]) -> ReadBack:
    return replace(READ, series={**READ.series, "loss": points})


def test_run_that_came_back_as_it_was_logged() -> None:
    assert experiments.intact(RUN, READ, "nan") == []
    shuffled = _loss(tuple(reversed(POINTS)))
    assert experiments.intact(RUN, shuffled, "nan") == []
    assert experiments.intact(RUN, _loss(tuple((s, f"{float(v):.17e}") for s, v in POINTS)), "nan") == []


FAULTS: dict[str, tuple[ReadBack, str]] = {
    "points lost": (
        _loss(tuple(p for p in POINTS if p[0] not in (7, 8, 9, 500))),
        "key loss: seen 4 missing (steps 7-9, 500); expected all 1000 steps, equal",
    ),
    "all points lost": (
        replace(READ, series={"odd": READ.series["odd"]}),
        "key loss: seen 1000 missing (steps 0-999); expected all 1000 steps, equal",
    ),
    "a point twice": (_loss((*POINTS, POINTS[3])), "key loss: seen 1 extra (steps 3)"),
    "a point that nobody logged": (_loss((*POINTS, (1000, "1"))), "key loss: seen 1 extra (steps 1000)"),
    "a value changed": (
        _loss(tuple((s, "9.5" if s == 4 else v) for s, v in POINTS)),
        "key loss: seen 1 different (steps 4); step 4 is '9.5' instead of '1.0'",
    ),
    "a value rounded": (
        _loss(tuple((s, "0.3" if s == 1 else v) for s, v in POINTS)),
        "step 1 is '0.3' instead of '0.25'",
    ),
    "a value that is none": (
        _loss(tuple((s, "30/120" if s == 4 else v) for s, v in POINTS)),
        "step 4 is '30/120' instead of '1.0'",
    ),
    "steps moved by one": (
        _loss(tuple((s + 1, v) for s, v in POINTS)),
        "key loss: seen 1 missing (steps 0); 1 extra (steps 1000); 999 different",
    ),
    "an infinity kept": (
        replace(READ, series={**READ.series, "odd": ((0, "nan"), (1, "inf"), (2, "nan"))}),
        "key odd: seen 1 different (steps 1); step 1 is 'inf' instead of 'nan'",
    ),
    "a file lost": (
        replace(READ, media={"image": ("aa",)}),
        "files of key image: seen 1 files; 1 missing or different (steps 1); expected the 2 logged",
    ),
    "a file changed": (replace(READ, media={"image": ("aa", "cc")}), "1 missing or different (steps 1)"),
    "files changed places": (replace(READ, media={"image": ("bb", "aa")}), "files of key image: seen 2 files"),
    "every file lost": (replace(READ, media={}), "2 missing or different (steps 0-1)"),
    "a key more": (replace(READ, keys=READ.keys | {"strange"}), "keys that are extra: seen strange"),
    "a key less": (replace(READ, keys=frozenset({"loss", "odd"})), "keys that are missing: seen image"),
    "a setting lost": (replace(READ, config={"lr": 0.1}), "setting nested: seen missing"),
    "a setting changed": (replace(READ, config={**READ.config, "lr": 0.2}), "setting lr: seen 0.2; expected 0.1"),
    "a line lost": (
        replace(READ, lines=("one", "two")),
        "terminal log: seen 1 of 3 lines missing, 0 twice; the first: 'two'; expected all 3 lines",
    ),
    "a line twice": (replace(READ, lines=("one", "one", "two", "two")), "0 of 3 lines missing, 1 twice"),
    "lines in another order": (replace(READ, lines=("two", "one", "two")), "in another order"),
    "still running": (replace(READ, state="RUNNING"), "state of the run: seen RUNNING; expected FINISHED"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_run_that_did_not_come_back(fault: str) -> None:
    read, words = FAULTS[fault]
    assert words in "\n".join(map(str, experiments.intact(RUN, read, "nan")))


@pytest.mark.parametrize(
    ("odd", "texts"),
    [("nan", ("nan", "nan", "null")), ("unsigned_inf", ("NaN", "INF", "inf")), ("exact", ("nan", "inf", "-inf"))],
)
def test_what_is_no_finite_number_comes_back_as_the_matrix_declares(odd: str, texts: tuple[str, ...]) -> None:
    read = tuple(enumerate(texts))
    assert experiments.series("odd", RUN.logged["odd"], read, odd) == []
    others = set(experiments.ODD) - {odd}
    assert all(experiments.series("odd", RUN.logged["odd"], read, other) for other in others)


PLAN = {"scenario": "roundtrip", "project": "p", "keys": 2, "width": 13, "steps": 2, "lines": 3}
TWO = ((0, "0.5"), (1, "0.25"))
MADE = replace(
    RUN,
    logged={
        "sentinel/k0__": TWO,
        "sentinel/k1__": TWO,
        "sentinel/nan": (*TWO, (2, "1")),
        "sentinel/inf": (*TWO, (2, "1")),
    },
    media={f"sentinel/{kind}": RUN.media["image"] for kind in ("image", "audio", "text")},
)
RESULT = DriverResult(sdk="0.8.4", script="roundtrip", stage="done", runs=(MADE,))


def test_driver_that_did_all() -> None:
    assert experiments.whole(RESULT, "0.8.4", PLAN) == []


def test_full_request_of_the_sentinel_is_larger_than_what_many_proxies_let_through() -> None:
    """The SDK sends up to 10000 points in one request (wheel 0.8.4 swanlab/sdk/internal/settings/core.py:25)."""
    one_request = min(10_000, limits.SENTINEL_KEYS * limits.SENTINEL_STEPS)
    assert one_request * len(column(0, limits.SENTINEL_WIDTH)) > 1024**2


DRIVERS: dict[str, tuple[Callable[[DriverResult], DriverResult], str]] = {
    "raised": (lambda r: replace(r, raised=("begun: ApiError: no",)), "seen raised begun: ApiError: no"),
    "another version": (lambda r: replace(r, sdk="0.10.3"), "SDK of the driver: seen 0.10.3; expected 0.8.4"),
    "no run": (lambda r: replace(r, runs=(), stage="begun"), "ended at stage 'begun' with 0 runs"),
    "not finished": (lambda r: replace(r, runs=(replace(MADE, finished=False),)), "expected one run, finished"),
    "two runs": (lambda r: replace(r, runs=(MADE, MADE)), "with 2 runs"),
    "no files": (lambda r: replace(r, runs=(replace(MADE, media={}),)), "0 files of sentinel/audio were logged"),
    "no values": (lambda r: replace(r, runs=(replace(MADE, logged={}),)), "0 points of sentinel/k1__ were logged"),
    "other keys": (lambda r: replace(r, runs=(replace(MADE, logged=RUN.logged),)), "0 points of sentinel/nan were"),
    "fewer values": (
        lambda r: replace(r, runs=(replace(MADE, logged={**MADE.logged, "sentinel/k0__": TWO[:1]}),)),
        "seen 1 points of sentinel/k0__ were logged, planned were 2; expected all that its plan asks for",
    ),
    "fewer lines": (lambda r: replace(r, runs=(replace(MADE, lines=("one", "two")),)), "2 lines were logged"),
    "no setting": (lambda r: replace(r, runs=(replace(MADE, config={}),)), "no setting was logged"),
}


@pytest.mark.parametrize("fault", DRIVERS)
def test_driver_that_did_not(fault: str) -> None:
    change, words = DRIVERS[fault]
    problems = experiments.whole(change(RESULT), "0.8.4", PLAN)
    assert words in "\n".join(map(str, problems))
    assert all(problem.terminal for problem in problems)


def test_reading_that_is_the_same_again() -> None:
    assert experiments.unchanged(READ, READ) == []
    assert experiments.unchanged(READ, _loss(tuple(reversed(POINTS)))) == []


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (replace(READ, state="ABORTED"), "state: seen changed"),
        (replace(READ, lines=READ.lines[1:]), "lines: seen changed"),
        (replace(READ, config={}), "config: seen changed"),
        (_loss(POINTS[:-1]), "key loss: seen 1 missing (steps 999)"),
        (replace(READ, media={"image": ("aa", "x")}), "files of key image"),
    ],
)
def test_reading_that_is_another_one(after: ReadBack, words: str) -> None:
    assert words in "\n".join(map(str, experiments.unchanged(READ, after)))


def test_amount_in_words() -> None:
    assert experiments.amount(RUN) == "1003 points of 2 keys, 2 files, 3 lines, 2 settings"


def test_steps_in_words() -> None:
    assert experiments.steps([]) == ""
    assert experiments.steps([3, 1, 2, 7, 7]) == "1-3, 7"
    assert experiments.steps(range(0, 40, 2)) == "0, 2, 4, 6, 8, 10, …"


@pytest.mark.parametrize(
    ("name", "created", "old"),
    [
        ("sentinel-1", "2026-01-01T00:00:00.123456Z", True),
        ("sentinel-1", "2026-01-01T08:00:00+08:00", True),
        ("sentinel-1", "2026-01-01T01:00:00Z", False),
        ("sentinel-1", "soon", False),
        ("sdk-0.8.4", "2026-01-01T00:00:00Z", False),
    ],
)
def test_runs_of_killed_runs_are_known_by_name_and_age(name: str, created: str, *, old: bool) -> None:
    # 2026-01-01T00:00:00Z is 1767225600 in Unix time.
    assert experiments.left_behind(name, created, 1767225600 + 3700, 3600) is old
