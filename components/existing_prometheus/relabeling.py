"""The same relabelling as the native configuration has, in the spelling of the operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.scrape import metric_relabels, target_relabels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from components.existing_prometheus.args import ExistingPrometheusArgs
    from components.objects import Manifest
    from components.scrape import ScrapeJob

FIELDS: Final[dict[str, str]] = {
    "source_labels": "sourceLabels",
    "separator": "separator",
    "target_label": "targetLabel",
    "regex": "regex",
    "modulus": "modulus",
    "replacement": "replacement",
    "action": "action",
}
"""Field of a native rule → field of the operator's. Both have the same defaults."""

_OWN: Final = ("job", "instance")


def spelt(rules: Iterable[Manifest]) -> list[Manifest]:
    """Native relabelling rules as the operator spells them. Raises KeyError for a field that it does not have."""
    return [{FIELDS[key]: value for key, value in rule.items()} for rule in rules]


def relabelings(args: ExistingPrometheusArgs, job: ScrapeJob, before: Iterable[Manifest] = ()) -> list[Manifest]:
    """What is done to a target's labels. before: native rules that choose targets.

    The operator names a job after the monitor and adds labels of the exporter's own pod, and a Prometheus may add more.
    Where the producer's labels win, those would say of every series without a pod that it belongs to the exporter's.
    So the job gets its name back, and what the catalogue does not promise is taken off at the end.
    """
    promised = (*_OWN, *job.page.target_labels)
    return spelt(
        [
            *before,
            {"target_label": "job", "replacement": job.page.job},
            *target_relabels(job, args.cluster, args.environment),
            {"regex": f"__.+|{'|'.join(promised)}", "action": "labelkeep"},
        ]
    )


def metric_relabelings(job: ScrapeJob) -> list[Manifest]:
    """What is done to the series of a scrape."""
    return spelt(metric_relabels(job.page))
