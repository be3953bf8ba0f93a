"""Asked before monitors and rules are handed over: does the operator know them, and does the Prometheus take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from components.alertmanager import names as alertmanager
from components.errors import DeployError
from components.existing_prometheus.manifests import render
from components.existing_prometheus.names import GROUP, SCRAPE_CONFIG, VERSION
from components.objects import namespace
from stacks.arguments import existing_prometheus_args
from stacks.cluster import ForbiddenError
from stacks.doubles import scraped_twice
from stacks.selection import KEY, Given, problems, unlabelled
from stacks.served import schema_of, unknown_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from components.existing_prometheus.args import ExistingPrometheusArgs
    from components.objects import Manifest
    from stacks.cluster import Reader
    from stacks.existing import ExistingPrometheus
    from stacks.settings import Settings

Json = dict[str, Any]


def check_operator(
    reader: Reader, settings: Settings, wanted: ExistingPrometheus, warn: Callable[[str], object]
) -> None:
    """Raises DeployError if definitions are missing or too old, or the Prometheus would ignore or change something.

    warn: takes what does not keep anything from working.
    """
    args = existing_prometheus_args(settings, wanted)
    objects = [m for m in render(args).manifests.values() if str(m["apiVersion"]).startswith(f"{GROUP}/")]
    _check_definitions(reader, objects)
    prometheus = _named(reader, wanted)
    place = f"{wanted.namespace}/{prometheus['metadata']['name']}"
    content = given(args, wanted, objects, _live_labels(reader, settings.namespace))
    for line in unlabelled(prometheus, content):
        warn(f"Prometheus {place} {line}")
    for line in scraped_twice(reader, settings):
        warn(line)
    found = problems(prometheus, content)
    if found:
        raise DeployError(
            f"Prometheus {place} would not take our monitors and rules as they are; nothing was changed:\n"
            + "\n".join(f"- it {line}" for line in found)
        )


def given(
    args: ExistingPrometheusArgs, wanted: ExistingPrometheus, objects: list[Manifest], live_labels: dict[str, str]
) -> Given:
    """What the Prometheus is given, in the terms in which its object is judged. live_labels: of the namespace now."""
    here = args.namespace
    declared = namespace(here, wanted.namespace_labels)["metadata"]["labels"]
    return Given(
        kinds=tuple(dict.fromkeys(str(m["kind"]) for m in objects)),
        labels=dict(objects[0]["metadata"]["labels"]),
        namespace=here,
        namespace_labels={**live_labels, **declared, "kubernetes.io/metadata.name": here},
        external={"cluster": args.cluster, "environment": args.environment},
        honors=any(job.page.honor_labels for job in args.jobs),
        stamps=any(job.page.own_timestamps for job in args.jobs),
        elsewhere=tuple(sorted({job.pods.namespace for job in args.jobs if job.pods} - {here})),
        samples=max((job.sample_limit for job in args.jobs), default=0),
        alertmanager=alertmanager.NAME if wanted.tells_our_alertmanager else None,
    )


def _check_definitions(reader: Reader, objects: Iterable[Manifest]) -> None:
    served: dict[str, dict[str, Json] | None] = {}
    for manifest in objects:
        version, kind = str(manifest["apiVersion"]), str(manifest["kind"])
        if version not in served:
            served[version] = reader.schemas(version)
        schema = schema_of(manifest, served[version] or {})
        if schema is None:
            raise DeployError(
                f"the cluster does not know {kind} of {version}, which {KEY} needs"
                f"{_needed_for(kind)}; fix: install or update the definitions of the Prometheus operator, 0.85 or "
                "newer, or let this stack run a Prometheus (plumbline:prometheus)."
            )
        unknown = unknown_fields(manifest, schema)
        if unknown:
            raise DeployError(
                f"the definition of {kind} in this cluster is older than what it would be given: it has no "
                f"{', '.join(unknown)}, and Kubernetes would drop that without a word; fix: update the definitions of "
                "the Prometheus operator to 0.85 or newer (Helm never does), then the operator."
            )


def _needed_for(kind: str) -> str:
    return " for targets that are no pods" if kind == SCRAPE_CONFIG else ""


def _named(reader: Reader, wanted: ExistingPrometheus) -> Json:
    path = f"/apis/{VERSION}/namespaces/{wanted.namespace}/prometheuses"
    found = {str(item["metadata"]["name"]): item for item in reader.listing(path)}
    if wanted.name is None and len(found) == 1:
        return next(iter(found.values()))
    if wanted.name in found:
        return found[wanted.name]
    there = ", ".join(sorted(found)) or "none"
    raise DeployError(
        f"{KEY} does not name one Prometheus of namespace {wanted.namespace} (name: {wanted.name or 'not set'}); "
        f"there: {there}; fix: {KEY}.namespace and {KEY}.name of an object that `kubectl get prometheuses -A` lists."
    )


def _live_labels(reader: Reader, name: str) -> dict[str, str]:
    """Labels that the namespace has already, put on by whoever; none if this account may not list namespaces."""
    try:
        listed = reader.listing(f"/api/v1/namespaces?fieldSelector=metadata.name%3D{name}")
    except ForbiddenError:
        return {}
    return next((dict(n["metadata"].get("labels") or {}) for n in listed if n["metadata"]["name"] == name), {})
