"""What the cluster says about a failure: events, pods, last log lines. Bounded and redacted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from smoke import limits
from smoke.access.errors import AccessError
from smoke.judge.pods import container_statuses, is_ready
from smoke.redact import bounded

if TYPE_CHECKING:
    from smoke.access.kube import Kube

Json = dict[str, Any]

# Parts of a pod that can hold a secret by value or say nothing about a failure.
LEFT_OUT = ("env", "envFrom", "managedFields")


def diagnostics(kube: Kube, namespace: str) -> dict[str, str]:
    """Title → text. What cannot be fetched says so in its place: a failure to collect never hides the failure."""
    found = {f"events of namespace {namespace}": _events(kube, namespace)}
    try:
        pods = kube.pods(namespace)
    except AccessError as error:
        return found | {"pods": f"cannot be listed: {error}"}
    # Pods in trouble first: the number of pods is not bounded, the report is.
    pods.sort(key=lambda pod: is_ready(pod) and not any(s.get("restartCount") for s in container_statuses(pod)))
    for pod in pods[: limits.PODS_SHOWN]:
        name = pod["metadata"]["name"]
        found[f"pod {name}"] = bounded(json.dumps(_strip(pod), indent=1), limits.DIAGNOSTIC_CHARS)
        for status in container_statuses(pod):
            if is_ready(pod) and not status.get("restartCount"):
                found |= _log(kube, namespace, name, status["name"], previous=False)
                continue
            for previous in (False, True):
                found |= _log(kube, namespace, name, status["name"], previous=previous)
    return found


def _events(kube: Kube, namespace: str) -> str:
    try:
        events = kube.items(f"/api/v1/namespaces/{namespace}/events")
    except AccessError as error:
        return f"cannot be listed: {error}"
    events.sort(key=_when)
    lines = [_event(event) for event in events[-limits.EVENTS_SHOWN :]]
    return bounded("\n".join(lines) or "none", limits.DIAGNOSTIC_CHARS)


def _when(event: Json) -> str:
    return str(event.get("lastTimestamp") or event.get("eventTime") or event["metadata"].get("creationTimestamp") or "")


def _event(event: Json) -> str:
    about = event.get("involvedObject") or {}
    subject = f"{about.get('kind')}/{about.get('name')}"
    return f"{_when(event)} {event.get('type')} {event.get('reason')} {subject}: {event.get('message')}"


def _log(kube: Kube, namespace: str, pod: str, container: str, *, previous: bool) -> dict[str, str]:
    title = f"{'previous ' if previous else ''}log of pod {pod} container {container}"
    path = f"/api/v1/namespaces/{namespace}/pods/{pod}/log"
    query = {"container": container, "tailLines": str(limits.LOG_LINES)} | ({"previous": "true"} if previous else {})
    try:
        text = kube.text(path, **query)
    except AccessError as error:
        # A container that never ran before has no previous log: nothing to tell.
        return {} if previous else {title: f"cannot be read: {error}"}
    return {title: bounded(text, limits.DIAGNOSTIC_CHARS)}


def _strip(value: object) -> object:  # JSON
    if isinstance(value, dict):
        return {key: _strip(member) for key, member in value.items() if key not in LEFT_OUT}
    if isinstance(value, list):
        return [_strip(member) for member in value]
    return value
