"""The pod that runs one replica of the gateway."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.fixed_config import volume
from components.otel_collector.containers import container
from components.otel_collector.gateway_config import header_variables
from components.otel_collector.names import (
    CONFIG_PATH,
    GATEWAY,
    GATEWAY_CONFIG,
    GATEWAY_FILES,
    PORTS,
    QUEUE_PATH,
    SPAN_METRICS_PORT,
    SPAN_METRICS_PORT_NAME,
    claim_name,
)
from components.pods import restricted_pod

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.objects import Manifest
    from components.otel_collector.args import OtelCollectorArgs

_FLUSH_SECONDS: Final = 30
"""For what was decided to reach the queue on the claim. Who is asked to stop decides at once, but without room for
another trace it first lets in what it holds up, as decisions make room: within the wait for them."""


def gateway_pod(args: OtelCollectorArgs, replica: int, revision: str) -> Manifest:
    """The spec of the pod template. Who is asked to stop decides over every trace in memory, and writes it down."""
    return {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": args.sampling.decision_wait_seconds + _FLUSH_SECONDS,
        "securityContext": restricted_pod(),
        "containers": [_container(args)],
        "volumes": [
            volume(GATEWAY_CONFIG, revision),
            {"name": "queue", "persistentVolumeClaim": {"claimName": claim_name(replica)}},
        ],
    }


def _container(args: OtelCollectorArgs) -> Manifest:
    return container(
        GATEWAY,
        args.image,
        args.gateway,
        files=GATEWAY_FILES,
        ports={**PORTS, SPAN_METRICS_PORT_NAME: SPAN_METRICS_PORT},
        mounts=[
            {"name": "config", "mountPath": CONFIG_PATH, "readOnly": True},
            {"name": "queue", "mountPath": QUEUE_PATH},
        ],
        environment=list(_headers(args)),
    )


def _headers(args: OtelCollectorArgs) -> Iterator[Manifest]:
    """Secret headers of the backends. A changed Secret is read when the pod starts again, and not before."""
    for signal, backend in args.backends.items():
        for variable, key in header_variables(signal, backend).items():
            reference = {"name": backend.headers_secret, "key": key}
            yield {"name": variable, "valueFrom": {"secretKeyRef": reference}}
