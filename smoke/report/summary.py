"""What both readable reports tell of a run beside its verdict."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from signals.dashboards.alerting import FIRING
from signals.dashboards.alerting import UID as ALERTING
from signals.rules.model import ANSWER_WITHIN
from smoke.model import Status, Tier

if TYPE_CHECKING:
    from smoke.model import Outcome, Run

WHOLE: Final = "the whole stack"
SLOWEST: Final = 10


@dataclass(frozen=True, kw_only=True)
class Share:
    """Checks of one tier about one subject. partly: those of the passed ones that rest on stand-ins in part."""

    passed: int
    ran: int
    partly: int


def failed(run: Run) -> list[Outcome]:
    """Checks that failed, in the order of their ids."""
    return sorted((o for o in run.outcomes if o.status is Status.FAIL), key=lambda o: o.id)


def skipped(run: Run) -> list[Outcome]:
    """Checks that were skipped as declared."""
    return [o for o in run.outcomes if o.status is Status.SKIP]


def firing(run: Run) -> list[str]:
    """Alerts for which somebody is woken and that fired when the boards were asked, the gravest first.

    No check judges them: something may be wrong with what a sound stack watches.
    """
    found: Counter[tuple[str, str]] = Counter()
    for board in run.boards:
        for answer in board.seen.answers.get(FIRING, ()) if board.seen.board.uid == ALERTING else ():
            found.update((one.labels.get("severity", ""), one.labels.get("alertname", "")) for one in answer.series)
    woken = sorted((severity, name, many) for (severity, name), many in found.items() if severity in ANSWER_WITHIN)
    return [f"{severity} {name}" + (f" ({many} times)" if many > 1 else "") for severity, name, many in woken]


def tiers(run: Run) -> list[str]:
    """Tiers of the checks that ran, from what is worth least."""
    seen = {str(o.tier) for o in run.outcomes if o.status is not Status.SKIP}
    order = [str(tier) for tier in Tier]
    return [tier for tier in order if tier in seen] + sorted(seen - set(order))


def by_subject(run: Run) -> list[tuple[str, list[Share | None]]]:
    """Component and a share for each of `tiers`, None where no check of that tier is about it; the stack comes last."""
    ran = [o for o in run.outcomes if o.status is not Status.SKIP]
    subjects = sorted({o.component for o in ran}, key=lambda name: (not name, name))

    def shares(subject: str) -> list[Share | None]:
        return [_share([o for o in ran if (o.component, o.tier) == (subject, tier)]) for tier in tiers(run)]

    return [(subject or WHOLE, shares(subject)) for subject in subjects]


def _share(outcomes: list[Outcome]) -> Share | None:
    if not outcomes:
        return None
    passed = [o for o in outcomes if o.status is Status.PASS]
    partly = [o for o in passed if o.stand_ins and o.tier != Tier.SIMULATED]
    return Share(passed=len(passed), ran=len(outcomes), partly=len(partly))


def slowest(run: Run) -> list[Outcome]:
    """Checks that took longest, the slowest first."""
    ran = [o for o in run.outcomes if o.status in (Status.PASS, Status.FAIL)]
    return sorted(ran, key=lambda o: (-o.seconds, o.id))[:SLOWEST]
