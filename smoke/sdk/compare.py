"""What was logged against what was read back, as the outcome of a scenario. Pure: nothing is fetched here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from smoke.sdk.model import CRASH, HANG, UNREADABLE, Seen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from smoke.sdk.model import DriverResult, Ended, LoggedRun, ReadBack

    Points = tuple[tuple[int, str], ...]
    Judge = Callable[[DriverResult, LoggedRun, ReadBack], Seen]

SHOWN: Final = 5
FINISHED: Final = "FINISHED"
OTHER: Final = "other"
NOT_A_NUMBER: Final = frozenset({"nan", "null", "none"})
INFINITE: Final = {"inf": "inf", "+inf": "inf", "infinity": "inf", "-inf": "-inf", "-infinity": "-inf"}
TEXT_KEYS: Final = ("values/text", "values/duration")
ODD_KEYS: Final = ("values/nan", "values/inf", "values/minus_inf")


def number(text: str) -> float | None:
    """The number that an export writes as `text`; NaN for every spelling of it, None if it is none, as no text."""
    plain = text.strip().lower()
    if plain in NOT_A_NUMBER:
        return math.nan
    try:
        return float(INFINITE.get(plain, plain))
    except ValueError:
        return None


def same(logged: str, read: str) -> bool:
    """Whether a number came back bit for bit. How a number that is not finite comes back is `nan_inf`'s question."""
    wanted, found = float(logged), number(read)
    if found is None:
        return False
    return found == wanted if math.isfinite(wanted) else not math.isfinite(found)


def judge(scenario: str, ended: Ended, reads: Mapping[str, ReadBack], unread: Sequence[str] = ()) -> Seen:
    """The outcome of one scenario.

    reads: label of a run → what was read of it. unread: why runs could not be read.
    """
    result = ended.result
    if ended.hang or result is None:
        return _no_result(ended)
    if scenario in SECOND_INITS and not ended.code:
        return _second_init(result, reads, unread)
    if result.raised or ended.code:
        return Seen(CRASH, result.raised or (f"the process ended with {ended.code}: {ended.tail}",))
    if scenario in CALLS:
        return _call(scenario, result)
    if unread or not reads:
        return Seen(UNREADABLE, tuple(unread) or ("no run was begun",))
    run = result.runs[0]
    return JUDGES[scenario](result, run, reads[run.label])


def foreign(ended: Ended, version: str, short: Callable[[LoggedRun], tuple[str, ...]]) -> tuple[str, ...]:
    """Why a result says nothing of this version; empty if it does. Nothing that was logged equals nothing read.

    short: what a run lacks of what was planned, in words.
    """
    if ended.result is None:
        return ()
    sdk = ended.result.sdk
    found = [] if sdk == version else [f"the environment has SDK {sdk}, expected {version}"]
    finished = [run for run in ended.result.runs if run.finished]
    return (*found, *(f"run {run.name} finished, and {words}" for run in finished for words in short(run)))


def _no_result(ended: Ended) -> Seen:
    if ended.hang:
        return Seen(HANG, (f"it had come to: {ended.result.stage}" if ended.result else "it left no result",))
    return Seen(CRASH, (f"the process ended with {ended.code} and left no result: {ended.tail}",))


def differences(run: LoggedRun, read: ReadBack) -> tuple[str, ...]:
    """Everything in which a run that was read differs from what was logged; empty if nothing does."""
    found = [] if run.finished else [f"finish() of {run.name} did not come back"]
    if read.state != FINISHED:
        found.append(f"state is {read.state!r}, expected {FINISHED!r}")
    for key, points in run.logged.items():
        found += _points(key, points, read.series.get(key, ()))
    for key, files in run.media.items():
        wanted = tuple(file.sha256 for file in files)
        if read.media.get(key, ()) != wanted:
            found.append(f"{key}: {_files(wanted, read.media.get(key, ()))}")
    strangers = sorted(read.keys - set(run.logged) - set(run.media))
    if strangers:
        found.append(f"keys that nobody logged: {', '.join(strangers[:SHOWN])}")
    found += _config(run.config, read.config)
    missing = _missing_lines(run.lines, read.lines)
    if missing:
        found.append(f"{len(missing)} of {len(run.lines)} printed lines are missing or out of order: {missing[:SHOWN]}")
    return tuple(found)


