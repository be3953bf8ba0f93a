"""The report as a summary for a ticket: short, and safe where names of people and issues become links."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from smoke import conformance
from smoke.model import Status
from smoke.printable import printable
from smoke.redact import bounded
from smoke.report import summary
from smoke.terminal import headline

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from smoke.drawing.drawn import DrawnBoard
    from smoke.model import Outcome, Run

CHARS: Final = 240
FAILURES, FAULTS, NOT_RUN, SKIPS, VERSIONS, PANELS = 10, 5, 6, 14, 10, 6
"""Entries of each section; what is beyond is counted. Together they keep the page below 120 lines."""
_TICKS: Final = re.compile("`+")
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>|~$&!])")
_CALLS: Final = re.compile(r"([@#](?=\w)|:/(?=/))")
_APART: Final = "\u200b"


def render(run: Run) -> str:
    """The summary as text. Whatever comes from outside stands in code spans, where nothing of it has a meaning."""
    count = {status: sum(1 for o in run.outcomes if o.status is status) for status in Status}
    parts = [
        [f"# Stack {code(run.stack)} is {run.verdict}", "", f"{prose(headline(run))}."],
        _about(run),
        ["| Status | Checks |", "| --- | --- |", *(f"| {s.replace('_', ' ')} | {n} |" for s, n in count.items())],
        _section("Faults of the run", [code(fault) for fault in run.faults], FAULTS),
        _failures(summary.failed(run)),
        _section("Not run", [_line(o, o.evidence) for o in run.outcomes if o.status is Status.NOT_RUN], NOT_RUN),
        _conformance(run),
        _boards(run.boards),
        _section("Declared skips", [_line(o, o.skip_reason) for o in summary.skipped(run)], SKIPS),
        _section("Versions", [f"{code(name)}: {code(text)}" for name, text in run.versions.items()], VERSIONS),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def code(text: str) -> str:
    """Text from outside as a code span of one line: no markup, no link, no mention. Masked, of bounded length."""
    line = " ".join(printable(bounded(text, CHARS)).split()) or "-"
    fence = "`" * (max((len(run) for run in _TICKS.findall(line)), default=0) + 1)
    room = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{room}{line}{room}{fence}"


def prose(text: str) -> str:
    """Words of this project as plain text."""
    return _CALLS.sub(rf"\1{_APART}", _SPECIAL.sub(r"\\\1", " ".join(text.split())))


def _about(run: Run) -> list[str]:
    found = [f"Started {code(run.started)}, took {run.seconds:.1f} s, cluster {code(run.cluster_uid)}."]
    if run.selected:
        found.append(f"**Only a selection was run**: {', '.join(map(code, run.selected[:FAILURES]))}.")
    if run.interrupted:
        found.append("**The run was interrupted.**")
    if firing := summary.firing(run):
        more = f" and {len(firing) - FAILURES} more" if len(firing) > FAILURES else ""
        told = ", ".join(map(code, firing[:FAILURES]))
        found.append(f"**Alerts that wake somebody fire, which no check judges**: {told}{more}.")
    return found


def _section(title: str, items: Sequence[str], limit: int) -> list[str]:
    if not items:
        return []
    more = [f"- and {len(items) - limit} more"] if len(items) > limit else []
    return [f"## {title}", "", *(f"- {item}" for item in items[:limit]), *more]


def _failures(outcomes: Sequence[Outcome]) -> list[str]:
    """Claim, the first line of what was seen, and what to do: three lines for each."""
    items = [
        "\n".join(
            (
                f"{code(o.id)}: {prose(o.claim)}",
                f"  - seen: {code(next(iter(o.evidence.splitlines()), ''))}",
                f"  - what to do: {prose(o.remedy)}",
            )
        )
        for o in outcomes
    ]
    return _section("What failed", items, FAILURES)


def _line(outcome: Outcome, why: str) -> str:
    return f"{code(outcome.id)}: {code(why)}"


def _conformance(run: Run) -> list[str]:
    items = [
        f"{code(one.requirement.id)}: **{one.standing}**{f' ({code(one.reason)})' if one.reason else ''}; "
        f"checks: {_listed(one.checks)}"
        for one in conformance.findings(run.outcomes)
    ]
    return _section(conformance.PROGRAMME, items, len(items))


def _listed(outcomes: Iterable[Outcome]) -> str:
    return ", ".join(f"{code(o.id)} {o.status.replace('_', ' ')}" for o in outcomes) or "none"


def _boards(boards: Sequence[DrawnBoard]) -> list[str]:
    """How many panels were drawn, and those with a fault."""
    found = [(board.seen.board.title, panel) for board in boards for panel in board.panels]
    broken = [(title, panel) for title, panel in found if panel.faults]
    items = [f"{code(f'{title}: {panel.panel.title}')}: {code(panel.faults[0])}" for title, panel in broken]
    if not found:
        return []
    empty = sum(1 for _, panel in found if panel.empty)
    told = f"{len(found)} panels, {empty} of them empty as declared, {len(broken)} with a fault."
    return ["## Boards", "", told, *(["", *_section("", items, PANELS)[2:]] if items else [])]
