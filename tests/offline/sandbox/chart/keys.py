"""Every key of the official chart's values in its newest known shape, written out by hand from the facts."""

from __future__ import annotations

from typing import Final

_POD: Final = (
    *("fullnameOverride", "securityContext.enabled", "customLabels", "customAnnotations", "customPodLabels"),
    *("customPodAnnotations", "customTolerations", "customNodeSelector", "resources"),
    *("image.repository", "image.tag", "image.pullPolicy"),
)
_STORE: Final = ("persistence.storageClass", "persistence.storageSize", "persistence.existingClaim")
_SIDE: Final = ("ssl", "endpoint", "region", "port", "pathStyle", "bucket")

_PARTS: Final = {
    "gateway": (
        *(*_POD, "replicas", "identifyImage.repository", "identifyImage.tag", "identifyImage.pullPolicy"),
        *("service.type", "service.ports.web", "service.ports.internal", "service.ports.traefik"),
        "service.ports.metrics",
    ),
    "vector": (
        *(*_POD, "replicas", "sinks.bufferMaxSize", "persistence.storageClass", "persistence.storageSize"),
        "monitor.enable",
    ),
    "helper": ("image.repository", "image.tag", "image.pullPolicy"),
    "service.server": (*_POD, "replicas", "monitor.enable"),
    "service.auth": (*_POD, "replicas", "monitor.enable"),
    "service.house": (*_POD, "replicas", "monitor.enable"),
    "service.cloud": (*_POD, "replicas"),
    "service.next": (*_POD, "replicas"),
    "dependencies.postgres": (*_POD, *_STORE, "username", "password", "monitor.enable"),
    "dependencies.redis": (
        *(*_POD, *_STORE, "persistence.aof.enabled", "persistence.aof.appendFsync", "monitor.enable"),
    ),
    "dependencies.clickhouse": (*_POD, *_STORE, "username", "password", "monitor.enable"),
    "dependencies.s3": (
        *(*_POD, *_STORE, "accessKey", "secretKey", "mcImage.repository", "mcImage.tag", "mcImage.pullPolicy"),
    ),
    "integrations.postgres": ("enabled", "host", "port", "database", "existingSecret"),
    "integrations.redis": ("enabled", "host", "port", "database", "existingSecret"),
    "integrations.clickhouse": ("enabled", "host", "httpPort", "tcpPort", "database", "existingSecret"),
    "integrations.s3": ("enabled", "existingSecret"),
    "integrations.s3.public": (*_SIDE, "domain"),
    "integrations.s3.private": _SIDE,
}
OFFICIAL: Final = {
    *("nameOverride", "fullnameOverride", "global.imagePullSecrets", "global.clusterDomain"),
    *("global.podAntiAffinityPreset", "global.settings.host", "global.settings.limits.maxMetricsPerCopy"),
    *(f"{part}.{key}" for part, keys in _PARTS.items() for key in keys),
}
OURS: Final = {
    *("standIn.abortAfter", "standIn.flushSeconds"),
    *(f"dependencies.{store}.existingSecret" for store in ("postgres", "redis", "clickhouse", "s3")),
}
