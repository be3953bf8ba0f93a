"""Kubernetes quantities and the resource names that come with them."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from sandbox.workloads.kube_state_metrics.labels import sanitise
from sandbox.workloads.kube_state_metrics.model import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sandbox.workloads.kube_state_metrics.model import Object

_QUANTITY: Final = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]?|[eE][+-]?\d+)")
_BINARY: Final = {unit: Fraction(1024) ** power for power, unit in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)}
_DECIMAL: Final = {
    **{unit: Fraction(1000) ** power for power, unit in enumerate(("", "k", "M", "G", "T", "P", "E"))},
    **{unit: Fraction(1, 1000) ** power for power, unit in enumerate(("m", "u", "n"), 1)},
}
_LARGEST: Final = 2**63 - 1
_LARGEST_MILLI: Final = _LARGEST // 1000
_PART: Final = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_DNS: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
_DNS_LONGEST: Final = 253
_BYTES: Final = ("storage", "ephemeral-storage", "memory")
_QUOTA_PREFIX: Final = "requests."


def exact(quantity: str) -> Fraction:
    """What a quantity says, exactly. Raises ValueError for what Kubernetes does not accept."""
    found = _QUANTITY.fullmatch(str(quantity))
    if found is None:
        raise ValueError(
            f"{quantity!r} is no Kubernetes quantity; accepted are numbers with n, u, m, k, Ki … E, Ei or e"
        )
    number, suffix = Fraction(found[1]), found[2]
    if suffix in _BINARY:
        return number * _BINARY[suffix]
    return number * (_DECIMAL[suffix] if suffix in _DECIMAL else Fraction(10) ** int(suffix[1:]))


def whole(quantity: str) -> float:
    """`Quantity.Value()`: rounded away from zero to an integer, no larger than an int64."""
    return float(_away(exact(quantity)))


def milli(quantity: str) -> float:
    """Upstream's `convertValueToFloat64`: thousandths, but whole numbers where thousandths would overflow an int64."""
    value = exact(quantity)
    return float(_away(value)) if _away(value) > _LARGEST_MILLI else float(_away(value * 1000)) / 1000


def _away(value: Fraction) -> int:
    rounded = math.ceil(abs(value))
    return max(-_LARGEST, min(_LARGEST, rounded if value >= 0 else -rounded))


def unit(name: str) -> str | None:
    """`core`, `byte` or `integer` for a resource of a container, None for one that upstream does not expose."""
    if name == "cpu":
        return "core"
    if name in _BYTES or name.startswith(("hugepages-", "attachable-volumes-")):
        return "byte"
    return "integer" if is_extended(name) else None


def is_extended(name: str) -> bool:
    """Whether this is a resource of a vendor, such as `nvidia.com/gpu`: under a domain that is not Kubernetes'."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith(_QUOTA_PREFIX):
        return False
    domain, _, rest = f"{_QUOTA_PREFIX}{name}".partition("/")
    return bool(len(domain) <= _DNS_LONGEST and _DNS.fullmatch(domain) and _PART.fullmatch(rest))


def amounts(
    resources: Object,
    labels: tuple[tuple[str, str], ...],
    units: Callable[[str], str | None],
    convert: Callable[[str, str], float],
) -> Iterator[Sample]:
    """One sample per resource that has a unit, by name.

    units: resource → unit, or None for a resource that is not exposed. convert: (resource, quantity) → value.
    """
    for name, quantity in sorted(resources.items()):
        kind = units(name)
        if kind is not None:
            yield Sample(convert(name, quantity), (*labels, ("resource", sanitise(name)), ("unit", kind)))
