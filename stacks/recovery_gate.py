"""Asked before SwanLab's pins change, and only asked: is there a way back that was tried, and tried recently.

A server migrates its schema forwards alone. What runs is read from the API server, and so is when a restore point was
last made and last restored and found equal: both are moments that the cluster wrote down, not the settings' word.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from components.errors import DeployError
from components.naming import recovery_namespace_name
from components.recovery.names import CREATE, VERIFY
from components.swanlab.names import BUFFER, CHART, RELEASE, SERVICES, STORES, service_name
from stacks.fields import duration_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from components.swanlab.args import SwanlabArgs
    from stacks.cluster import Reader
    from stacks.settings import Settings

Json = dict[str, Any]
KEY: Final = "plumbline:recovery"
PROGRAMS: Final = (*SERVICES, BUFFER, *STORES)
"""Helpers of the chart (`busybox`, `mc`, `identify`) keep nothing, and are not asked about."""
FUTURE: Final = timedelta(minutes=5)
"""How far clocks of one cluster may be apart."""
_KINDS: Final = ("statefulsets", "deployments")
_SERVICE: Final = "app.kubernetes.io/service"
_INSTANCE: Final = "app.kubernetes.io/instance"
_CHART_LABEL: Final = "helm.sh/chart"
_MINUTE, _HOUR = 60.0, 3600.0


@dataclass(frozen=True)
class _Job:
    """A CronJob whose last success counts. what: happened then."""

    namespace: str
    name: str
    what: str

    @property
    def place(self) -> str:
        return f"CronJob {self.namespace}/{self.name}"


def check_gate(
    reader: Reader,
    settings: Settings,
    args: SwanlabArgs,
    warn: Callable[[str], object],
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> None:
    """Raises DeployError if a pin would change on a durable stack without a point that was verified recently.

    warn: is told what an open gate lets through. now: the time where the API server does not tell it.
    """
    if settings.profile != "durable":
        return
    changed = list(_changes(reader, args))
    if not changed:
        return
    if settings.recovery.gate == "off":
        warn(f"{KEY}.gate is `off`: nobody asked for a verified restore point; what changes: {'; '.join(changed)}")
        return
    faults = list(_faults(reader, settings, args, now))
    if faults:
        raise DeployError(_refusal(settings, changed, faults))


def _refusal(settings: Settings, changed: list[str], faults: list[str]) -> str:
    make = f"make recovery STACK={settings.stack}"
    return (
        "pins of SwanLab would change, and there is no way back that was tried recently; nothing was changed.\n"
        f"What would change:\n{_listed(changed)}\nWhat is missing:\n{_listed(faults)}\n"
        f"accepted: a restore point that was made and verified within {KEY}.gate_max_age "
        f"{settings.recovery.gate_max_age}; fix:\n  {make} RUN='create --mode quiesced'\n"
        f"  {make} RUN='verify --latest'\nthen the same again. In an emergency, without a way back: pulumi config set "
        f"--path '{KEY}.gate' off --stack {settings.stack}"
    )


def _listed(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _changes(reader: Reader, args: SwanlabArgs) -> Iterator[str]:
    """`program: old → new` for each image that would be another one, and for the chart. Nothing live: nothing.

    Raises DeployError for workloads of the release of which none is a known program: they cannot be compared.
    """
    live = list(_workloads(reader, args.namespace))
    known = {program: one for one in live if (program := _program(one)) is not None}
    if live and not known:
        names = ", ".join(sorted(str(one["metadata"]["name"]) for one in live))
        raise DeployError(
            f"namespace {args.namespace} runs {names} of release {RELEASE}, and none is a known program of SwanLab, so "
            f"nobody can say whether a pin would change; nothing was changed; accepted: label {_SERVICE} with one of "
            f"{', '.join(PROGRAMS)}; fix: put the labels of the chart back"
        )
    for program in PROGRAMS:
        role = f"swanlab-{program}"
        if program in known and role in args.images:
            wanted, running = args.images[role].reference, _images(known[program], program)
            if wanted not in running:
                yield f"{program}: {', '.join(running) or 'no image'} → {wanted}"
    yield from _chart(args, live)


def _workloads(reader: Reader, namespace: str) -> Iterator[Json]:
    selector = quote(f"{_INSTANCE}={RELEASE}")
    for kind in _KINDS:
        for item in reader.listing(f"/apis/apps/v1/namespaces/{namespace}/{kind}?labelSelector={selector}"):
            if _labels(item).get(_INSTANCE) == RELEASE:
                yield item


def _labels(item: Json) -> dict[str, str]:
    return item["metadata"].get("labels") or {}


def _program(workload: Json) -> str | None:
    """By its label, or by its name where a chart labels the pods alone."""
    labelled, name = _labels(workload).get(_SERVICE), workload["metadata"]["name"]
    return next((one for one in PROGRAMS if labelled == one or (labelled is None and name == service_name(one))), None)


def _images(workload: Json, program: str) -> tuple[str, ...]:
    """Of the container that is named like the program; of all of them in a chart that names it otherwise."""
    containers = workload["spec"]["template"]["spec"]["containers"]
    named = [one for one in containers if one["name"] == program]
    return tuple(dict.fromkeys(str(one.get("image", "")) for one in named or containers))


def _chart(args: SwanlabArgs, live: list[Json]) -> Iterator[str]:
    """A chart that the settings name by a path has a version of its own, which no pin says: its images are compared."""
    if args.chart.path is not None:
        return
    # As Helm's charts write it: a label has no `+`, and 63 characters at most.
    wanted = f"{CHART}-{args.chart.version}".replace("+", "_")[:63].rstrip("-")
    found = sorted({_labels(one).get(_CHART_LABEL, "") for one in live})
    other = [label for label in found if label.startswith(f"{CHART}-") and label != wanted]
    if other:
        yield f"chart: {', '.join(other)} → {wanted}"


def _faults(reader: Reader, settings: Settings, args: SwanlabArgs, now: Callable[[], datetime]) -> Iterator[str]:
    """What keeps the newest restore point from being a way back."""
    if settings.recovery.mode == "off":
        yield (
            f"{KEY}.mode is `off`, so there is no restore point; have recovery managed first, with the pins that run "
            "now (docs/recovery.md)"
        )
        return
    moment = reader.clock() or now()
    oldest = timedelta(seconds=duration_seconds(settings.recovery.gate_max_age))
    verified = _Job(recovery_namespace_name(settings.namespace), VERIFY, "verified")
    # A verification restores the newest point there is, however old that is: when one was made last is asked as well.
    for job in (verified, _Job(args.namespace, CREATE, "made")):
        yield from _last(reader, job, moment, oldest)


def _last(reader: Reader, job: _Job, moment: datetime, oldest: timedelta) -> Iterator[str]:
    """A sentence unless the last success is within `oldest` before `moment`, the time of the cluster."""
    path = f"/apis/batch/v1/namespaces/{job.namespace}/cronjobs?fieldSelector=metadata.name%3D{job.name}"
    found = next((one for one in reader.listing(path) if one["metadata"]["name"] == job.name), None)
    if found is None:
        yield (
            f"{job.place} is missing, so no restore point was {job.what} by it; deploy recovery first, with the pins "
            "that run now"
        )
        return
    told = (found.get("status") or {}).get("lastSuccessfulTime")
    if told is None:
        yield f"{job.place} never ended well: no restore point was {job.what}"
        return
    age = moment - datetime.fromisoformat(told)
    if age < -FUTURE:
        yield (
            f"a restore point was last {job.what} {told}, which is {_span(-age)} after now ({_text(moment)}): a clock "
            f"jumped, and nobody knows how old it is; set the clocks right, then kubectl -n {job.namespace} patch "
            f'cronjob {job.name} --subresource=status --type=merge -p \'{{"status":{{"lastSuccessfulTime":null}}}}\''
        )
    elif age > oldest:
        yield f"a restore point was last {job.what} {told}, {_span(age)} ago, more than {_span(oldest)}"


def _span(length: timedelta) -> str:
    seconds = length.total_seconds()
    return f"{seconds / _HOUR:.1f} hours" if seconds >= _HOUR else f"{seconds / _MINUTE:.0f} minutes"


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
