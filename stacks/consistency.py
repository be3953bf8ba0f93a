"""Relations between settings of exporters and alerting: each value is right by itself, together they cannot work."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from components.dcgm_exporter.names import NAME as GPU_JOB
from signals.budget import samples_per_scrape
from signals.catalogue.labels import WORKLOAD_IDENTITY
from signals.routing import RECEIVERS
from stacks.fields import duration_seconds
from stacks.scraping import pages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stacks.alerting import Webhook
    from stacks.exporters import DcgmExporter, KubeStateMetrics, NodeExporter
    from stacks.settings import Settings

_INTERVALS = ("1s", "5m")
_LABEL_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")


def inconsistent(settings: Settings) -> list[str]:
    """One sentence per broken relation: the values, the rule, and what to change."""
    return [
        *_existing(settings),
        *_gpus(settings),
        *_alertmanager(settings),
        *_webhooks(settings),
        *_workload_labels(settings),
        *_limits(settings),
        *_sizing(settings),
    ]


def _existing(settings: Settings) -> Iterator[str]:
    sections: dict[str, DcgmExporter | NodeExporter | KubeStateMetrics] = {
        "dcgm_exporter": settings.dcgm_exporter,
        "node_exporter": settings.node_exporter,
        "kube_state_metrics": settings.kube_state_metrics,
    }
    for name, section in sections.items():
        if (section.mode == "existing") != (section.existing is not None):
            yield (
                f"plumbline:{name}.mode is `{section.mode}` and plumbline:{name}.existing is "
                f"{'set' if section.existing else 'missing'}; accepted: both or neither; fix: give the pods that are "
                "there (namespace, labels, port), or another mode"
            )


def _gpus(settings: Settings) -> Iterator[str]:
    wanted = settings.dcgm_exporter
    low, high = (duration_seconds(text) for text in _INTERVALS)
    if not low <= duration_seconds(wanted.interval) <= high:
        yield (
            f"plumbline:dcgm_exporter.interval {wanted.interval}: accepted are {_INTERVALS[0]} to {_INTERVALS[1]}; "
            "fix: pulumi config set --path 'plumbline:dcgm_exporter.interval' 30s"
        )
    if wanted.mode == "simulated" and settings.images.source == "upstream":
        yield (
            "plumbline:dcgm_exporter.mode is `simulated`, and the simulator is built for the embedded cluster alone "
            "(plumbline:images.source is `upstream`); fix: mode `managed`, `existing` or `off`"
        )
    if wanted.mode == "simulated" and settings.profile == "durable":
        yield (
            "plumbline:dcgm_exporter.mode is `simulated` on a durable stack: invented values would be kept as real "
            "ones; fix: mode `managed`, `existing` or `off`"
        )
    if wanted.may_be_empty and (wanted.targets or wanted.mode not in ("managed", "existing")):
        yield (
            f"plumbline:dcgm_exporter.may_be_empty is true, and plumbline:dcgm_exporter "
            f"{'names targets' if wanted.targets else f'has mode `{wanted.mode}`'}: there is a target always or never; "
            "accepted: mode `managed` or `existing` without targets; fix: remove the key"
        )
    elif wanted.may_be_empty and settings.kube_state_metrics.mode == "off":
        yield (
            "plumbline:dcgm_exporter.may_be_empty is true, and plumbline:kube_state_metrics.mode is `off`: nothing "
            "tells an empty pool from a lost exporter; accepted: mode `managed` or `existing` there; fix: that, or "
            "remove the key"
        )
    nodes = [target.node for target in wanted.targets]
    for node in sorted({node for node in nodes if nodes.count(node) > 1}):
        yield f"plumbline:dcgm_exporter.targets names node {node} twice; accepted: each node once; fix: remove one"


def _alertmanager(settings: Settings) -> Iterator[str]:
    wanted = settings.alertmanager
    if wanted.mode == "managed":
        silent = [name for name in RECEIVERS if not getattr(wanted.receivers, name)]
        if silent:
            yield (
                f"plumbline:alertmanager.receivers has nobody for {', '.join(silent)}, so such an alert would reach "
                "no one; accepted: at least one webhook each; fix: add them, or plumbline:alertmanager.mode `off`"
            )
    if settings.existing_prometheus is not None and wanted.existing:
        yield (
            f"plumbline:alertmanager.existing has {len(wanted.existing)} addresses, and a Prometheus that runs already "
            "(plumbline:existing_prometheus) has addresses of its own; accepted: none; fix: remove them"
        )
    elif settings.existing_prometheus is None and (wanted.mode == "existing") != bool(wanted.existing):
        yield (
            f"plumbline:alertmanager.mode is `{wanted.mode}` and plumbline:alertmanager.existing has "
            f"{len(wanted.existing)} addresses; accepted: at least one for `existing`, none otherwise; fix: correct one"
        )
    if wanted.sink is not None and wanted.mode != "managed":
        yield (
            f"plumbline:alertmanager.sink is set and plumbline:alertmanager.mode is `{wanted.mode}`; accepted: a sink "
            "for `managed`, whose receivers this stack knows; fix: remove one"
        )


def _webhooks(settings: Settings) -> Iterator[str]:
    for name in RECEIVERS:
        hooks: tuple[Webhook, ...] = getattr(settings.alertmanager.receivers, name)
        for number, hook in enumerate(hooks):
            if (hook.url is None) == (hook.url_secret is None):
                yield (
                    f"plumbline:alertmanager.receivers.{name}[{number}] has "
                    f"{'no address' if hook.url is None else 'two addresses'}; accepted: url or url_secret, exactly one"
                )


def _workload_labels(settings: Settings) -> Iterator[str]:
    known = settings.workload_labels
    for key in sorted(set(known) - set(WORKLOAD_IDENTITY)):
        yield (
            f"plumbline:workload_labels.{key} is no identity of a workload; accepted: {', '.join(WORKLOAD_IDENTITY)}; "
            "fix: remove it"
        )
    for key, label in sorted(known.items()):
        if not _LABEL_KEY.fullmatch(label):
            yield f"plumbline:workload_labels.{key} is `{label}`; accepted: the name of a pod label, `example.org/team`"
    twice = sorted({label for label in known.values() if list(known.values()).count(label) > 1})
    for label in twice:
        yield f"plumbline:workload_labels gives `{label}` to two identities; accepted: each pod label once"


def _limits(settings: Settings) -> Iterator[str]:
    """A limit below what is planned for would throw away healthy scrapes."""
    section = "prometheus" if settings.existing_prometheus is None else "existing_prometheus"
    for page in pages(settings):
        planned = samples_per_scrape(page, settings.sizing)
        if settings.limits.samples < planned / 2:
            yield (
                f"plumbline:{section}.limits.samples {settings.limits.samples} is far below the {planned} "
                f"samples that plumbline:sizing plans for one scrape of {page.job}; such a scrape would be thrown away "
                "whole; fix: raise the limit, or correct the sizing"
            )


def _sizing(settings: Settings) -> Iterator[str]:
    """To Prometheus a limit of 0 samples is none, and the first series would pass a budget of 0."""
    sizing = settings.sizing
    measured = any(page.job == GPU_JOB for page in pages(settings))
    if measured and settings.dcgm_exporter.virtual_gpus and sizing.pods_per_gpu == 1:
        yield (
            "plumbline:dcgm_exporter.virtual_gpus is true and plumbline:sizing.pods_per_gpu is 1: each pod on a shared "
            "GPU has series of its own, and a scrape with more than are planned for is thrown away whole; accepted: as "
            "many pods as share a GPU; fix: pulumi config set --path 'plumbline:sizing.pods_per_gpu' 4, or "
            "plumbline:dcgm_exporter.virtual_gpus false"
        )
    for key, value in (("gpu_nodes", sizing.gpu_nodes), ("gpus_per_node", sizing.gpus_per_node)):
        if measured and value == 0:
            yield (
                f"plumbline:sizing.{key} is 0, and plumbline:dcgm_exporter.mode `{settings.dcgm_exporter.mode}` "
                "measures GPUs; accepted: as many as are expected, nodes outside the cluster included; fix: pulumi "
                f"config set --path 'plumbline:sizing.{key}' 8, or plumbline:dcgm_exporter.mode `off`"
            )
