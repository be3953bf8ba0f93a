"""One series: each way in which what was read can differ from what was acknowledged."""

from __future__ import annotations

import pytest

from smoke.drill.compare import Value, Weighed, same_file, same_number, weigh
from smoke.drill.model import Asked

# Step n was acknowledged at second n; nobody knows of step 5, and step 6 came after the disaster.
VALUES = [Value(step, f"{step}.5", float(step)) for step in range(5)] + [Value(5, "5.5", None), Value(6, "6.5", 60.0)]
WHOLE: list[tuple[int, str | None]] = [(step, f"{step}.5") for step in range(7)]
ASKED = Asked(disaster=50.0)


def _weigh(read: list[tuple[int, str | None]], asked: Asked = ASKED) -> Weighed:
    return weigh("r/k", VALUES, read, asked, same_number)


def test_all_is_there() -> None:
    found = _weigh(WHOLE)
    assert (found.acknowledged, found.expected, found.equal, found.kept) == (5, 0, 5, 4.0)
    assert (found.missing, found.overdue, found.gaps, found.dangling, found.wrong) == ((), (), (), (), ())


def test_what_was_never_acknowledged_may_be_missing() -> None:
    found = _weigh(WHOLE[:5])
    assert (found.equal, found.missing, found.gaps) == (5, (), ())


def test_a_lost_end_is_missing_and_no_gap() -> None:
    found = _weigh(WHOLE[:3])
    assert ([value.step for value in found.missing], found.gaps, found.kept) == ([3, 4], (), 2.0)


@pytest.mark.parametrize("later", [(4, "4.5"), (5, "5.5"), (6, "6.5")])
def test_a_loss_before_any_later_value_is_a_gap(later: tuple[int, str]) -> None:
    found = _weigh([*WHOLE[:2], *WHOLE[3:4], later])
    assert 2 in [value.step for value in found.gaps]


def test_only_what_was_acknowledged_before_the_point_and_its_window_is_overdue() -> None:
    asked = Asked(disaster=50.0, point_started=13.0, window=10.0)
    found = _weigh(WHOLE[:2], asked)
    assert [value.step for value in found.missing] == [2, 3, 4]
    assert ([value.step for value in found.overdue], found.expected) == ([2, 3], 4)


def test_no_window_excuses_the_loss_of_a_proven_value() -> None:
    found = weigh("r/k", [Value(0, "1", 1.0, proven=True)], [], ASKED, same_number)
    assert (found.expected, len(found.overdue)) == (1, 1)


@pytest.mark.parametrize(
    ("read", "words"),
    [
        ([*WHOLE[:2], (2, "2.6"), *WHOLE[3:]], "r/k step 2: '2.6' instead of '2.5'"),
        ([*WHOLE[:2], (2, "later"), *WHOLE[3:]], "r/k step 2: 'later' instead of '2.5'"),
        ([*WHOLE[:5], (5, "5.6"), *WHOLE[6:]], "r/k step 5: '5.6' instead of '5.5'"),  # never acknowledged
        ([*WHOLE[:6], (6, "nan")], "r/k step 6: 'nan' instead of '6.5'"),  # after the disaster
        ([*WHOLE, (2, "2.5")], "r/k step 2: is there 2 times"),
        ([*WHOLE, (7, "7.5")], "r/k step 7: '7.5' is there, and nobody sent it"),
    ],
)
def test_what_is_there_must_be_what_was_sent(read: list[tuple[int, str | None]], words: str) -> None:
    assert _weigh(read).wrong == (words,)


def test_a_wrong_value_is_not_counted_as_equal() -> None:
    found = _weigh([*WHOLE[:2], (2, "2.6"), *WHOLE[3:]])
    assert (found.acknowledged, found.equal, found.missing) == (5, 4, ())


def test_what_was_sent_after_the_disaster_and_is_there_is_told() -> None:
    values = [Value(0, "0.5", 1.0, sent=0.5), Value(1, "1.5", 51.0, sent=50.5), Value(2, "2.5", 50.5, sent=49.5)]
    found = weigh("r/k", values, [(0, "0.5"), (1, "1.5"), (2, "2.5")], ASKED, same_number)
    assert (found.late, found.acknowledged) == ((1,), 1)


def test_a_file_that_is_named_and_not_there_is_missing_and_dangling() -> None:
    files = [Value(0, "aa", 1.0), Value(1, "bb", 2.0)]
    found = weigh("r/i", files, [(0, None), (1, "bb")], ASKED, same_file)
    assert ([value.step for value in found.missing], found.dangling, found.equal) == ([0], (0,), 1)
    assert [value.step for value in found.gaps] == [0]


def test_an_altered_file_is_wrong() -> None:
    found = weigh("r/i", [Value(0, "aa", 1.0)], [(0, "ab")], ASKED, same_file)
    assert (found.wrong, found.equal) == (("r/i step 0: 'ab' instead of 'aa'",), 0)


@pytest.mark.parametrize(
    ("read", "sent", "same"),
    [
        ("0.1", "0.1", True),
        ("1e-1", "0.1", True),
        ("0.10000000000000002", "0.1", False),
        ("NaN", "nan", True),
        ("nan", "inf", False),
        ("-inf", "inf", False),
        ("0.0", "nan", False),
        ("", "0.0", False),
    ],
)
def test_numbers_are_equal_bit_for_bit(read: str, sent: str, *, same: bool) -> None:
    assert same_number(read, sent) is same
