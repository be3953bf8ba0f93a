"""The report as one page: readable, printable, without network or scripts."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from smoke import conformance
from smoke.drawing.clock import clock
from smoke.model import Status
from smoke.redact import bounded
from smoke.report import summary
from smoke.terminal import headline

if TYPE_CHECKING:
    from smoke.model import Outcome, Run

# Worst first, within the page and within a requirement.
ORDER = (Status.FAIL, Status.NOT_RUN, Status.PASS, Status.SKIP)


def render(run: Run) -> str:
    """The page as text. Everything that comes from outside is escaped."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page: str = environment.get_template("page.html.j2").render(
        run=run,
        headline=headline(run),
        faults=[bounded(fault) for fault in run.faults],
        failed=summary.failed(run),
        programme=conformance.PROGRAMME,
        findings=conformance.findings(run.outcomes),
        tiers=summary.tiers(run),
        subjects=summary.by_subject(run),
        slowest=summary.slowest(run),
        groups=_groups(run.outcomes),
        skipped=summary.skipped(run),
        boards=run.boards,
        firing=[bounded(one) for one in summary.firing(run)],
        clock=clock,
        panels=[panel for board in run.boards for panel in board.panels],
    )
    return page


def _groups(outcomes: list[Outcome]) -> list[tuple[str, list[Outcome]]]:
    """Checks that were not skipped, by requirement; the requirement with the worst check comes first."""
    ran = [o for o in outcomes if o.status is not Status.SKIP]
    by_name = sorted(ran, key=lambda o: o.requirement)
    groups = [
        (name, sorted(members, key=lambda o: (ORDER.index(o.status), o.id)))
        for name, members in groupby(by_name, key=lambda o: o.requirement)
    ]
    return sorted(groups, key=lambda group: (ORDER.index(group[1][0].status), group[0]))