def _points(key: str, logged: Points, read: Points) -> list[str]:
    """Missing, changed, added and repeated points of a key. The order in which steps were logged does not count."""
    wanted, seen, found = dict(logged), dict(read), []
    missing = sorted(set(wanted) - set(seen))
    added = sorted(set(seen) - set(wanted))
    changed = [step for step in sorted(set(wanted) & set(seen)) if not same(wanted[step], seen[step])]
    if missing:
        found.append(f"{key}: {len(missing)} of {len(wanted)} steps are missing: {missing[:SHOWN]}")
    if changed:
        told = ", ".join(f"step {step} {wanted[step]} → {seen[step]}" for step in changed[:SHOWN])
        found.append(f"{key}: {len(changed)} values are changed: {told}")
    if added:
        found.append(f"{key}: {len(added)} steps that nobody logged: {added[:SHOWN]}")
    if len(read) > len(seen):
        found.append(f"{key}: {len(read) - len(seen)} points are there twice")
    return found


def _files(wanted: Sequence[str], read: Sequence[str]) -> str:
    if len(wanted) != len(read):
        return f"{len(wanted)} files were logged, {len(read)} read"
    wrong = [at for at, (one, other) in enumerate(zip(wanted, read, strict=True)) if one != other]
    return f"bytes differ in files {wrong[:SHOWN]}"


def _config(wanted: Mapping[str, Any], read: Mapping[str, Any]) -> list[str]:
    return [
        f"config {name!r} is {read.get(name)!r}, logged was {value!r}"
        for name, value in wanted.items()
        if name not in read or read[name] != value
    ]


def _missing_lines(wanted: Sequence[str], read: Sequence[str]) -> list[str]:
    """Lines that are not found in this order; what else was printed in between does not count."""
    rest = iter(read)
    return [line for line in wanted if not any(line == found.rstrip() for found in rest)]


def _roundtrip(_: DriverResult, run: LoggedRun, read: ReadBack) -> Seen:
    found = differences(run, read)
    return Seen("different" if found else "equal", found)


def _second_init(result: DriverResult, reads: Mapping[str, ReadBack], unread: Sequence[str]) -> Seen:
    """`both`, `second_refused` or `second_lost`; anything wrong with the first run is not this scenario's answer."""
    first = next((run for run in result.runs if run.label == "first"), None)
    second = next((run for run in result.runs if run.label == "second"), None)
    if first is None or not first.finished or second is None:
        return Seen(CRASH, result.raised or (f"it came no further than: {result.stage}",))
    if unread or first.label not in reads:
        return Seen(UNREADABLE, tuple(unread))
    wrong = differences(first, reads[first.label])
    if wrong:
        return Seen("first_lost", wrong)
    if not second.path:
        return Seen("second_refused", result.raised)
    if second.label not in reads:
        return Seen(UNREADABLE, ("the second run was not read",))
    wrong = differences(second, reads[second.label])
    return Seen("second_lost", (*wrong, *result.raised)) if wrong or result.raised else Seen("both")


def _call(scenario: str, result: DriverResult) -> Seen:
    """What the driver says of the call. An answer that the scenario does not know is an outcome of its own."""
    answer = result.answers.get(scenario)
    if answer is None:
        return Seen(CRASH, (f"it came no further than: {result.stage}",))
    return Seen(answer) if answer in CALLS[scenario] else Seen(OTHER, (f"it answered {answer!r}",))


def _string_scalar(result: DriverResult, run: LoggedRun, read: ReadBack) -> Seen:
    """What became of text among numbers. Points beside it that are lost weigh heavier than any treatment of it."""
    lost = _points("values/beside", run.logged["values/beside"], read.series.get("values/beside", ()))
    if lost:
        return Seen("call_lost", tuple(lost))
    ways = {key: _treatment(key, result, read) for key in TEXT_KEYS}
    if len(set(ways.values())) > 1:
        return Seen(OTHER, tuple(f"{key}: {way}" for key, way in ways.items()))
    return Seen(ways[TEXT_KEYS[0]])


