"""All alerts over weeks: which never fired, which flap, which ended before anybody had to answer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from smoke.run_evidence import judge_review
from smoke.run_evidence.judge_review import DAY, HOUR, STEP
from smoke.run_evidence.looking import BlindError
from smoke.run_evidence.read_alerts import Alerts
from smoke.run_evidence.read_logs import stamp
from smoke.run_evidence.report import Report, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smoke.run_evidence.facts import Span
    from smoke.run_evidence.judge_review import Fired, Rule
    from smoke.run_evidence.looking import Looking
    from smoke.stack import Stack

Unread = dict[tuple[str, str], "list[str] | None"]
"""Rule → metrics without a series, None where it is not known."""
LACKS: Final = 0.05
"""Share of the time that may be missing before silence proves nothing."""
_FALSE: Final = (
    "Whether an alert was false only people know. What is counted is whether it was over before they had to look."
)


def report(look: Looking, stack: Stack, span: Span) -> Report:
    """Raises BlindError where Prometheus cannot be asked."""
    alerts = Alerts(stack.prometheus, stack.contract.cluster.name)
    rules = look.ask("which alerts there are", alerts.rules)
    known = look.ask("when rules were evaluated", lambda: alerts.evaluated(span))
    points = look.ask("when alerts fired", lambda: alerts.fired(span))
    if rules is None or known is None or points is None:
        raise BlindError("; ".join(f"{one.what}: {one.why}" for one in look.unseen))
    _missing(look, span, known)
    seen, days = judge_review.fired(points, known), len(known) * STEP / DAY
    never = judge_review.silent(rules, seen)
    unread = _unread(look, alerts, never)
    return Report(
        "review",
        stack.contract.stack,
        f"Alerts of {_length(span.seconds)}",
        stamp(look.now),
        (
            ("time", f"{stamp(span.begin)} to {stamp(span.end)}, to the minute"),
            ("recorded", f"{_length(days * DAY)} of it"),
            ("alerts", f"{len(rules)} rules are loaded; {len(seen)} alerts fired, {len(never)} did not"),
        ),
        tuple(judge_review.findings(seen, rules)),
        tuple(look.unseen),
        (f"{len(rules)} rules and what fired in {_length(days * DAY)}",),
        (_did(seen, {rule.key for rule in rules}), _did_not(never, unread, days)),
        {"fired": [_record(one) for one in seen], "silent": [_silent(rule, unread) for rule in never]},
    )


def _unread(look: Looking, alerts: Alerts, rules: Sequence[Rule]) -> Unread:
    """Of each rule the metrics that have no series."""
    found: Unread = {}
    for rule in rules:
        found[rule.key] = look.ask("what rules read", partial(alerts.unread, rule, look.now), essential=False)
    return found


def _missing(look: Looking, span: Span, known: Sequence[int]) -> None:
    """Silence of a time that was not recorded says nothing."""
    asked = int(span.seconds // STEP) + 1
    lacks = asked - len(known)
    if lacks <= 1:
        return
    since = f"the oldest is of {stamp(span.begin + known[0] * STEP)}" if known else "there is none"
    hours = f"{lacks * STEP / HOUR:.1f} of {span.seconds / HOUR:.1f} hours"
    why = f"no rule was evaluated, or Prometheus had just started, in {hours}; of evaluations {since}"
    look.miss("a part of the time", why, essential=lacks > LACKS * asked)


def _did(seen: Sequence[Fired], loaded: set[tuple[str, str]]) -> Table:
    head = ("alert", "severity", "fired", "label sets", "came back", "over early", "longest", "in all")
    rows = tuple(
        (
            one.name if (one.name, one.severity) in loaded else f"{one.name} (no rule has it now)",
            one.severity,
            str(len(one.every)),
            str(len(one.firings)),
            str(one.back),
            "" if one.due is None else f"{one.early} of {len(one.whole)}",
            _length(one.longest),
            _length(one.seconds),
        )
        for one in sorted(seen, key=lambda one: (-len(one.every), one.name))
    )
    return Table("What fired", head, rows, _FALSE if rows else "Nothing fired.")


def _did_not(never: Sequence[Rule], unread: Unread, days: float) -> Table:
    rows = tuple((rule.name, rule.severity, _reads(unread[rule.key])) for rule in never)
    note = (
        "That nothing was wrong is a good reason. An alert none of whose series are there cannot fire." if rows else ""
    )
    return Table(
        f"What did not fire in {_length(days * DAY)}",
        ("alert", "severity", "what it reads"),
        rows,
        note or "All fired.",
    )


def _reads(names: Sequence[str] | None) -> str:
    if names is None:
        return "unknown: this Prometheus parses no expressions"
    return f"no series within the hour of {', '.join(names)}" if names else "series of all its metrics are there"


def _record(one: Fired) -> dict[str, Any]:
    return {
        "alert": one.name,
        "severity": one.severity,
        "firings": len(one.every),
        "came_back": one.back,
        "early": one.early,
        "of_known_length": len(one.whole),
        "longest_seconds": one.longest,
        "seconds": one.seconds,
    }


def _silent(rule: Rule, unread: Unread) -> dict[str, Any]:
    return {"alert": rule.name, "severity": rule.severity, "without_series": unread[rule.key]}


def _length(seconds: float) -> str:
    if seconds >= DAY:
        return f"{seconds / DAY:.1f} days"
    return f"{seconds / HOUR:.1f} h" if seconds >= HOUR else f"{seconds / 60:.0f} min"
