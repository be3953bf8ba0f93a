"""The counters file: what is exported, with which type and HELP. Read as dcgm-exporter 4.6.0-4.8.3 reads it.

Source: internal/pkg/counters/counter_config.go of that tag. Three comma-separated fields a line; a line starting with
`#` is a comment; spaces around fields do not count; a name that DCGM does not know is an error.
"""

from __future__ import annotations

import csv
import logging
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from sandbox.workloads.gpu.fields import FIELDS, LABELS

TYPES: Final = ("counter", "gauge", "untyped", "label")
COLUMNS: Final = 3
XID_COUNT, XID_TOTAL = "DCGM_EXP_XID_ERRORS_COUNT", "DCGM_EXP_XID_ERRORS_TOTAL"
CLOCK_COUNT, CLOCK_TOTAL = "DCGM_EXP_CLOCK_EVENTS_COUNT", "DCGM_EXP_CLOCK_EVENTS_TOTAL"
HEALTH, P2P = "DCGM_EXP_GPU_HEALTH_STATUS", "DCGM_EXP_P2P_STATUS"
EXPORTER: Final = (XID_COUNT, XID_TOTAL, CLOCK_COUNT, CLOCK_TOTAL, HEALTH, P2P)
log = logging.getLogger("dcgm-exporter")


class CountersError(Exception):
    """The counters file is not one: which line, what is accepted."""


@dataclass(frozen=True)
class Counter:
    """One exported family. kind: counter, gauge or untyped."""

    name: str
    kind: str
    help: str


@dataclass(frozen=True)
class Counters:
    """Families, and the DCGM fields that appear as labels on each of them."""

    families: tuple[Counter, ...]
    labels: tuple[str, ...]


@cache
def known_fields() -> frozenset[str]:
    """Every field name that DCGM 4.6 knows, played here or not (NVIDIA/go-dcgm v1.4611.0, const_fields.go)."""
    return frozenset((Path(__file__).parent / "dcgm_fields.txt").read_text().split())


def read(path: Path) -> Counters:
    """Parse a counters file. Raises CountersError."""
    try:
        text = path.read_text()
    except OSError as error:
        raise CountersError(f"Could not read metrics file '{path}'; err: {error.strerror}") from error
    return parse(text, str(path))


def parse(text: str, source: str) -> Counters:
    """Parse the text of a counters file. source: where it is from, for messages. Raises CountersError."""
    families: dict[str, Counter] = {}
    labels: dict[str, None] = {}
    for number, record in enumerate(_records(text, source)):
        name, kind, explanation = (part.strip(" ") for part in record)
        if kind not in TYPES:
            raise CountersError(
                f"{source}: unsupported Prometheus metric type {kind!r} of {name}; supported are {', '.join(TYPES)}"
            )
        if name not in known_fields() and name not in EXPORTER:
            raise CountersError(f"{source}: could not find DCGM field; err: unknown ExporterCounter field '{name}'")
        if kind == "label" and name in LABELS:
            labels[name] = None
        elif kind != "label" and (name in FIELDS or name in EXPORTER):
            families.setdefault(name, Counter(name, kind, explanation))
        else:
            log.warning("Skipping line %d ('%s'): metric not enabled", number, name)
    return Counters(tuple(families.values()), tuple(labels))


def _records(text: str, source: str) -> list[list[str]]:
    records = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        try:
            record = next(csv.reader([line], strict=True))
        except (csv.Error, StopIteration) as error:
            raise CountersError(f"{source}: line {number}: {error}") from error
        if any('"' in part and f'"{part}"' not in line.replace('""', '"') for part in record):
            raise CountersError(f"{source}: line {number}: a quote inside a field that does not start with one")
        if len(record) != COLUMNS:
            raise CountersError(
                f"{source}: line {number}: {len(record)} fields; expected 3 fields: DCGM field, type, help. "
                "A comma in the help needs quotes around it"
            )
        records.append(record)
    return records