def _treatment(key: str, result: DriverResult, read: ReadBack) -> str:
    if read.series.get(key):
        return "stored"
    told = any(key in line and "error" in line.lower() for line in result.printed)
    if key in read.keys:
        return "error_column" if told else "silent_column"
    return "error_line" if told else "silent"


def _numeric_string(_: DriverResult, __: LoggedRun, read: ReadBack) -> Seen:
    return _one(read.series.get("values/numeric", ()), {(0, 0.5): "number"})


def _bool_scalar(_: DriverResult, __: LoggedRun, read: ReadBack) -> Seen:
    return _one(read.series.get("values/truth", ()), {(0, 1.0): "number"})


def _negative_step(_: DriverResult, __: LoggedRun, read: ReadBack) -> Seen:
    found = read.series.get("values/negative", ())
    return Seen("ignored") if not found else _one(found, {(0, 7.0): "auto_step", (-1, 7.0): "stored"})


def _duplicate_step(_: DriverResult, __: LoggedRun, read: ReadBack) -> Seen:
    found = read.series.get("values/duplicate", ())
    if sorted((step, number(text)) for step, text in found) == [(3, 1.0), (3, 2.0)]:
        return Seen("both")
    return _one(found, {(3, 1.0): "first", (3, 2.0): "last"})


def _one(points: Points, meanings: Mapping[tuple[int, float], str]) -> Seen:
    """The meaning of the only point of a key."""
    if not points:
        return Seen("dropped")
    point = (points[0][0], number(points[0][1]))
    for wanted, meaning in meanings.items():
        if len(points) == 1 and point == wanted:
            return Seen(meaning)
    return Seen(OTHER, (f"read were {list(points[:SHOWN])}",))


def _out_of_order(_: DriverResult, __: LoggedRun, read: ReadBack) -> Seen:
    found = sorted((step, number(text)) for step, text in read.series.get("values/disorder", ()))
    if found == [(3, 3.0), (4, 4.0), (5, 5.0)]:
        return Seen("kept")
    return Seen("dropped" if found == [(5, 5.0)] else OTHER, (f"read were {found[:SHOWN]}",))


def _nested_key(_: DriverResult, __: LoggedRun, read: ReadBack) -> Seen:
    known = {"values.nested.leaf": "dot", "values/nested/leaf": "slash"}
    leaf = [(0, 2.5)]
    found = [key for key in known if [(step, number(text)) for step, text in read.series.get(key, ())] == leaf]
    return Seen(known[found[0]]) if len(found) == 1 else Seen(OTHER, (f"keys are {sorted(read.keys)}",))


def _nan_inf(_: DriverResult, __: LoggedRun, read: ReadBack) -> Seen:
    """How NaN, +Inf and -Inf come back."""
    known = {("nan", "nan", "nan"): "nan", ("nan", "inf", "inf"): "unsigned_inf", ("nan", "inf", "-inf"): "exact"}
    texts = [[text for _, text in read.series.get(key, ())] for key in ODD_KEYS]
    if any(len(text) != 1 for text in texts):
        return Seen("dropped" if not any(texts) else OTHER, (f"read were {texts}",))
    seen = tuple(str(number(text[0])) for text in texts)
    return Seen(known[seen]) if seen in known else Seen(OTHER, (f"read were {texts}",))


# The sessions of the latter end with the first run; the script is the same.
SECOND_INITS: Final = ("second_init", "second_init_session_ended")
CALLS: Final[dict[str, frozenset[str]]] = {
    "login_web_host": frozenset({"accepted", "TypeError"}),
    "get_run_without_run": frozenset({"None", "RuntimeError"}),
    "finish_without_run": frozenset({"None", "RuntimeError"}),
    "log_without_run": frozenset({"None", "RuntimeError"}),
}
JUDGES: Final[dict[str, Judge]] = {
    "roundtrip": _roundtrip,
    "string_scalar": _string_scalar,
    "numeric_string": _numeric_string,
    "bool_scalar": _bool_scalar,
    "nan_inf": _nan_inf,
    "nested_key": _nested_key,
    "duplicate_step": _duplicate_step,
    "negative_step": _negative_step,
    "out_of_order": _out_of_order,
}
