"""Relations between the settings for a Prometheus that a team already runs, and the rest of the stack."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stacks.fields import duration_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stacks.existing import ExistingPrometheus
    from stacks.settings import Settings

KEY = "plumbline:existing_prometheus"
_LABEL_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_RESERVED = ("app.kubernetes.io/", "kubernetes.io/", "pod-security.kubernetes.io/", "plumbline/")
_INTERVALS = ("5s", "2m")


def one_prometheus(settings: Settings) -> Iterator[str]:
    """Exactly one of both sections."""
    if settings.prometheus is None and settings.existing_prometheus is None:
        yield (
            f"missing setting plumbline:prometheus in stack {settings.stack}; accepted: that section for a Prometheus "
            f"of this stack, or {KEY} for one that runs already; fix: write one of them"
        )
    if settings.prometheus is not None and settings.existing_prometheus is not None:
        yield (
            f"stack {settings.stack} has both plumbline:prometheus and {KEY}, and every target would be scraped twice; "
            "accepted: one of them; fix: remove the other from the stack file"
        )


def attached(settings: Settings, wanted: ExistingPrometheus) -> Iterator[str]:
    """One sentence per broken relation of the section."""
    yield from _timing(wanted)
    yield from _labels("labels", wanted.labels)
    yield from _labels("namespace_labels", wanted.namespace_labels)
    if wanted.namespace == settings.namespace:
        yield (
            f"{KEY}.namespace is {wanted.namespace}, which this stack creates and owns; accepted: the namespace of the "
            "Prometheus that runs already; fix: name that one, or another plumbline:namespace"
        )
    for job in sorted({job for job in wanted.jobs if wanted.jobs.count(job) > 1}):
        yield f"{KEY}.jobs names {job} {wanted.jobs.count(job)} times; accepted: each job once; fix: remove one"
    if wanted.tells_our_alertmanager and settings.alertmanager.mode != "managed":
        yield (
            f"{KEY}.tells_our_alertmanager is true, and plumbline:alertmanager.mode is "
            f"`{settings.alertmanager.mode}`: this stack has no Alertmanager to tell; fix: mode `managed`, or false"
        )


def _timing(wanted: ExistingPrometheus) -> Iterator[str]:
    """Rules look at windows of five minutes, and a sample counts for as long: at least two must fall into it."""
    least, most = _INTERVALS
    if not duration_seconds(least) <= duration_seconds(wanted.interval) <= duration_seconds(most):
        yield (
            f"{KEY}.interval {wanted.interval} is not one that the rules are made for; accepted: {least} to {most}; "
            f"fix: pulumi config set --path '{KEY}.interval' 30s"
        )
    if duration_seconds(wanted.timeout) > duration_seconds(wanted.interval):
        yield (
            f"{KEY}.timeout {wanted.timeout} is longer than {KEY}.interval {wanted.interval}, and the operator leaves "
            "out such a monitor; accepted: at most the interval; fix: a shorter timeout"
        )


def _labels(name: str, labels: dict[str, str]) -> Iterator[str]:
    for key in sorted(labels):
        if not _LABEL_KEY.fullmatch(key):
            yield f"{KEY}.{name} has the key `{key}`; accepted: the name of a label, `release` or `example.org/team`"
        elif key.startswith(_RESERVED):
            yield (
                f"{KEY}.{name} has the key `{key}`, whose value this stack or Kubernetes itself decides; accepted: "
                "labels of your own; fix: let the Prometheus select by another label"
            )
