"""The exposition format, byte for byte as upstream writes it."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.workloads.kube_state_metrics.model import Family, Object, Resource

_PLAIN: Final = range(-4, 6)
"""Decimal exponents that Go's shortest `%g` writes without `e`."""
_ESCAPES: Final = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})

TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"
_OPEN_METRICS: Final = "application/openmetrics-text"
_OPEN_METRICS_VERSIONS: Final = ("", "0.0.1", "1.0.0")
_TEXT_VERSIONS: Final = ("", "0.0.4")
_ESCAPINGS: Final = ("allow-utf-8", "underscores", "dots", "values")


def number(value: float) -> str:
    """A value as Go's `strconv.AppendFloat(…, 'g', -1, 64)` writes it: `3e+08`, `0.2`, `123456`, `1.501569018e+09`."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "0"
    shortest = Decimal(repr(value)).normalize()
    if shortest.adjusted() in _PLAIN:
        return f"{shortest:f}"
    sign, digits, _ = shortest.as_tuple()
    figures, exponent = "".join(map(str, digits)), shortest.adjusted()
    rest = f".{figures[1:]}" if len(figures) > 1 else ""
    return f"{'-' if sign else ''}{figures[0]}{rest}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def line(name: str, labels: Sequence[tuple[str, str]], value: float) -> str:
    """One series with its line end."""
    pairs = ",".join(f'{key}="{text.translate(_ESCAPES)}"' for key, text in labels)
    return f"{name}{{{pairs}}} {number(value)}\n" if pairs else f"{name} {number(value)}\n"


def header(family: Family) -> str:
    """HELP and TYPE of a family; what upstream promises to keep is marked in its HELP."""
    promise = "[STABLE] " if family.stable else ""
    return f"# HELP {family.name} {promise}{family.help}\n# TYPE {family.name} {family.type}\n"


def series(resource: Resource, family: Family, obj: Object) -> str:
    """All series of one family for one object, led by the labels that name the object."""
    metadata = obj.get("metadata") or {}
    identity = [(label, str(metadata.get(field) or "")) for label, field in resource.identity]
    return "".join(line(family.name, (*identity, *sample.labels), sample.value) for sample in family.samples(obj))


def negotiate(accept: str) -> str:
    """Content type for an Accept header: OpenMetrics to whom asks for it first, the classic text to all others.

    Follows `NegotiateIncludingOpenMetrics` of github.com/prometheus/common v0.67.5; like upstream it answers with the
    classic text where that would choose protobuf.
    """
    escaping = "underscores"
    for media, parameters in _by_preference(accept):
        escaping = parameters["escaping"] if parameters.get("escaping") in _ESCAPINGS else escaping
        version = parameters.get("version", "")
        if media == _OPEN_METRICS and version in _OPEN_METRICS_VERSIONS:
            return f"{_OPEN_METRICS}; version={version or '0.0.1'}; charset=utf-8; escaping={escaping}"
        if (media == "text/plain" and version in _TEXT_VERSIONS) or _is_protobuf(media, parameters):
            return TEXT
    return TEXT


def is_open_metrics(content_type: str) -> bool:
    """Whether a body of this type ends with `# EOF`."""
    return content_type.startswith(_OPEN_METRICS)


def _is_protobuf(media: str, parameters: dict[str, str]) -> bool:
    return (
        media == "application/vnd.google.protobuf"
        and parameters.get("proto") == "io.prometheus.client.MetricFamily"
        and parameters.get("encoding") in {"delimited", "text", "compact-text"}
    )


def _by_preference(accept: str) -> list[tuple[str, dict[str, str]]]:
    """Media ranges of an Accept header, the most wanted first; equals keep their order."""
    found: list[tuple[float, str, dict[str, str]]] = []
    for part in accept.split(","):
        media, *rest = (piece.strip() for piece in part.split(";"))
        parameters = {key.strip(): value.strip().strip('"') for key, _, value in (p.partition("=") for p in rest)}
        try:
            weight = float(parameters.get("q", "1"))
        except ValueError:
            weight = 0.0
        found.append((weight, media.lower(), parameters))
    return [(media, parameters) for _, media, parameters in sorted(found, key=lambda item: -item[0])]
