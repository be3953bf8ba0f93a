"""Arguments of a collector as the tests use it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from components.images import ImagePin
from components.otel_collector.abilities import BUILT_HERE
from components.otel_collector.args import Agent, Backend, Gateway, OtelCollectorArgs, Redaction, Sampling
from components.prometheus.args import Resources

MIB: Final = 2**20
RESOURCES: Final = Resources(cpu_request="100m", memory_request="128Mi", cpu_limit="1", memory_limit="512Mi")
LOGS: Final = Backend(
    protocol="http",
    endpoint="http://victoria-logs.obs.svc:9428/insert/opentelemetry/v1/logs",
    headers={"VL-Stream-Fields": "k8s.namespace.name,k8s.pod.name,k8s.container.name"},
)
TRACES: Final = Backend(protocol="grpc", endpoint="jaeger.obs.svc:4317")
ARGS: Final = OtelCollectorArgs(
    stack="local",
    namespace="obs",
    node_namespace="obs-node",
    image=ImagePin(reference="registry.example/otel-collector:0.165.1"),
    abilities=BUILT_HERE,
    cluster="here",
    environment="testing",
    lowest_level="INFO",
    identity=("team", "workload", "job_id", "run_id"),
    agent=Agent(
        directory="/var/lib/plumbline/otel-agent",
        queue_bytes=64 * MIB,
        memory_bytes=256 * MIB,
        resources=RESOURCES,
        tolerations=(),
    ),
    gateway=Gateway(
        replicas=1,
        volume="1Gi",
        volume_bytes=1024 * MIB,
        queue_bytes=128 * MIB,
        memory_bytes=512 * MIB,
        resources=RESOURCES,
    ),
    sampling=Sampling(
        keep_percent=1.0,
        slow_ms=5000,
        decision_wait_seconds=10,
        decision_wait_after_root_seconds=4,
        traces_in_memory=20_000,
        tenants={"vision": 50.0},
    ),
    redaction=Redaction(),
    logs=LOGS,
    traces=TRACES,
    scrape_interval_seconds=30,
    storage_class=None,
    network_policies=True,
)


def args(**changes: Any) -> OtelCollectorArgs:  # noqa: ANN401  # any of its fields
    """ARGS with changes."""
    return replace(ARGS, **changes)
