"""The catalogue: one page per producer, in the order in which their scrape jobs are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.catalogue import (
    alertmanager,
    apiserver,
    cadvisor,
    dcgm,
    grafana,
    jaeger,
    kube_state_metrics,
    kubelet,
    node_exporter,
    object_store,
    otel_collector,
    prometheus,
    pushgateway,
    span_metrics,
    swanlab_clickhouse,
    swanlab_gate,
    swanlab_vector,
    victoria_logs,
)

if TYPE_CHECKING:
    from signals.catalogue.model import Producer

PRODUCERS: tuple[Producer, ...] = (
    prometheus.PRODUCER,
    apiserver.PRODUCER,
    kubelet.PRODUCER,
    cadvisor.PRODUCER,
    dcgm.PRODUCER,
    node_exporter.PRODUCER,
    kube_state_metrics.PRODUCER,
    kube_state_metrics.SELF,
    pushgateway.PRODUCER,
    alertmanager.PRODUCER,
    object_store.PRODUCER,
    swanlab_gate.PRODUCER,
    swanlab_vector.PRODUCER,
    swanlab_clickhouse.PRODUCER,
    otel_collector.AGENT,
    otel_collector.GATEWAY,
    span_metrics.PRODUCER,
    victoria_logs.PRODUCER,
    jaeger.PRODUCER,
    grafana.PRODUCER,
)


def producer(job: str) -> Producer:
    """The page of one scrape job. Raises KeyError naming the known jobs."""
    for page in PRODUCERS:
        if page.job == job:
            return page
    raise KeyError(f"no producer `{job}`; known are {', '.join(page.job for page in PRODUCERS)}")
