"""Names of SwanLab's objects, labels and ports: shared by its manifests, the outputs contract and the checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.naming import labels, selector_labels, swanlab_namespace_name
from components.swanlab.args import OwnStore

if TYPE_CHECKING:
    from components.swanlab.args import Store

NAME: Final = "swanlab"
CHART: Final = "self-hosted"
RELEASE: Final = "swanlab-self-hosted"
"""Pinned: names of Services, claims and Secrets of the chart follow from it."""

SERVICES: Final = ("gateway", "server", "auth", "house", "cloud", "next")
"""Programs without state of their own, by their label `app.kubernetes.io/service`."""
BUFFER: Final = "vector"
STORES: Final = ("postgres", "redis", "clickhouse", "s3")

GATEWAY_SERVICE: Final = RELEASE
GATEWAY_PORT: Final = 80
PORTS: Final[dict[str, int]] = {
    "gateway": GATEWAY_PORT,
    "server": 3000,
    "auth": 3000,
    "house": 3000,
    "next": 80,
    "cloud": 80,
    "vector": 8686,
    "postgres": 5432,
    "redis": 6379,
    "clickhouse": 8123,
    "s3": 9000,
}
"""Port of each Service."""
METRICS_PORTS: Final[dict[str, int]] = {
    "gateway": 9100,
    "server": 3000,
    "auth": 3000,
    "house": 3000,
    "vector": 9090,
    "clickhouse": 9363,
}
"""Port of the pods that serves /metrics; the others have none."""

CLAIMS: Final[dict[str, str]] = {
    "postgres": "swanlab-postgres-pvc",
    "redis": "swanlab-redis-pvc",
    "clickhouse": "swanlab-clickhouse-pvc",
    "s3": "swanlab-minio-pvc",
}
"""Claim of each store that the chart runs, made by us."""
DATA_PATHS: Final[dict[str, str]] = {
    "postgres": "/var/lib/postgresql/data",
    "redis": "/data",
    "clickhouse": "/var/lib/clickhouse",
    "s3": "/data",
    "vector": "/data",
}
SECRETS: Final[dict[str, str]] = {store: f"swanlab-{store}" for store in STORES}
SECRET_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "postgres": ("username", "password", "primaryUrl", "replicaUrl"),
    "redis": ("url",),
    "clickhouse": ("username", "password"),
    "s3": ("accessKey", "secretKey"),
}
"""Store → keys of its Secret, as the chart reads them."""
USERNAME: Final = "swanlab"
DATABASE: Final = "app"
"""The buffer writes to the ClickHouse database of this name, whatever the values say."""

CHART_BUCKETS: Final[dict[str, str]] = {"private": "swanlab-private", "public": "swanlab-public"}
"""Side → bucket that the chart makes in an S3 of its own."""

API_KEY_SECRET: Final = "swanlab-api-key"  # noqa: S105  # the name of an object
API_KEY_KEY: Final = "api-key"
ENVIRONMENT: Final = "swanlab-environment"
"""ConfigMap that a training pod mounts with `envFrom`."""
ROTATION: Final = "swanlab-postgres-rotation"
PLACES: Final = "swanlab-stores"
"""ConfigMap with the place of each store, retained like the data: a changed place would start empty."""
GATE: Final = "swanlab-gate"
"""`app.kubernetes.io/name` of the readiness gate's pods, in SwanLab's namespace."""

IMAGES: Final[dict[str, tuple[str, ...]]] = {
    "swanlab-gateway": ("gateway", "image"),
    "swanlab-identify": ("gateway", "identifyImage"),
    "swanlab-helper": ("helper", "image"),
    "swanlab-vector": ("vector", "image"),
    "swanlab-server": ("service", "server", "image"),
    "swanlab-auth": ("service", "auth", "image"),
    "swanlab-house": ("service", "house", "image"),
    "swanlab-cloud": ("service", "cloud", "image"),
    "swanlab-next": ("service", "next", "image"),
    "swanlab-postgres": ("dependencies", "postgres", "image"),
    "swanlab-redis": ("dependencies", "redis", "image"),
    "swanlab-clickhouse": ("dependencies", "clickhouse", "image"),
    "swanlab-s3": ("dependencies", "s3", "image"),
    "swanlab-mc": ("dependencies", "s3", "mcImage"),
}
"""Role of an image → where the chart's values name it."""


def service_name(program: str) -> str:
    """Name of a program's Service, and of its Deployment or StatefulSet: they are the same."""
    return RELEASE if program == "gateway" else f"{RELEASE}-{program}"


def in_cluster_host(instance: str) -> str:
    """Address of the gateway for pods of the cluster. instance: the stack's namespace."""
    return f"http://{GATEWAY_SERVICE}.{swanlab_namespace_name(instance)}.svc"


def buffer_claims(replicas: int) -> tuple[str, ...]:
    """Claims of the delivery buffer. The StatefulSet takes a claim of such a name instead of making one."""
    return tuple(f"data-{RELEASE}-{BUFFER}-{number}" for number in range(replicas))


def place(store: str, made: Store) -> str:
    """Where a store is: the claim that the chart runs it on, or an address with port and database or buckets."""
    return CLAIMS[store] if isinstance(made, OwnStore) else made.place


def pods(program: str) -> dict[str, str]:
    """Labels that select the pods of one program of the chart."""
    return {"app.kubernetes.io/instance": RELEASE, "app.kubernetes.io/service": program}


def all_pods() -> dict[str, str]:
    """Labels that select every pod of the chart."""
    return {"app.kubernetes.io/instance": RELEASE}


def gate_pods() -> dict[str, str]:
    """Labels that select the pods of the readiness gate."""
    return {"app.kubernetes.io/name": GATE}


def rotation_pods(instance: str) -> dict[str, str]:
    """Labels that select the pods that rotate a password. instance: the stack's namespace."""
    return selector_labels(ROTATION, instance)


def object_labels(instance: str, version: str | None = None) -> dict[str, str]:
    """Labels of every object that is made here, not by the chart. instance: the stack's namespace."""
    return labels(NAME, instance, "experiments", version)
