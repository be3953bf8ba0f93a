"""Incidents that can be played, how one is asked for, and which of them last."""

from __future__ import annotations

import itertools
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from sandbox.workloads.gpu.counters import EXPORTER, TYPES
from sandbox.workloads.gpu.exposition import LABEL_NAME, METRIC_NAME
from sandbox.workloads.gpu.fields import FIELDS
from sandbox.workloads.gpu.xids import XIDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

REASONS: Final = {"power": "power_cap", "thermal": "hw_thermal", "brake": "hw_power_brake"}
SCOPES: Final = ("exporter", "driver")
HOTTEST: Final = 120
LONGEST_DELAY: Final = 120.0


class IncidentError(ValueError):
    """What was asked for is no incident: which field, what is accepted."""


@dataclass(frozen=True)
class Option:
    """A field of a request: how it is read, and what it is when it is left out (... when it must be given)."""

    read: Callable[[Any], Any]
    default: Any
    accepted: str


def _integer(low: int, high: int) -> Callable[[Any], int]:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(value)
        return value

    return read


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LONGEST_DELAY:
        raise ValueError(value)
    return float(value)


def _one_of(*accepted: str) -> Callable[[Any], str]:
    def read(value: object) -> str:
        if value not in accepted:
            raise ValueError(value)
        return str(value)

    return read


def _matching(pattern: Any) -> Callable[[Any], str]:  # noqa: ANN401  a compiled pattern
    def read(value: object) -> str:
        if not isinstance(value, str) or not pattern.match(value):
            raise ValueError(value)
        return value

    return read


def _xid(value: object) -> int:
    if not isinstance(value, int) or value not in XIDS:
        raise ValueError(value)
    return value


_METRIC: Final = Option(_one_of(*FIELDS, *EXPORTER), "DCGM_FI_DEV_GPU_UTIL", "a metric that the simulator plays")
KINDS: Final[dict[str, dict[str, Option]]] = {
    "xid": {"code": Option(_xid, ..., f"one of {', '.join(map(str, XIDS))}")},
    "ecc_dbe": {"errors": Option(_integer(1, 1000), 1, "a whole number from 1 to 1000")},
    "row_remap_failure": {},
    "hot": {"celsius": Option(_integer(40, HOTTEST), 93, f"a whole number from 40 to {HOTTEST}")},
    "throttle": {"reason": Option(_one_of(*REASONS), "power", f"one of {', '.join(REASONS)}")},
    "gpu_lost": {},
    "frozen": {},
    "restart": {"scope": Option(_one_of(*SCOPES), "driver", f"one of {', '.join(SCOPES)}")},
    "empty_page": {},
    "slow": {"seconds": Option(_seconds, 20.0, f"seconds, over 0 and at most {LONGEST_DELAY:.0f}")},
    "down": {},
    "renamed_metric": {
        "metric": _METRIC,
        "name": Option(_matching(METRIC_NAME), "DCGM_FI_DEV_GPU_UTILIZATION", "a metric name"),
    },
    "renamed_label": {
        "label": Option(_matching(LABEL_NAME), "hostname", "a label name"),
        "name": Option(_matching(LABEL_NAME), "Hostname", "a label name"),
    },
    "out_of_range": {"metric": _METRIC},
    "wrong_type": {"metric": _METRIC, "type": Option(_one_of(*TYPES[:3]), "counter", ", ".join(TYPES[:3]))},
}
ONE_GPU: Final = ("xid", "ecc_dbe", "row_remap_failure", "hot", "throttle", "gpu_lost", "frozen")
MOMENTARY: Final = ("xid", "ecc_dbe", "restart")  # they happen; they do not last


@dataclass(frozen=True)
class Incident:
    """An incident. gpu: index, None for every GPU or the whole page. options: as in KINDS, defaults filled in."""

    number: int
    kind: str
    gpu: int | None
    options: Mapping[str, Any] = field(default_factory=dict)

    def concerns(self, index: int) -> bool:
        """Whether it is about this GPU."""
        return self.gpu is None or self.gpu == index

    def document(self) -> dict[str, Any]:
        """As the control interface shows it."""
        return {"id": self.number, "kind": self.kind, "gpu": self.gpu, **self.options}


def parse(request: object, indices: frozenset[int], number: int) -> Incident:
    """An incident from a JSON document. indices: GPUs that there are. Raises IncidentError."""
    if not isinstance(request, dict) or request.get("kind") not in KINDS:
        raise IncidentError(f'{request!r}: a document with "kind" is accepted, one of {", ".join(KINDS)}')
    kind = str(request["kind"])
    options = KINDS[kind]
    unknown = sorted(set(request) - {"kind", "gpu", *options})
    if unknown:
        raise IncidentError(
            f"{kind}: unknown field {unknown[0]!r}; accepted are {', '.join(['kind', 'gpu', *options])}"
        )
    gpu = request.get("gpu")
    if gpu is not None and (kind not in ONE_GPU or isinstance(gpu, bool) or gpu not in indices):
        known = ", ".join(map(str, sorted(indices))) or "none yet: the node offers no GPU"
        accepted = known if kind in ONE_GPU else "none: it concerns the whole page"
        raise IncidentError(f"{kind}: gpu {gpu!r}: accepted is {accepted}")
    return Incident(number, kind, gpu, {name: _option(kind, name, o, request) for name, o in options.items()})


def _option(kind: str, name: str, option: Option, request: Mapping[str, Any]) -> object:
    if name not in request:
        if option.default is ...:
            raise IncidentError(f"{kind}: {name} is missing: accepted is {option.accepted}")
        return option.default
    try:
        return option.read(request[name])
    except ValueError as error:
        raise IncidentError(f"{kind}: {name} {request[name]!r}: accepted is {option.accepted}") from error


class Board:
    """Incidents that last, until they are taken away."""

    def __init__(self) -> None:
        """Nothing is wrong."""
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._active: dict[int, Incident] = {}

    def number(self) -> int:
        """The next incident's number."""
        return next(self._numbers)

    def put(self, incident: Incident) -> None:
        """It lasts from now on."""
        with self._lock:
            self._active[incident.number] = incident

    def take(self, number: int | None) -> list[Incident]:
        """End one incident, or all of them with None; returns what ended."""
        with self._lock:
            gone = [i for n, i in self._active.items() if number in (None, n)]
            for incident in gone:
                del self._active[incident.number]
            return gone

    def active(self) -> list[Incident]:
        """What lasts, the oldest first."""
        with self._lock:
            return list(self._active.values())
