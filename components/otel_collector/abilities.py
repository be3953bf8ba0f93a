"""What a collector's image can do beyond the common set, and what the configuration does with it.

The common set is what every image of the contributed collector has that this project was tried with: OTLP, container
logs, redaction, transformation, tail sampling, metrics of spans, file storage. The rest is asked for by name here, so
that an image is never told to start a component that it does not have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.errors import DeployError

if TYPE_CHECKING:
    from components.images import ImagePin
    from components.otel_collector.args import OtelCollectorArgs

LOAD_BALANCING: Final = "load_balancing"
K8S_ATTRIBUTES: Final = "k8sattributes"

MEANING: Final[dict[str, str]] = {
    LOAD_BALANCING: "agents send each trace to the replica of the gateway that its id names; more than one is possible",
    K8S_ATTRIBUTES: "agents ask the API server for the pod behind a connection and put its names on what it sends",
}
"""Ability → what the configuration gains by it."""

BUILT_HERE: Final = frozenset({LOAD_BALANCING})
"""Of the program that sandbox/programs builds."""
_UPSTREAM: Final[dict[str, frozenset[str]]] = {
    "docker.io/otel/opentelemetry-collector-contrib": frozenset({LOAD_BALANCING, K8S_ATTRIBUTES}),
    "otel/opentelemetry-collector-contrib": frozenset({LOAD_BALANCING, K8S_ATTRIBUTES}),
    "ghcr.io/open-telemetry/opentelemetry-collector-releases/opentelemetry-collector-contrib": frozenset(
        {LOAD_BALANCING, K8S_ATTRIBUTES}
    ),
}

UNPROVEN: Final[dict[str, str]] = {
    K8S_ATTRIBUTES: "rendered after its documentation; the program that is built here does not have it, so that no "
    "test could start it",
    f"{LOAD_BALANCING}: dns": "run with fixed addresses; the resolver that asks a headless Service was only validated",
}
"""Parts of a rendering that nobody here could run → why."""


def abilities_of(image: ImagePin) -> frozenset[str]:
    """Abilities of an image: of what is built here by its image id, else by its name. None for a name nobody knows."""
    if image.image_id is not None:
        return BUILT_HERE
    name = image.reference.partition("@")[0]
    path, _, last = name.rpartition("/")
    return _UPSTREAM.get(f"{path}/{last.partition(':')[0]}", frozenset())


def routes_by_trace(args: OtelCollectorArgs) -> bool:
    """Whether agents must choose the replica by trace id.

    Raises DeployError for more than one replica with an image that cannot: each would decide about a part of a trace.
    """
    if args.gateway.replicas == 1:
        return False
    if LOAD_BALANCING not in args.abilities:
        raise DeployError(
            f"otel-collector: gateway.replicas is {args.gateway.replicas}, and image {args.image.reference} is not "
            f"known to route by trace id, so that each replica would sample a part of a trace; accepted is 1, or an "
            f"image with the ability {LOAD_BALANCING} (components/otel_collector/abilities.py)."
        )
    return True
