"""Metrics under Vector's names.

Names and tags: vector.dev, "Internal metrics", and in 0.51 `lib/vector-buffers/src/internal_events.rs`. There, gauges
of a buffer are still called `buffer_events` and `buffer_byte_size`; later releases call them `buffer_size_events` and
so on.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prometheus_client.metrics_core import Metric

    from sandbox.swanlab_server.vector.buffer import Buffer

_COMPONENT: Final = ("component_id", "component_kind", "component_type")
_BUFFER: Final = (*_COMPONENT, "buffer_id", "buffer_type", "stage")


@dataclass(frozen=True)
class Component:
    """id: unique in the topology. kind: source, transform or sink. type: Vector's name of the component."""

    id: str
    kind: str
    type: str

    @property
    def labels(self) -> tuple[str, str, str]:
        """Values of the tags that every metric of a component has."""
        return self.id, self.kind, self.type


class Counters:
    """What happened to one component since the start. Safe to use from several threads."""

    def __init__(self, component: Component, *, bytes_as: str = "sent") -> None:
        """bytes_as: `sent` or `received`, whichever the component counts bytes of."""
        self.component = component
        self.bytes_as = bytes_as
        self._lock = threading.Lock()
        self._totals: Counter[str] = Counter()
        self._errors: Counter[tuple[str, str]] = Counter()

    def received(self, events: int, size: int = 0) -> None:
        """Events came in. size: bytes that they came in, where that is counted."""
        self._add(received=events, bytes=size)

    def sent(self, events: int, size: int = 0) -> None:
        """Events went out."""
        self._add(sent=events, bytes=size)

    def discarded(self, events: int, *, intentional: bool = False) -> None:
        """Events were dropped. intentional: by the topology, not by an error."""
        self._add(**{"dropped" if intentional else "lost": events})

    def error(self, kind: str, stage: str) -> None:
        """Something failed. kind, stage: Vector's words."""
        with self._lock:
            self._errors[kind, stage] += 1

    def totals(self) -> tuple[Counter[str], Counter[tuple[str, str]]]:
        """Copies of all figures."""
        with self._lock:
            return Counter(self._totals), Counter(self._errors)

    def _add(self, **amounts: int) -> None:
        with self._lock:
            self._totals.update(amounts)


class Exposition(Collector):
    """Collects the components and the buffers of the sinks."""

    def __init__(self, components: Sequence[Counters], buffers: Sequence[tuple[Component, Buffer]]) -> None:
        """buffers: each with the sink that it feeds."""
        self._components = components
        self._buffers = buffers
        self._started = time.time()

    def collect(self) -> Iterator[Metric]:
        """All families as they are now."""
        yield from self._of_components()
        yield from self._of_buffers()
        yield GaugeMetricFamily("vector_started_time_seconds", "Time when the process began.", self._started)
        yield GaugeMetricFamily("vector_uptime_seconds", "Age of the process.", time.time() - self._started)

    def _of_components(self) -> Iterator[Metric]:
        received = _counter("vector_component_received_events_total", "Events accepted.", _COMPONENT)
        sent = _counter("vector_component_sent_events_total", "Events passed on.", _COMPONENT)
        received_bytes = _counter("vector_component_received_bytes_total", "Bytes accepted.", _COMPONENT)
        sent_bytes = _counter("vector_component_sent_bytes_total", "Bytes passed on.", _COMPONENT)
        discarded = _counter("vector_component_discarded_events_total", "Events dropped.", (*_COMPONENT, "intentional"))
        errors = _counter("vector_component_errors_total", "Errors.", (*_COMPONENT, "error_type", "stage"))
        for counters in self._components:
            totals, failures = counters.totals()
            labels = counters.component.labels
            received.add_metric(labels, totals["received"])
            sent.add_metric(labels, totals["sent"])
            (received_bytes if counters.bytes_as == "received" else sent_bytes).add_metric(labels, totals["bytes"])
            discarded.add_metric((*labels, "false"), totals["lost"])
            discarded.add_metric((*labels, "true"), totals["dropped"])
            for (kind, stage), count in sorted(failures.items()):
                errors.add_metric((*labels, kind, stage), count)
        yield from (received, sent, received_bytes, sent_bytes, discarded, errors)

    def _of_buffers(self) -> Iterator[Metric]:
        events = GaugeMetricFamily("vector_buffer_events", "Events in the buffer.", labels=_BUFFER)
        size = GaugeMetricFamily("vector_buffer_byte_size", "Bytes in the buffer.", labels=_BUFFER)
        most = GaugeMetricFamily("vector_buffer_max_byte_size", "Bytes that the buffer may hold.", labels=_BUFFER)
        received = _counter("vector_buffer_received_events_total", "Events put into the buffer.", _BUFFER)
        received_bytes = _counter("vector_buffer_received_bytes_total", "Bytes put into the buffer.", _BUFFER)
        sent = _counter("vector_buffer_sent_events_total", "Events taken from the buffer.", _BUFFER)
        sent_bytes = _counter("vector_buffer_sent_bytes_total", "Bytes taken from the buffer.", _BUFFER)
        lost = _counter("vector_buffer_discarded_events_total", "Events lost to damage.", (*_BUFFER, "intentional"))
        errors = _counter("vector_buffer_errors_total", "Errors of the buffer.", (*_BUFFER, "error_type"))
        for component, buffer in self._buffers:
            totals = buffer.totals()
            labels = (*component.labels, component.id, "disk", "0")
            events.add_metric(labels, totals.held.events)
            size.add_metric(labels, totals.held.bytes)
            most.add_metric(labels, buffer.max_bytes)
            received.add_metric(labels, totals.received.events)
            received_bytes.add_metric(labels, totals.received.bytes)
            sent.add_metric(labels, totals.sent.events)
            sent_bytes.add_metric(labels, totals.sent.bytes)
            lost.add_metric((*labels, "false"), totals.lost.events)
            errors.add_metric((*labels, "reader_failed"), totals.errors)
        yield from (events, size, most, received, received_bytes, sent, sent_bytes, lost, errors)


def _counter(name: str, documentation: str, labels: Sequence[str]) -> CounterMetricFamily:
    return CounterMetricFamily(name, documentation, labels=labels)
