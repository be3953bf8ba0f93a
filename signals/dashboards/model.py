"""The shape of a dashboard: what its panels ask, in which unit, and when nothing is a right answer.

Grafana's JSON, the checks of every query against the catalogue, the smoke suite and the report are made of these
records. A query may use the variables of its board (`$cluster`), `$__rate_interval` and `$__range`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

PROMETHEUS: Final = "plumbline-prometheus"
ALERTMANAGER: Final = "plumbline-alertmanager"
LOGS: Final = "plumbline-victorialogs"
TRACES: Final = "plumbline-jaeger"
"""Uids of datasources. A changed uid would stop the rest of a provisioning file from being read, so none ever is."""

WIDTH: Final = 24
"""Columns of a board."""
_LABELS: Final = re.compile(r"\{\{\s*\w+\s*\}\}")


class Kind(StrEnum):
    """How a panel draws what it asked for, in Grafana's words."""

    STAT = "stat"
    TIMESERIES = "timeseries"
    TABLE = "table"
    BARS = "bargauge"
    LOGS = "logs"


class Unit(StrEnum):
    """Units of values as they are asked for, in Grafana's words."""

    COUNT = "short"
    RATIO = "percentunit"
    SECONDS = "s"
    DAYS = "d"
    BYTES = "bytes"
    BYTES_PER_SECOND = "binBps"
    PER_SECOND = "reqps"
    CELSIUS = "celsius"
    WATTS = "watt"
    JOULES_PER_SECOND = "watt"
    TIMESTAMP = "dateTimeFromNow"
    YES_OR_NO = "bool_yes_no"
    TEXT = "string"


class Good(StrEnum):
    """Which way a value is good."""

    LOW = "low"
    HIGH = "high"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Where a value's colour changes, in the unit of the panel. bad: None if there is one step alone,
    and equal to `warn` if that step is to the worst.
    """

    warn: float
    bad: float | None = None
    good: Good = Good.LOW


@dataclass(frozen=True, kw_only=True)
class Query:
    """One question.

    legend: template over the labels of the answer. instant: the last value alone; else the board's whole time.
    datasource: uid. empty: as of a panel, where this question alone waits for an event.
    """

    expr: str
    legend: str = ""
    instant: bool = False
    datasource: str = PROMETHEUS
    empty: str = ""

    @property
    def line(self) -> str:
        """What tells it from others of its panel: the legend's words without labels; else the expression."""
        return _LABELS.sub("", self.legend).strip(" :,") or self.spelt

    @property
    def spelt(self) -> str:
        """The expression on one line."""
        return " ".join(self.expr.split())


@dataclass(frozen=True, kw_only=True)
class Annotation:
    """Marks in time on every drawing of a board. expr: a mark wherever it has a value. text: over its labels."""

    title: str
    expr: str
    text: str
    colour: str


@dataclass(frozen=True, kw_only=True)
class Link:
    """url: may use variables of the board, and `${__field.labels.x}` on a panel."""

    title: str
    url: str


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One drawing.

    title: unique on its board. meaning: what it tells and what to do when it is bad, for whoever looks at it at night.
    empty: the event without which it has nothing to show, as in the catalogue; empty if it always has. width: of WIDTH
    columns. height: rows of about 30 pixels. high: of the scale, where there is a greatest value.
    """

    title: str
    kind: Kind
    unit: Unit
    meaning: str
    queries: tuple[Query, ...]
    limits: Limits | None = None
    links: tuple[Link, ...] = ()
    empty: str = ""
    width: int = 6
    height: int = 7
    decimals: int | None = None
    high: float | None = None

    def which(self, query: Query) -> str:
        """Words behind what is said of one of its queries; none where it has no other."""
        return f" for {query.line}" if len(self.queries) > 1 else ""

    @property
    def nothing(self) -> str:
        """What it says when it has nothing to show: a bare event would read as if it had happened."""
        if not self.empty or self.empty.startswith(("no ", "nothing ")):
            return self.empty
        return f"nothing until {self.empty}"


@dataclass(frozen=True, kw_only=True)
class Row:
    """Panels beneath one heading, from left to right. needs: jobs without which there are none of them."""

    title: str
    panels: tuple[Panel, ...]
    needs: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Variable:
    """A choice at the top of a board.

    series: whose label of this name gives the choices. label: for people. empty: see Panel. all_at_once: the board
    begins with all of them; else with the first, where a line for each device of all would be too many to draw.
    """

    name: str
    label: str
    series: str
    empty: str = ""
    all_at_once: bool = True


@dataclass(frozen=True, kw_only=True)
class Board:
    """One dashboard. uid: never changes, since people keep its address. needs: jobs without which there is none."""

    uid: str
    title: str
    meaning: str
    rows: tuple[Row, ...]
    variables: tuple[Variable, ...]
    needs: frozenset[str] = frozenset()
    annotations: tuple[Annotation, ...] = ()

    @property
    def panels(self) -> tuple[Panel, ...]:
        """All of them, row by row."""
        return tuple(panel for row in self.rows for panel in row.panels)
