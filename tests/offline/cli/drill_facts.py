"""Facts of the stack that tests drill, and the steps of a drill in their order."""

from __future__ import annotations

import base64
from typing import Any, Final

Json = dict[str, Any]
API_KEY: Final = base64.b64encode(b"canary-of-the-api-key").decode()
READER_KEY: Final = base64.b64encode(b"canary-of-the-reader").decode()
CANARIES: Final = ("canary-of-the-api-key", "canary-of-the-reader", API_KEY, READER_KEY)
POINT: Final = "20261130T100000Z-0a1b2c3d"
NEW = "plumbline-drill"
CONFIG: Final[Json] = {
    "encryptionsalt": "v1:salt",
    "config": {
        "plumbline:profile": "throwaway",
        "plumbline:namespace": "plumbline",
        "plumbline:cluster": {"name": "local", "kubeconfig": "/k/config"},
        "plumbline:images": {"source": "file"},
        "plumbline:sizing": {"nodes": 1},
        "plumbline:recovery": {"mode": "managed", "target": {"own": {"volume": "4Gi"}}},
        "plumbline:swanlab": {"mode": "managed"},
    },
}

OBJECTS: Final[dict[tuple[str, str | None, str], Json]] = {
    ("namespace", None, "plumbline"): {},
    ("namespace", None, "plumbline-swanlab"): {},
    ("namespace", None, "plumbline-recovery"): {},
    ("statefulset", "plumbline", "object-store"): {},
    ("persistentvolumeclaim", "plumbline", "object-store"): {},
    ("service", "plumbline-recovery", "recovery-store"): {
        "spec": {"selector": {"a": "store"}, "ports": [{"port": 8333, "targetPort": 8333}]}
    },
    ("secret", "plumbline-recovery", "recovery-reader"): {
        "data": {"accessKey": "cmVhZGVy", "secretKey": READER_KEY},
        "type": "Opaque",
    },
}
SERVER: Final = ("deployment", "plumbline-swanlab", "swanlab-server")
LOGIN: Final = ("secret", "plumbline-swanlab", "swanlab-api-key")

BEFORE = ["write", "lead", "create plumbline-swanlab", "verify plumbline-recovery", "live", "end of writer"]
UP = ["apply Namespace", "apply Secret", "apply NetworkPolicy", "up drill"]
RESTORE = [
    "restore plumbline-drill-swanlab",
    "promote plumbline-drill-swanlab",
    "rollout plumbline-drill-swanlab",
    "judge",
]
DOWN = [
    "destroy drill",
    *(f"delete namespace {NEW}{part}" for part in ("", "-swanlab", "-recovery")),
    "delete networkpolicy plumbline-drill",
    "stack rm drill",
]
PLAIN = [*BEFORE, *UP, *RESTORE, *DOWN, "clean", "smoke"]
DISASTER = [
    "delete statefulset object-store",
    "delete persistentvolumeclaim object-store",
    "delete namespace plumbline-swanlab",
]
BACK = ["apply Namespace Secret", "up local"]
REBORN = [
    "hold recovery-create",
    "restore plumbline-swanlab",
    "promote plumbline-swanlab",
    "rollout plumbline-swanlab",
    "let go recovery-create",
    "apply Namespace Secret",
    "judge",
]
KEEP = ["apply Secret"]
DESTROYING = [
    *BEFORE[:4],
    *KEEP,
    *BEFORE[4:],
    *DISASTER,
    *BACK,
    *REBORN,
    "confirm plumbline-swanlab",
    "clean",
    "smoke",
]
AFTER_DISASTER = [*DISASTER, *BACK, *REBORN[:5], "judge"]


def contract(namespace: str = "plumbline") -> Json:
    """Of a stack, as far as a drill reads it."""
    lab, own = f"{namespace}-swanlab", f"{namespace}-recovery"
    account = {"namespace": own, "name": "recovery-reader"}
    places = {"create": lab, "verify": own, "prune": own, "restore": lab}
    jobs = {word: {"namespace": where, "name": f"recovery-{word}"} for word, where in places.items()}
    workload = {"kind": "Deployment", "name": "swanlab-server"}
    return {
        "namespace": namespace,
        "cluster": {"context": "plumbline-local"},
        "components": {
            "swanlab": {"namespace": lab, "workloads": [workload]},
            "object-store": {
                "workloads": [{"kind": "StatefulSet", "name": "object-store"}],
                "claims": [{"name": "object-store"}],
            },
            "recovery": {"endpoints": {"http": {"service": "recovery-store", "port": 8333}}},
        },
        "experiments": {
            "login": {"namespace": lab, "name": "swanlab-api-key", "key": "api-key"},
            "stores": {
                **{name: {"mode": "chart", "place": f"claim-{name}"} for name in ("postgres", "clickhouse", "redis")},
                "s3": {"mode": "external", "place": f"object-store.{namespace}.svc:8333/private,public"},
            },
        },
        "object_store": {"buckets": [{"name": "private"}, {"name": "public"}]},
        "recovery": {
            "namespace": own,
            "jobs": jobs,
            "own": True,
            "target": "http://recovery-store.plumbline-recovery.svc:8333",
            "bucket": "recovery",
            "region": "us-east-1",
            "reader_access": {**account, "key": "accessKey"},
            "reader_secret": {**account, "key": "secretKey"},
            "rpo_seconds": 28800,
            "rto_seconds": 1800,
        },
    }


def judgement() -> Json:
    """Of a restored SwanLab that is green."""
    figures = {f"{what}_{part}": 5 for what in ("values", "media") for part in ("acknowledged", "equal")}
    figures |= {f"{what}_{part}": 3 for what in ("values", "media") for part in ("expected_before_point", "lost")}
    return {"verdict": "green", "reasons": [], "login": True, "old_key": True, "rpo_seconds": 42.5, **figures}
