"""The verdict over a restored SwanLab: figures, and every reason why it is not green. Pure: nothing is fetched here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from smoke.drill import compare
from smoke.drill.compare import Value, Weighed
from smoke.drill.model import Judgement, Read, ids
from smoke.drill.times import stamp
from smoke.judge import experiments
from smoke.judge.experiments import ODD

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from smoke.drill.model import Asked, Journal, Restored, SdkRun

Json = dict[str, Any]
FORMAT: Final = 1
SHOWN: Final = 10
NOTHING: Final = Read()


def judge(journal: Journal, restored: Restored, asked: Asked) -> Judgement:
    """Green, or red with its reasons. What holds nothing to compare is red."""
    values, files = _weighed(journal, restored, asked)
    reasons = [*_login(restored), *_runs(journal, restored), *_nothing(journal, values), *restored.refused]
    reasons += _late([*values, *files], asked)
    for what, series in (("values", values), ("media files", files)):
        reasons += _losses(what, series)
    reasons += _whole(journal.sdk, restored)
    both = [*values, *files]
    missing = [value.acked for one in both for value in one.missing if value.acked is not None]
    first_lost, last_kept = min(missing, default=None), max(_kept(both), default=None)
    document: Json = {
        "format": FORMAT,
        "verdict": "red" if reasons else "green",
        "reasons": reasons,
        "login": restored.login,
        "old_key": restored.old_key,
        "runs_found": sorted(restored.runs),
        "values_acknowledged": sum(one.acknowledged for one in values),
        "values_expected_before_point": sum(one.expected for one in values),
        "values_equal": sum(one.equal for one in values),
        "values_lost": sum(len(one.missing) for one in values),
        "values_missing": _named(values, "missing"),
        "values_wrong": [words for one in values for words in one.wrong][:SHOWN],
        "media_acknowledged": sum(one.acknowledged for one in files),
        "media_expected_before_point": sum(one.expected for one in files),
        "media_equal": sum(one.equal for one in files),
        "media_lost": sum(len(one.missing) for one in files),
        "media_missing": _named(files, "missing"),
        "media_wrong": [words for one in files for words in one.wrong][:SHOWN],
        "gaps": _named(both, "gaps"),
        "first_lost": None if first_lost is None else stamp(first_lost),
        "last_kept": None if last_kept is None else stamp(last_kept),
        "rpo_seconds": 0.0 if first_lost is None else round(asked.disaster - first_lost, 3),
        "disaster": stamp(asked.disaster),
        "kept_until": None if asked.kept_until is None else stamp(asked.kept_until),
    }
    return Judgement(document, tuple(reasons))


def _weighed(journal: Journal, restored: Restored, asked: Asked) -> tuple[list[Weighed], list[Weighed]]:
    """Every series of numbers, and every one of files, of both runs."""
    values: list[Weighed] = []
    files: list[Weighed] = []
    if journal.begin is None:
        return values, files
    timed, sdk = restored.timed or NOTHING, restored.sdk or NOTHING
    numbers, media = _timed(journal)
    values += _all(journal.begin.run, numbers, timed.series, asked, compare.same_number)
    files += _all(journal.begin.run, media, timed.files, asked, compare.same_file)
    if journal.sdk is not None:
        numbers, media = _sdk(journal.sdk)
        values += _all(journal.begin.sdk_run, numbers, sdk.series, asked, compare.same_number)
        files += _all(journal.begin.sdk_run, media, sdk.files, asked, compare.same_file)
    return values, files


def _all(
    run: str,
    sent: Mapping[str, Sequence[Value]],
    read: Mapping[str, Sequence[tuple[int, str | None]]],
    asked: Asked,
    same: compare.Same,
) -> list[Weighed]:
    """Series that were sent, and those that are there although nobody sent them."""
    keys = sorted({*sent, *read})
    return [compare.weigh(f"{run}/{key}", sent.get(key, ()), read.get(key, ()), asked, same) for key in keys]


def _timed(journal: Journal) -> tuple[dict[str, list[Value]], dict[str, list[Value]]]:
    values: dict[str, list[Value]] = {}
    files: dict[str, list[Value]] = {}
    for sent in journal.sent:
        for found, held in ((sent.values, values), (sent.files, files)):
            for key, text in found.items():
                held.setdefault(key, []).append(Value(sent.step, text, sent.acked, sent.at))
    return values, files


def _sdk(run: SdkRun) -> tuple[dict[str, list[Value]], dict[str, list[Value]]]:
    """All of it must be there. Nobody knows when each value was acknowledged: not before the run began."""
    odd = ODD[run.odd]
    values = {
        key: [Value(step, odd.get(text, text), run.began, proven=True) for step, text in points]
        for key, points in run.run.logged.items()
    }
    files = {
        key: [Value(file.step, file.sha256, run.began, proven=True) for file in found]
        for key, found in run.run.media.items()
    }
    return values, files


def _login(restored: Restored) -> list[str]:
    if not restored.login:
        return ["login: the restored SwanLab refuses the API key"]
    if not restored.old_key:
        return [
            "login: the key that lets in is not the one with which the journal was written; the old one is unproven"
        ]
    return []


def _runs(journal: Journal, restored: Restored) -> list[str]:
    if journal.begin is None:
        return []
    lost = [name for name, run_id in ids(journal).items() if not run_id or restored.runs.get(name) != run_id]
    return [f"run {name} is not in the list of project {journal.begin.project} under its id" for name in lost]


def _nothing(journal: Journal, values: Sequence[Weighed]) -> list[str]:
    """Why a comparison that found no fault would prove nothing."""
    if journal.begin is None:
        return ["the journal is empty: nothing was compared"]
    reasons = [] if journal.sdk else ["the journal names no run of the SDK that was complete before the restore point"]
    timed = [one for one in values if one.series.startswith(f"{journal.begin.run}/")]
    if not any(one.acknowledged for one in timed):
        reasons.append("no value of the timed run was acknowledged before the disaster: nothing was compared")
    elif not any(one.equal for one in timed):
        reasons.append("no value of the timed run is there")
    return reasons


def _late(series: Sequence[Weighed], asked: Asked) -> list[str]:
    """What no copy can hold: then it was the source that was read, which has lost nothing yet."""
    late = [f"{one.series} step {step}" for one in series for step in one.late]
    if not late or not asked.beside:
        return []
    return [f"{len(late)} values are there that were sent after the disaster, as {late[0]}: this is no restored copy"]


def _losses(what: str, series: Sequence[Weighed]) -> list[str]:
    overdue, expected = sum(len(one.overdue) for one in series), sum(one.expected for one in series)
    gaps, wrong = sum(len(one.gaps) for one in series), [words for one in series for words in one.wrong]
    dangling = [f"{one.series} step {step}" for one in series for step in one.dangling]
    told = []
    if overdue:
        told.append(f"{overdue} of {expected} {what} that were acknowledged before the restore point are lost")
    if gaps:
        told.append(f"{gaps} {what} are lost although later ones of their series are there")
    if wrong:
        told.append(f"{len(wrong)} {what} are wrong; the first: {wrong[0]}")
    if dangling:
        told.append(f"{len(dangling)} {what} are named and not there; the first: {dangling[0]}")
    return told


def _whole(sdk: SdkRun | None, restored: Restored) -> list[str]:
    """What smoke itself finds wrong with the SDK's run: settings, printed lines, keys and state, too."""
    if sdk is None:
        return []
    if restored.whole is None:
        return ["run of the SDK: it was not read"]
    problems = experiments.intact(sdk.run, restored.whole, sdk.odd)
    return [f"run of the SDK, {problem}" for problem in problems[:SHOWN]]


def _kept(series: Iterable[Weighed]) -> list[float]:
    return [one.kept for one in series if one.kept is not None]


def _named(series: Iterable[Weighed], field: str) -> list[Json]:
    """The first few values of a list of each series, in order of their acknowledgement."""
    found = [(value.acked or 0.0, one.series, value.step) for one in series for value in getattr(one, field)]
    return [{"series": name, "step": step, "acked": stamp(at)} for at, name, step in sorted(found)[:SHOWN]]
