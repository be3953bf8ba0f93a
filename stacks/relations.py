"""Relations between settings: each value is right by itself, together they cannot work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacks import (
    grafana_relations,
    object_store_relations,
    recovery_relations,
    swanlab_relations,
    telemetry_relations,
)
from stacks.consistency import inconsistent
from stacks.existing_relations import attached, one_prometheus
from stacks.fields import duration_seconds, quantity_bytes, quantity_value, size_bytes
from stacks.root_secret import one_root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stacks.settings import Prometheus, Settings

_MAX_SHARE_OF_VOLUME = 0.8
_MIN_RETENTION = "2h"
_MIN_RETENTION_SIZE = "100MB"
_INTERVALS = ("5s", "2m")


def broken(settings: Settings) -> list[str]:
    """One sentence per broken relation: both values, the rule, and what to change."""
    return [
        *_not_filled_in(settings),
        *_images(settings),
        *_durable(settings),
        *one_prometheus(settings),
        *(_managed(settings.prometheus) if settings.prometheus else ()),
        *(attached(settings, settings.existing_prometheus) if settings.existing_prometheus else ()),
        *inconsistent(settings),
        *object_store_relations.broken(settings),
        *swanlab_relations.broken(settings),
        *recovery_relations.broken(settings),
        *telemetry_relations.broken(settings),
        *grafana_relations.broken(settings),
        *one_root(settings),
    ]


def _not_filled_in(settings: Settings) -> Iterator[str]:
    """A stack whose images are built here gets its cluster from here as well."""
    local = settings.images.source == "file"
    missing = [
        key
        for key, value in (
            ("plumbline:cluster.context", settings.cluster.context),
            ("plumbline:images.path", settings.images.path if local else "not needed"),
        )
        if value is None
    ]
    if missing and local:
        yield (
            f"stack {settings.stack} lacks {' and '.join(missing)}: run `make up`, which starts the embedded cluster, "
            "builds the images and fills these in; by hand: `make env`, then `pulumi up` in the shell it describes"
        )
    elif missing:
        yield (
            "missing setting plumbline:cluster.context: no stack uses whatever context is current; accepted: a name "
            "that `kubectl config get-contexts -o name` prints; "
            "fix: pulumi config set --path 'plumbline:cluster.context' <name>"
        )


def _images(settings: Settings) -> Iterator[str]:
    if settings.images.source == "upstream" and settings.images.path is not None:
        yield (
            "plumbline:images.path is for images that are built here, but plumbline:images.source is `upstream`; fix: "
            "pulumi config rm --path 'plumbline:images.path', or set the source to `file`"
        )
    if settings.images.source == "file" and settings.images.mirror is not None:
        yield (
            "plumbline:images.mirror is for upstream images, but plumbline:images.source is `file`; fix: "
            "pulumi config rm --path 'plumbline:images.mirror', or set the source to `upstream`"
        )


def _durable(settings: Settings) -> Iterator[str]:
    """The uid of whichever cluster answers proves nothing, so a durable stack must name its own beforehand."""
    if settings.profile == "durable" and settings.cluster.uid is None:
        context = settings.cluster.context or "<context>"
        yield (
            "missing setting plumbline:cluster.uid: a durable stack must name its cluster; read it with `kubectl "
            f"--context {context} get namespace kube-system -o jsonpath='{{.metadata.uid}}'`; "
            "fix: pulumi config set --path 'plumbline:cluster.uid' <uid>"
        )


def _managed(wanted: Prometheus) -> Iterator[str]:
    yield from _retention(wanted)
    yield from _scraping(wanted)
    yield from _memory(wanted)
    yield from _stores(wanted)


def _retention(wanted: Prometheus) -> Iterator[str]:
    size, volume = size_bytes(wanted.retention_size), quantity_bytes(wanted.volume)
    if size > _MAX_SHARE_OF_VOLUME * volume:
        most = int(_MAX_SHARE_OF_VOLUME * volume) // 1024**2
        yield (
            f"plumbline:prometheus.retention_size {wanted.retention_size} ({size} bytes) is {size / volume:.0%} of "
            f"plumbline:prometheus.volume {wanted.volume} ({volume} bytes): the write-ahead log and compaction need "
            f"the rest, and a full volume stops ingestion; accepted: at most 80 %, here {most}MB; fix: a smaller "
            "retention_size or a larger volume"
        )
    if size < size_bytes(_MIN_RETENTION_SIZE):
        yield (
            f"plumbline:prometheus.retention_size {wanted.retention_size} holds no block of storage, so that every one "
            f"is deleted when it is written; accepted: at least {_MIN_RETENTION_SIZE}; fix: "
            "pulumi config set --path 'plumbline:prometheus.retention_size' 3GB"
        )
    if duration_seconds(wanted.retention) < duration_seconds(_MIN_RETENTION):
        yield (
            f"plumbline:prometheus.retention {wanted.retention} is shorter than a block of storage; accepted: at least "
            f"{_MIN_RETENTION}; fix: pulumi config set --path 'plumbline:prometheus.retention' 15d"
        )


def _scraping(wanted: Prometheus) -> Iterator[str]:
    """Rules look at windows of five minutes, and a sample counts for as long: at least two must fall into it."""
    least, most = _INTERVALS
    if not duration_seconds(least) <= duration_seconds(wanted.scrape_interval) <= duration_seconds(most):
        yield (
            f"plumbline:prometheus.scrape_interval {wanted.scrape_interval} is not one that the rules are made for; "
            f"accepted: {least} to {most}; fix: pulumi config set --path 'plumbline:prometheus.scrape_interval' 30s"
        )
    if duration_seconds(wanted.scrape_timeout) > duration_seconds(wanted.scrape_interval):
        yield (
            f"plumbline:prometheus.scrape_timeout {wanted.scrape_timeout} is longer than "
            f"plumbline:prometheus.scrape_interval {wanted.scrape_interval}, which Prometheus refuses; accepted: at "
            "most the interval; fix: a shorter scrape_timeout"
        )


def _memory(wanted: Prometheus) -> Iterator[str]:
    resources = wanted.resources
    pairs = [("memory", resources.requests.memory, resources.limits.memory)]
    if resources.limits.cpu is not None:
        pairs.append(("cpu", resources.requests.cpu, resources.limits.cpu))
    for what, request, limit in pairs:
        if quantity_value(request) > quantity_value(limit):
            yield (
                f"plumbline:prometheus.resources.requests.{what} {request} is more than limits.{what} {limit}, which "
                "Kubernetes refuses; accepted: at most the limit; fix: a smaller request or a larger limit"
            )


def _stores(wanted: Prometheus) -> Iterator[str]:
    names = [store.name for store in wanted.remote_write]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield (
            f"plumbline:prometheus.remote_write has {names.count(name)} stores named `{name}`; accepted: unique names; "
            "fix: rename one in the stack file"
        )
