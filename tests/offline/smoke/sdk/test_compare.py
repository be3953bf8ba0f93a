"""Every way in which a run can come back wrong is seen, and told for what it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from smoke.sdk import compare
from smoke.sdk.matrix import read_matrix
from smoke.sdk.model import ALWAYS, Ended, ReadBack
from tests.offline.smoke.sdk.made import DIGEST, READ, RUN, SECOND, ended, result

SCENARIOS = {scenario.name: scenario for scenario in read_matrix().scenarios}


def test_a_run_that_came_back_whole_has_no_differences() -> None:
    assert compare.differences(RUN, READ) == ()
    assert compare.judge("roundtrip", ended(RUN), {"first": READ}).outcome == "equal"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"series": {"loss": ((0, "0.5"), (2, "nan"))}}, "1 of 3 steps are missing: [1]"),
        ({"series": {}}, "3 of 3 steps are missing"),
        ({"series": {"loss": ((0, "0.5"), (1, "0.2500001"), (2, "nan"))}}, "step 1 0.25 → 0.2500001"),
        ({"series": {"loss": ((0, "0.5"), (1, "0.25"), (2, "7.0"))}}, "step 2 nan → 7.0"),
        ({"series": {"loss": ((0, "0.5"), (1, "soon"), (2, "nan"))}}, "step 1 0.25 → soon"),
        ({"series": {"loss": ((0, "0.5"), (1, "nan"), (2, "nan"))}}, "step 1 0.25 → nan"),
        ({"series": {"loss": ((0, "0.5"), (1, "0.25"), (2, "nan"), (3, "1"))}}, "1 steps that nobody logged: [3]"),
        ({"series": {"loss": ((0, "0.5"), (0, "0.5"), (1, "0.25"), (2, "nan"))}}, "1 points are there twice"),
        ({"media": {}}, "image: 1 files were logged, 0 read"),
        ({"media": {"image": ("0" * 64,)}}, "image: bytes differ in files [0]"),
        ({"media": {"image": (DIGEST, DIGEST)}}, "image: 1 files were logged, 2 read"),
        ({"state": "RUNNING"}, "state is 'RUNNING', expected 'FINISHED'"),
        ({"config": {"lr": 0.2}}, "config 'lr' is 0.2, logged was 0.1"),
        ({"config": {}}, "config 'lr' is None, logged was 0.1"),
        ({"lines": ("line 0",)}, "1 of 2 printed lines are missing or out of order: ['line 1']"),
        ({"lines": ("line 1", "line 0")}, "1 of 2 printed lines"),
        ({"keys": frozenset({"loss", "image", "stray"})}, "keys that nobody logged: stray"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_each_difference_is_told(change: dict[str, Any], word: str) -> None:
    read = replace(READ, **change)
    assert any(word in line for line in compare.differences(RUN, read))
    assert compare.judge("roundtrip", ended(RUN), {"first": read}).outcome == "different"


def test_a_finish_that_did_not_come_back_is_a_difference() -> None:
    assert "finish() of r did not come back" in compare.differences(replace(RUN, finished=False), READ)


@pytest.mark.parametrize("text", ["nan", "NaN", "null", "None", "INF", "-Infinity"])
def test_no_number_may_come_back_in_any_spelling_of_it(text: str) -> None:
    assert compare.same("nan", text)
    assert not compare.same("0.5", text)


@pytest.mark.parametrize("text", ["", "  ", "soon"])
def test_an_empty_field_is_not_the_nan_that_was_logged(text: str) -> None:
    assert not compare.same("nan", text)
    assert not compare.same("0.5", text)


def test_a_value_must_come_back_to_the_last_bit() -> None:
    assert compare.same("0.1", "0.1000")
    assert not compare.same("0.1", "0.10000000000000002")


VALUES = replace(RUN, logged={"values/beside": ((0, "0.5"),)}, media={}, config={}, lines=())
BESIDE = {"values/beside": ((0, "0.5"),)}
TEXTS = ("values/text", "values/duration")
ERROR = tuple(f"ERROR key {key}" for key in TEXTS)


def look(scenario: str, series: dict[str, Any], keys: tuple[str, ...] = (), printed: tuple[str, ...] = ()) -> str:
    """The outcome for a run of script `values` with these points."""
    read = ReadBack("FINISHED", frozenset({*series, *keys}), series)
    seen = compare.judge(scenario, ended(VALUES, script="values", printed=printed), {"first": read})
    assert seen.outcome in {*SCENARIOS[scenario].outcomes, *ALWAYS}
    return seen.outcome


@pytest.mark.parametrize(
    ("series", "keys", "printed", "outcome"),
    [
        (BESIDE, (), ERROR, "error_line"),
        (BESIDE, TEXTS, ERROR, "error_column"),
        (BESIDE, TEXTS, (), "silent_column"),
        (BESIDE, (), (), "silent"),
        (BESIDE | dict.fromkeys(TEXTS, ((0, "30/120"),)), (), (), "stored"),
        (BESIDE, TEXTS[:1], ERROR, "other"),
        ({}, (), ERROR, "call_lost"),
        ({"values/beside": ((0, "0.75"),)}, (), ERROR, "call_lost"),
    ],
)
def test_text_among_numbers(
    series: dict[str, Any], keys: tuple[str, ...], printed: tuple[str, ...], outcome: str
) -> None:
    assert look("string_scalar", series, keys, printed) == outcome


ODD = ("values/nan", "values/inf", "values/minus_inf")


@pytest.mark.parametrize(
    ("texts", "outcome"),
    [
        (("nan", "nan", "nan"), "nan"),
        (("NaN", "none", "null"), "nan"),
        (("nan", "", "nan"), "other"),
        (("NaN", "INF", "INF"), "unsigned_inf"),
        (("nan", "inf", "-inf"), "exact"),
        (("nan", "inf", "nan"), "other"),
        (("0.0", "0.0", "0.0"), "other"),
    ],
)
def test_odd_numbers(texts: tuple[str, ...], outcome: str) -> None:
    assert look("nan_inf", {key: ((0, text),) for key, text in zip(ODD, texts, strict=True)}) == outcome


def test_odd_numbers_that_are_not_there() -> None:
    assert look("nan_inf", {}) == "dropped"
    assert look("nan_inf", {"values/nan": ((0, "nan"),)}) == "other"


@pytest.mark.parametrize(
    ("scenario", "key", "points", "outcome"),
    [
        ("numeric_string", "values/numeric", ((0, "0.5"),), "number"),
        ("numeric_string", "values/numeric", (), "dropped"),
        ("numeric_string", "values/numeric", ((0, "5"),), "other"),
        ("bool_scalar", "values/truth", ((0, "1"),), "number"),
        ("bool_scalar", "values/truth", ((0, "true"),), "other"),
        ("negative_step", "values/negative", (), "ignored"),
        ("negative_step", "values/negative", ((0, "7.0"),), "auto_step"),
        ("negative_step", "values/negative", ((-1, "7.0"),), "stored"),
        ("negative_step", "values/negative", ((1, "7.0"),), "other"),
        ("duplicate_step", "values/duplicate", ((3, "1.0"),), "first"),
        ("duplicate_step", "values/duplicate", ((3, "2.0"),), "last"),
        ("duplicate_step", "values/duplicate", ((3, "1.0"), (3, "2.0")), "both"),
        ("duplicate_step", "values/duplicate", ((3, "1.0"), (3, "1.0")), "other"),
        ("duplicate_step", "values/duplicate", (), "dropped"),
        ("out_of_order", "values/disorder", ((3, "3"), (4, "4"), (5, "5")), "kept"),
        ("out_of_order", "values/disorder", ((5, "5"),), "dropped"),
        ("out_of_order", "values/disorder", ((3, "3"), (5, "5")), "other"),
        ("nested_key", "values.nested.leaf", ((0, "2.5"),), "dot"),
        ("nested_key", "values/nested/leaf", ((0, "2.5"),), "slash"),
        ("nested_key", "leaf", ((0, "2.5"),), "other"),
        ("nested_key", "values/nested/leaf", ((0, "2.25"),), "other"),
        ("nested_key", "values/nested/leaf", ((1, "2.5"),), "other"),
    ],
)
def test_values_and_steps_of_their_own(scenario: str, key: str, points: tuple[Any, ...], outcome: str) -> None:
    assert look(scenario, {key: points} if points else {}) == outcome


@pytest.mark.parametrize("scenario", sorted(compare.CALLS))
def test_each_known_answer_of_a_call_is_an_outcome(scenario: str) -> None:
    for answer in compare.CALLS[scenario]:
        assert compare.judge(scenario, ended(answers={scenario: answer}), {}).outcome == answer
        assert answer in SCENARIOS[scenario].outcomes


def test_an_unknown_answer_and_none_at_all_are_told_apart() -> None:
    assert compare.judge("login_web_host", ended(answers={"login_web_host": "ValueError"}), {}).outcome == "other"
    assert compare.judge("login_web_host", ended(stage="begun"), {}).outcome == "crash"


READS = {"first": READ, "second": READ}


@pytest.mark.parametrize("scenario", compare.SECOND_INITS)
def test_a_second_run(scenario: str) -> None:
    refused = replace(SECOND, path="", finished=False)
    lost = {"first": READ, "second": replace(READ, series={})}
    cases = {
        "both": (ended(RUN, SECOND), READS),
        "second_refused": (ended(RUN, refused, raised=("first run finished: ApiError: 401",)), {"first": READ}),
        "second_lost": (ended(RUN, SECOND), lost),
        "first_lost": (ended(RUN, SECOND), {"first": replace(READ, state="CRASHED"), "second": READ}),
        "crash": (ended(replace(RUN, finished=False), raised=("first run finishes: OSError: x",)), READS),
        "unreadable": (ended(RUN, SECOND), {}),
    }
    for outcome, (process, reads) in cases.items():
        assert compare.judge(scenario, process, reads).outcome == outcome


def test_an_exception_after_two_whole_runs_is_not_passed_over() -> None:
    died = replace(ended(RUN, SECOND), code=139, tail="Segmentation fault")
    assert compare.judge("second_init", died, READS).outcome == "crash"
    seen = compare.judge("second_init", ended(RUN, SECOND, raised=("done: OSError: x",)), READS)
    assert (seen.outcome, seen.differences) == ("second_lost", ("done: OSError: x",))


@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
def test_what_hangs_crashes_or_leaves_nothing_is_no_answer(scenario: str) -> None:
    hang = Ended(result(RUN, stage="first run finishes"), hang=True)
    assert compare.judge(scenario, hang, READS).outcome == "hang"
    assert compare.judge(scenario, hang, READS).differences == ("it had come to: first run finishes",)
    assert compare.judge(scenario, Ended(None, hang=True), {}).outcome == "hang"
    assert compare.judge(scenario, Ended(None, code=1, tail="no module"), {}).outcome == "crash"


@pytest.mark.parametrize("scenario", sorted({*compare.JUDGES, *compare.CALLS}))
def test_a_stray_exception_is_a_crash(scenario: str) -> None:
    process = ended(RUN, raised=("begun: AuthenticationError: no",), answers={scenario: "None"})
    assert compare.judge(scenario, process, {"first": READ}).outcome == "crash"


def test_a_process_that_fails_after_its_result_is_a_crash() -> None:
    process = Ended(result(RUN), code=139, tail="segmentation fault")
    assert compare.judge("roundtrip", process, {"first": READ}).outcome == "crash"


@pytest.mark.parametrize("scenario", sorted(compare.JUDGES))
def test_what_could_not_be_read_is_never_an_answer(scenario: str) -> None:
    assert compare.judge(scenario, ended(RUN), {}, ["first run: HTTP 500"]).outcome == "unreadable"
    assert compare.judge(scenario, ended(), {}).outcome == "unreadable"
