"""Settings of the stack that a drill brings up: what SwanLab needs of the source, on stores that are its own.

Nothing of it may point at a store of the source: what is restored here replaces what the stores hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

Json = dict[str, Any]
STACK: Final = "drill"
SUFFIX: Final = "-drill"
READER, WRITER, PRUNER = "drill-reader", "drill-writer", "drill-pruner"
OBJECT_STORE, S3_PORT = "object-store", 8333
NODE_PORTS: Final = range(30000, 32768)
_KEPT: Final = (
    "cluster",
    "images",
    "storage",
    "secrets",
    "kubelet",
    "network",
    "sizing",
    "thresholds",
    "workload_labels",
)
_OF_SWANLAB: Final = ("mode", "size", "chart", "sdk", "sdk_image", "gate_image", "api_key", "licence")
_OF_RECOVERY: Final = ("mode", "image", "retention", "rto", "cross_check", "scratch")
_OF_OBJECT_STORE: Final = ("mode", "volume", "buckets")
_PROGRAMS: Final = ("gateway", "server", "auth", "house", "cloud", "next")
_OFF: Final = ("dcgm_exporter", "node_exporter", "kube_state_metrics", "alertmanager")
_LONG: Final = "400d"
"""More than a year, which a schedule that comes once a year lets pass."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """Where the source's restore points are: address of S3 with scheme, bucket in it, region of signatures."""

    endpoint: str
    bucket: str
    region: str


def namespaces(source: str) -> dict[str, str]:
    """Namespaces of the drill's stack by what is in them. source: namespace of the source's stack."""
    own = f"{source}{SUFFIX}"
    return {"stack": own, "swanlab": f"{own}-swanlab", "recovery": f"{own}-recovery"}


def derived(source: Mapping[str, Any], target: Target, taken: Set[int], now: datetime | None = None) -> Json:
    """`config` of the drill's stack file.

    source: that of the source's. taken: node ports of the cluster that are in use. Raises SandboxError for a source
    whose objects cannot be put elsewhere.
    """
    own = namespaces(source["plumbline:namespace"])["stack"]
    found = {key: value for key, value in source.items() if not key.startswith("plumbline:")}
    found |= {key: source[key] for name in _KEPT if (key := f"plumbline:{name}") in source}
    lab, store = source.get("plumbline:swanlab") or {}, source.get("plumbline:object_store") or {}
    s3, object_store = _objects(lab, store, source["plumbline:namespace"], taken)
    return found | {
        "plumbline:profile": "throwaway",
        "plumbline:namespace": own,
        "plumbline:prometheus": _prometheus(source),
        "plumbline:pushgateway": {"volume": "256Mi"},
        **{f"plumbline:{name}": {"mode": "off"} for name in _OFF},
        "plumbline:object_store": object_store,
        "plumbline:swanlab": _swanlab(lab, s3),
        "plumbline:recovery": _recovery(source.get("plumbline:recovery") or {}, target, now or datetime.now(UTC)),
    }


def _prometheus(source: Mapping[str, Any]) -> Json:
    """A small one: a stack has one, and nobody asks this one."""
    known = source.get("plumbline:prometheus") or source.get("plumbline:existing_prometheus") or {}
    resources = {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "1Gi"}}
    limits = {"limits": known["limits"]} if "limits" in known else {}
    return {"retention": "1d", "retention_size": "500MB", "volume": "1Gi", "resources": resources, **limits}


def _swanlab(source: Mapping[str, Any], s3: Json) -> Json:
    """By the same chart. Each store is run by it, also where the source's is elsewhere; nobody else is let in."""
    stores, buffer = source.get("stores") or {}, source.get("buffer") or {}
    found = {key: source[key] for key in _OF_SWANLAB if key in source}
    return found | {
        "stores": {
            **{name: _rotated(stores.get(name) or {}) for name in ("postgres", "clickhouse")},
            "redis": _own(stores.get("redis") or {}),  # it has no password
            "s3": s3,
        },
        "buffer": {"replicas": 1, **{key: buffer[key] for key in ("volume", "max_size") if key in buffer}},
        "replicas": dict.fromkeys(_PROGRAMS, 1),
    }


def _own(store: Mapping[str, Any]) -> Json:
    """As large as the source's, and by the chart. Addresses, Secrets and generations stay behind."""
    return {"mode": "chart", **{key: store[key] for key in ("volume",) if key in store}}


def _rotated(store: Mapping[str, Any]) -> Json:
    """The same under another password."""
    return _own(store) | {"generation": _next(store)}


def _next(store: Mapping[str, Any]) -> int:
    """Generation of another password: both follow from one root secret, and a restore has to work under another."""
    return int(store.get("generation", 1)) + 1


def _objects(lab: Mapping[str, Any], store: Mapping[str, Any], source: str, taken: Set[int]) -> tuple[Json, Json]:
    """Settings of SwanLab's S3, and of the object store."""
    s3 = (lab.get("stores") or {}).get("s3") or {}
    if s3.get("mode", "chart") == "chart" or s3.get("secret") is not None:
        return _rotated(s3), {"mode": "off"}
    own = {key: store[key] for key in _OF_OBJECT_STORE if key in store}
    own["generation"] = _next(store)
    port = store.get("node_port")
    if port is not None:
        own["node_port"] = _free(int(port), taken)
    here = {int(port): own["node_port"]} if port is not None else {}
    sides = {side: _bucket(side, s3[side], source, here) for side in ("private", "public")}
    return {"mode": "external", **sides}, own


def _bucket(side: str, wanted: Mapping[str, Any], source: str, node_ports: Mapping[int, int]) -> Json:
    """The same bucket at the drill's own object store."""
    host, port = str(wanted["endpoint"]), int(wanted.get("port", 443))
    short = f"{OBJECT_STORE}.{source}"
    if host in (short, f"{short}.svc", f"{short}.svc.cluster.local"):
        return {**wanted, "endpoint": host.replace(short, f"{short}{SUFFIX}", 1)}
    if port in node_ports and "domain" not in wanted:
        return {**wanted, "port": node_ports[port]}
    raise SandboxError(
        f"plumbline:swanlab.stores.s3.{side} is at {host}:{port}, which is neither the Service nor the node port of "
        "the object store of this stack, so a drill cannot tell the address of one of its own",
        "name one of them there, or bring points back by hand (docs/recovery.md)",
    )


def _free(port: int, taken: Set[int]) -> int:
    """The next node port that nobody has."""
    after = [*range(port + 1, NODE_PORTS.stop), *range(NODE_PORTS.start, port)]
    free: int | None = next((one for one in after if one not in taken), None)
    if free is None:
        raise SandboxError("every node port of the cluster is in use", "free one, then drill again")
    return free


def _recovery(source: Mapping[str, Any], target: Target, now: datetime) -> Json:
    """Reads the source's points and makes none: its schedules come once a year, and half a year from now."""
    never = f"0 0 1 {(now.month + 5) % 12 + 1} *"
    secrets = {"writer_secret": WRITER, "reader_secret": READER, "pruner_secret": PRUNER}
    place = {"endpoint": target.endpoint, "bucket": target.bucket, "region": target.region}
    found = {key: source[key] for key in _OF_RECOVERY if key in source}
    return found | {
        "target": {"external": place | secrets},
        "schedule": dict.fromkeys(("create", "verify", "prune"), never),
        "rpo": _LONG,
        "gate_max_age": _LONG,
    }
