"""Arguments of SwanLab for tests: all stores of its own as on stack local, and all of them elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from components.images import ImagePin
from components.secrets import Generated
from components.swanlab.args import (
    Bucket,
    Buffer,
    Chart,
    Environment,
    ExternalClickHouse,
    ExternalPostgres,
    ExternalRedis,
    ExternalS3,
    OwnStore,
    Replicas,
    StoreKeys,
    SwanlabArgs,
)
from components.swanlab.names import IMAGES

PINS: Final = {
    role: ImagePin(reference=f"registry.example.org/{role}:1.0", image_id="sha256:" + "a" * 64) for role in IMAGES
}


def _image(*keys: str) -> dict[str, Any]:
    return {"image": {"repository": "r", "tag": "t", "pullPolicy": "IfNotPresent"}, **dict.fromkeys(keys, "")}


def _pod() -> dict[str, Any]:
    free: dict[str, Any] = {"customPodAnnotations": {}, "customLabels": {}, "resources": {}}
    return {**_image("fullnameOverride"), "securityContext": {"enabled": False}, "replicas": 2, **free}


def _claim() -> dict[str, Any]:
    return {"storageClass": "", "storageSize": "10Gi", "existingClaim": ""}


def _store(*keys: str) -> dict[str, Any]:
    found = {**_pod(), **dict.fromkeys(keys, ""), "persistence": _claim(), "monitor": {"enable": False}}
    del found["replicas"]
    return found


_BUCKET: Final = {"ssl": True, "endpoint": "", "region": "", "port": 443, "pathStyle": True, "bucket": ""}
_ELSEWHERE: Final = {"enabled": False, "host": "", "database": "app", "existingSecret": ""}

KNOWN: Final[dict[str, Any]] = {
    "nameOverride": "",
    "fullnameOverride": "",
    "global": {
        "imagePullSecrets": [],
        "clusterDomain": "cluster.local",
        "podAntiAffinityPreset": "soft",
        "settings": {"host": "", "limits": {"maxMetricsPerCopy": 20000}},
    },
    "gateway": {**_pod(), "identifyImage": _image()["image"], "service": {"type": "ClusterIP", "ports": {"web": 80}}},
    "vector": {
        **_pod(),
        "sinks": {"bufferMaxSize": 1},
        "persistence": {"storageClass": "", "storageSize": "40Gi"},
        "monitor": {"enable": False},
    },
    "helper": _image(),
    "service": {
        name: {**_pod(), "monitor": {"enable": False}} for name in ("server", "auth", "house", "cloud", "next")
    },
    "dependencies": {
        "postgres": _store("username", "password"),
        "redis": {**_store(), "persistence": {**_claim(), "aof": {"enabled": False, "appendFsync": "everysec"}}},
        "clickhouse": _store("username", "password"),
        "s3": {**_store("accessKey", "secretKey"), "mcImage": _image()["image"]},
    },
    "integrations": {
        "postgres": {**_ELSEWHERE, "port": 5432},
        "redis": {**_ELSEWHERE, "port": 6379},
        "clickhouse": {**_ELSEWHERE, "httpPort": 8123, "tcpPort": 9000},
        "s3": {"enabled": False, "public": {**_BUCKET, "domain": ""}, "private": _BUCKET, "existingSecret": ""},
    },
}
"""Keys of the vendor's chart: SwanHubX/charts, charts/self-hosted/values.yaml at 75882fd."""

LOGIN: Final = {"postgres": "pg-login", "redis": "redis-login", "clickhouse": "ch-login", "s3": "s3-login"}
"""Store → existing Secret."""

PUBLIC: Final = Bucket(
    endpoint="10.203.0.1", port=30833, bucket="swanlab-public", ssl=False, region="us-east-1", path_style=True
)
PRIVATE: Final = Bucket(
    endpoint="object-store.plumbline.svc",
    port=8333,
    bucket="swanlab-private",
    ssl=False,
    region="us-east-1",
    path_style=True,
)


def local() -> SwanlabArgs:
    """As on stack local: PostgreSQL, Redis, ClickHouse and buffer by the chart, S3 of the stack's own object store."""
    return SwanlabArgs(
        stack="local",
        instance="plumbline",
        namespace="plumbline-swanlab",
        chart=Chart(version="0.6.2", path="/charts/self-hosted", takes_secrets=True),
        images={role: pin for role, pin in PINS.items() if role not in ("swanlab-s3", "swanlab-mc")},
        host="http://swanlab-self-hosted.plumbline-swanlab.svc",
        public_host=None,
        postgres=OwnStore(volume="1Gi"),
        redis=OwnStore(volume="256Mi"),
        clickhouse=OwnStore(volume="2Gi"),
        s3=ExternalS3(
            public=PUBLIC,
            private=PRIVATE,
            credentials=StoreKeys(access_key="swanlab", secret_key=Generated(role="object-store-swanlab")),
        ),
        buffer=Buffer(replicas=1, volume="1Gi", max_size="256Mi"),
        scraped_from="plumbline",
        storage_class=None,
        network_policies=True,
        durable=False,
        size="small",
        replicas=Replicas(server=1, house=1),
        environment=(Environment(namespace="training", project="llm"), Environment(namespace="plumbline-sandbox")),
    )


def whole() -> SwanlabArgs:
    """A durable stack whose stores are all run by the vendor's chart, which takes no Secret for them."""
    return replace(
        local(),
        stack="prod",
        chart=Chart(version="0.6.2", repository="https://charts.example.org", pull_secrets=("registry-login",)),
        images=dict(PINS),
        public_host="https://swanlab.example.org",
        postgres=OwnStore(volume="100Gi", generation=2),
        redis=OwnStore(volume="50Gi"),
        clickhouse=OwnStore(volume="1000Gi", generation=3),
        s3=OwnStore(volume="1000Gi"),
        buffer=Buffer(replicas=2, volume="60Gi", max_size="10Gi"),
        storage_class="fast",
        durable=True,
        size="standard",
        replicas=Replicas(),
        environment=(),
    )


def elsewhere() -> SwanlabArgs:
    """A durable stack whose stores all run elsewhere, but the buffer, which cannot."""
    return replace(
        whole(),
        images={role: pin for role, pin in PINS.items() if IMAGES[role][0] != "dependencies"},
        postgres=ExternalPostgres(host="pg.example.org", port=5432, database="app", secret=LOGIN["postgres"]),
        redis=ExternalRedis(host="redis.example.org", port=6379, database=2, secret=LOGIN["redis"]),
        clickhouse=ExternalClickHouse(
            host="ch.example.org", http_port=8123, tcp_port=9000, database="app", secret=LOGIN["clickhouse"]
        ),
        s3=ExternalS3(
            public=replace(PUBLIC, endpoint="s3.example.org", port=443, ssl=True, domain="https://media.example.org"),
            private=replace(PRIVATE, endpoint="s3.example.org", port=443, ssl=True),
            credentials=LOGIN["s3"],
        ),
    )
