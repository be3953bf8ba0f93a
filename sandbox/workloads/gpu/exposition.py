"""Prometheus text as dcgm-exporter 4.6.0-4.8.3 writes it.

Source: internal/pkg/rendermetrics/render_metrics.go of that tag, which hands its families to prometheus/common's
expfmt: families by name, samples by label signature, values in the shortest form that reads back the same.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

METRIC_NAME: Final = re.compile(r"^[a-zA-Z_:][a-zA-Z0-9_:]*$")
LABEL_NAME: Final = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_]*$")
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_SMALL, _LARGE = 1e-4, 1e6  # between them numbers are written without an exponent


class RenderError(Exception):
    """A family that the exporter would refuse: it then answers 500 for the whole page."""


@dataclass(frozen=True)
class Labels:
    """A label set. text: as on the page. signature: by which samples of a family are ordered and told apart."""

    text: str
    signature: str


@dataclass
class Family:
    """A metric family. samples: label set and value."""

    name: str
    kind: str
    help: str
    samples: list[tuple[Labels, float]]


def labels(pairs: Sequence[tuple[str, str]]) -> Labels:
    """A label set in the given order. Raises RenderError for names that are invalid or appear twice."""
    seen: set[str] = set()
    for name, _ in pairs:
        if not LABEL_NAME.match(name):
            raise RenderError(f"invalid Prometheus label name {name!r}")
        if name.startswith("__"):
            raise RenderError(f"reserved Prometheus label name {name!r}")
        if name in seen:
            raise RenderError(f"duplicate label name {name!r}")
        seen.add(name)
    text = ",".join(f'{name}="{escape(value, quote=True)}"' for name, value in pairs)
    signature = "".join(f"{len(name.encode())}:{name}={len(value.encode())}:{value};" for name, value in sorted(pairs))
    return Labels(text, signature)


def escape(value: str, *, quote: bool) -> str:
    """Backslashes and line breaks, in label values quotes too."""
    value = value.replace("\\", r"\\").replace("\n", r"\n")
    return value.replace('"', r"\"") if quote else value


def number(value: float) -> str:
    """A value as Go's strconv writes it with format g and the shortest precision."""
    if _SMALL <= abs(value) < _LARGE:
        text = repr(float(value))
        return text.removesuffix(".0")
    if value == 0:
        return "0"
    mantissa, _, exponent = f"{Decimal(repr(float(value))).normalize():e}".partition("e")
    return f"{mantissa}e{exponent[0]}{exponent[1:].zfill(2)}"


def render(families: Iterable[Family]) -> str:
    """The page. Families without samples are left out. Raises RenderError."""
    parts: list[str] = []
    for family in sorted((f for f in families if f.samples), key=lambda f: f.name):
        if not METRIC_NAME.match(family.name):
            raise RenderError(f"invalid Prometheus metric name {family.name!r}")
        samples = sorted(family.samples, key=lambda s: s[0].signature)
        for (left, _), (right, _) in itertools.pairwise(samples):
            if left.signature == right.signature:
                raise RenderError(f"metric family {family.name!r} has duplicate sample labels {left.signature}")
        parts.append(f"# HELP {family.name} {escape(family.help, quote=False)}\n# TYPE {family.name} {family.kind}\n")
        parts += [f"{family.name}{{{item.text}}} {number(value)}\n" for item, value in samples]
    return "".join(parts)
