"""What a recording rule saves: its expression down to scraped series, taken from the rules themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from signals.rules import groups
from signals.rules.model import Record
from tests.bench.errors import BenchError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from signals.rules.inputs import RuleInputs

_SERIES: Final = re.compile(
    r"(?P<name>\b[a-zA-Z_]\w*(?::\w+)+|\b(?:DCGM|kube)_\w+)(?P<match>\{[^{}]*\})?(?P<window>\[\w+\])?"
)


@dataclass(frozen=True)
class Recorded:
    """expr: of the rule. interval: between two evaluations, a Prometheus duration."""

    expr: str
    interval: str


def records(inputs: RuleInputs, interval: str) -> dict[str, Recorded]:
    """Name → what it records. A name that several rules share, or that gets labels, has no single expression: left out.

    interval: of groups that have none of their own.
    """
    found: dict[str, list[tuple[Record, str]]] = {}
    for made in groups(inputs).values():
        for group in made:
            for rule in group.rules:
                if isinstance(rule, Record):
                    found.setdefault(rule.record, []).append((rule, group.interval or interval))
    single = {name: rules[0] for name, rules in found.items() if len(rules) == 1 and not rules[0][0].labels}
    return {name: Recorded(rule.expr, every) for name, (rule, every) in single.items()}


def raw(expr: str, known: Mapping[str, Recorded], matchers: tuple[str, ...] = ()) -> str:
    """`expr` with every recorded series replaced by what it is recorded from, down to scraped series.

    A window over a record becomes a subquery with the interval of its rule. Matchers of a record are handed down to the
    series that it is made from: right for labels that its aggregations keep, which the bench checks by comparing
    results. Raises BenchError for a record without an expression of its own.
    """

    def one(found: re.Match[str]) -> str:
        own = (found["match"] or "").strip("{}")
        wanted = (*((own,) if own else ()), *matchers)
        if ":" not in found["name"]:
            braces = f"{{{', '.join(wanted)}}}" if wanted else ""
            return f"{found['name']}{braces}{found['window'] or ''}"
        if found["name"] not in known:
            raise BenchError(f"{found['name']} has no single recording rule to replace it by; ask for another series")
        record = known[found["name"]]
        inner = f"({raw(record.expr, known, wanted)})"
        return f"{inner}{found['window'][:-1]}:{record.interval}]" if found["window"] else inner

    return _SERIES.sub(one, expr)
