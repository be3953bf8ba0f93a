"""The text format in which a program exposes its own metrics, as far as smoke reads it."""

from __future__ import annotations

import re
from dataclasses import dataclass

SAMPLE = re.compile(r"^(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>.*)\})?\s+(?P<value>\S+)(?:\s+-?\d+)?$")
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Sample:
    """One exposed sample."""

    name: str
    labels: dict[str, str]
    value: float


def parse(text: str) -> list[Sample]:
    """All samples of a page in text format; comments are left out.

    Raises ValueError on a line that is neither, because a page that cannot be read proves nothing.
    """
    samples = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        found = SAMPLE.match(line)
        if not found:
            raise ValueError(f"not a line of the text format: {line[:80]!r}")
        labels = dict(LABEL.findall(found["labels"] or ""))
        samples.append(Sample(found["name"], labels, float(found["value"])))
    return samples


def values(samples: list[Sample], name: str) -> list[float]:
    """The values of all series of this name."""
    return [sample.value for sample in samples if sample.name == name]
