"""Units of expressions, worked out from those of the catalogue: a panel in another unit is wrong by a factor, or lies.

A quantity is a number times a scale times powers of base units. Dividing by 1e9 makes nanoseconds seconds; a rate is
per second; what is divided by its like is a ratio. Counts and ratios have both no base unit: a ratio is drawn in per
cent, a count never.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import promql_parser as promql

from signals.dashboards.model import Unit
from signals.rules.model import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from signals.catalogue.model import Metric, Producer
    from signals.rules.model import Group

Bases = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Dimension:
    """scale: of one, in base units. bases: base unit → its power, by name. ratio: a share of a whole."""

    scale: Fraction = Fraction(1)
    bases: Bases = ()
    ratio: bool = False

    def times(self, other: Dimension, power: int = 1) -> Dimension:
        """The product, or the quotient for power -1."""
        found = dict(self.bases)
        for name, own in other.bases:
            found[name] = found.get(name, 0) + power * own
        bases = tuple(sorted((name, own) for name, own in found.items() if own))
        of_like = power < 0 and not bases  # a quotient of like and like is a ratio, whatever they are
        ratio = of_like or (self.ratio and other.ratio and not bases)
        return Dimension(self.scale * other.scale**power, bases, ratio)


COUNT: Final = Dimension()
RATIO: Final = Dimension(ratio=True)
SECONDS: Final = Dimension(bases=(("second", 1),))
PER_SECOND: Final = Dimension(bases=(("second", -1),))
BYTES: Final = Dimension(bases=(("byte", 1),))
CELSIUS: Final = Dimension(bases=(("celsius", 1),))
WATTS: Final = Dimension(bases=(("joule", 1), ("second", -1)))
CATALOGUE: Final[dict[str, Dimension]] = {
    "1": COUNT,
    "bytes": BYTES,
    "mebibytes": replace(BYTES, scale=Fraction(2**20)),
    "bytes per second": BYTES.times(SECONDS, -1),
    "celsius": CELSIUS,
    "days": replace(SECONDS, scale=Fraction(86_400)),
    "seconds": SECONDS,
    "nanoseconds": replace(SECONDS, scale=Fraction(1, 10**9)),
    "megahertz": replace(PER_SECOND, scale=Fraction(10**6)),
    "millijoules": Dimension(Fraction(1, 1000), (("joule", 1),)),
    "percent": Dimension(Fraction(1, 100), ratio=True),
    "watts": WATTS,
}
"""Word of the catalogue → what it is."""
DRAWN: Final[dict[Unit, Dimension]] = {
    Unit.COUNT: COUNT,
    Unit.RATIO: RATIO,
    Unit.SECONDS: SECONDS,
    Unit.DAYS: replace(SECONDS, scale=Fraction(86_400)),
    Unit.BYTES: BYTES,
    Unit.BYTES_PER_SECOND: BYTES.times(SECONDS, -1),
    Unit.PER_SECOND: PER_SECOND,
    Unit.CELSIUS: CELSIUS,
    Unit.WATTS: WATTS,
    Unit.YES_OR_NO: RATIO,  # of 1 or 0
}
"""Unit of a panel → what its queries must give."""
BY_A_NUMBER: Final = {"job:series_budget:ratio": RATIO}
"""Records that divide by what is planned, which stands there as a number and has no unit."""
_PER_TIME: Final = ("rate", "irate", "deriv")
_AS_IS: Final = ("and", "unless", ">", "<", ">=", "<=", "==", "!=")


class Unlike(ValueError):  # a verdict about an expression
    """What cannot be added, or is not known."""


def dimensions(groups: Iterable[Group], pages: Iterable[Producer]) -> dict[str, Dimension]:
    """Every series of the catalogue and every recorded one, as far as what it is made of says."""
    known = {name: found for page in pages for metric in page.metrics for name, found in _series(metric)}
    known |= {"up": RATIO, "ALERTS": RATIO, "ALERTS_FOR_STATE": SECONDS, "scrape_duration_seconds": SECONDS}
    known |= dict.fromkeys(("scrape_samples_scraped", "scrape_samples_post_metric_relabeling"), COUNT)
    known |= BY_A_NUMBER
    records = [rule for group in groups for rule in group.rules if isinstance(rule, Record)]
    for _ in range(len(records)):
        before = len(known)
        for rule in records:
            if rule.record not in known:
                try:
                    known[rule.record] = dimension(rule.expr, known)
                except Unlike:
                    continue
        if len(known) == before:
            break
    return known


def _series(metric: Metric) -> Iterable[tuple[str, Dimension]]:
    own = CATALOGUE[metric.unit]
    if own == COUNT and metric.type.value == "gauge" and metric.high == 1:
        own = RATIO
    yield metric.name, own
    yield f"{metric.name}_sum", own
    yield f"{metric.name}_count", COUNT
    yield f"{metric.name}_bucket", own


def dimension(expression: str, known: Mapping[str, Dimension]) -> Dimension:
    """Raises Unlike, with words, for what has none."""
    return _of(promql.parse(expression), known)


def _of(node: Any, known: Mapping[str, Dimension]) -> Dimension:  # noqa: ANN401  # untyped library
    kind = type(node).__name__
    if kind in ("ParenExpr", "UnaryExpr", "SubqueryExpr"):
        return _of(node.expr, known)
    if kind == "MatrixSelector":
        return _of(node.vector_selector, known)
    if kind == "NumberLiteral":
        return COUNT
    if kind == "VectorSelector":
        if node.name not in known:
            raise Unlike(f"nobody says what {node.name} is measured in")
        return known[node.name]
    if kind == "AggregateExpr":
        inner, operator = _of(node.expr, known), str(node.op)
        # A sum of shares, or of what is there or not, is how many there are.
        return COUNT if operator in ("count", "group", "count_values") or (operator, inner) == ("sum", RATIO) else inner
    return _call(node, known) if kind == "Call" else _binary(node, known)


def _call(node: Any, known: Mapping[str, Dimension]) -> Dimension:  # noqa: ANN401  # as above
    name = node.func.name
    if name in ("time", "timestamp"):
        return SECONDS
    if name in ("vector", "absent", "absent_over_time", "present_over_time", "count_over_time", "changes", "resets"):
        return COUNT
    if name == "histogram_quantile":
        # Buckets count; their borders are what is measured.
        return _of(_selector(node.args[1]), known)
    inner = _of(node.args[1 if name == "quantile_over_time" else 0], known)
    return inner.times(SECONDS, -1) if name in _PER_TIME else inner


def _selector(node: Any) -> Any:  # noqa: ANN401  # as above
    """The one series at the bottom."""
    while type(node).__name__ != "VectorSelector":
        node = node.args[0] if type(node).__name__ == "Call" else getattr(node, "vector_selector", None) or node.expr
    return node


def _binary(node: Any, known: Mapping[str, Dimension]) -> Dimension:  # noqa: ANN401  # as above
    operator = str(node.op)
    left, right = (_number(side) for side in (node.lhs, node.rhs))
    if operator in _AS_IS:
        return _of(node.lhs, known)
    if operator in ("*", "/") and right is not None:
        found = _of(node.lhs, known)
        factor = right if operator == "/" else (1 / right if right else Fraction(1))
        return replace(found, scale=found.scale * factor)
    if operator == "*" and left is not None:
        found = _of(node.rhs, known)
        return replace(found, scale=found.scale / left) if left else found
    one, other = _of(node.lhs, known), _of(node.rhs, known)
    if operator in ("*", "/"):
        return one.times(other, 1 if operator == "*" else -1)
    if left is not None or right is not None:
        return other if left is not None else one
    if (one.scale, one.bases) != (other.scale, other.bases):
        raise Unlike(f"{operator} of unlike quantities: {one} and {other}")
    return replace(one, ratio=one.ratio or other.ratio)


def _number(node: Any) -> Fraction | None:  # noqa: ANN401  # as above
    kind = type(node).__name__
    if kind == "ParenExpr":
        return _number(node.expr)
    return Fraction(str(node.val)) if kind == "NumberLiteral" else None
