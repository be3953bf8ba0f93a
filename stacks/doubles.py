"""Exporters of nodes and Kubernetes objects that somebody else's monitors select already: worth a word, no refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from components.kube_state_metrics.names import NAME as KUBE_STATE
from components.naming import PART_OF
from components.node_exporter.names import NAME as NODE
from stacks.cluster import ForbiddenError
from stacks.selection import matches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stacks.cluster import Reader
    from stacks.settings import Settings

Json = dict[str, Any]
_MONITORS: Final = "/apis/monitoring.coreos.com/v1"
_SELECTED: Final = {
    "ServiceMonitor": (f"{_MONITORS}/servicemonitors", "/api/v1/services"),
    "PodMonitor": (f"{_MONITORS}/podmonitors", "/api/v1/pods"),
}
"""Kind → where its objects are listed, and where those that they select are."""
_NAME_LABELS: Final = ("app.kubernetes.io/name", "app", "k8s-app")
_NAMES: Final = {NODE: frozenset({"node-exporter", "prometheus-node-exporter"}), KUBE_STATE: frozenset({KUBE_STATE})}
"""Our exporter → what charts and manifests call theirs in those labels."""


def scraped_twice(reader: Reader, settings: Settings) -> list[str]:
    """One sentence per monitor of somebody else that selects an exporter of which this stack brings its own.

    Rules of the stack look at its own series alone. The price is memory, and a red `scrape.no_duplicates` where both
    tell of the same objects.
    """
    modes = {NODE: settings.node_exporter.mode, KUBE_STATE: settings.kube_state_metrics.mode}
    ours = [name for name, mode in modes.items() if mode == "managed"]
    if not ours:
        return []
    try:
        return [line for kind in _SELECTED for line in _of_kind(reader, kind, ours)]
    except ForbiddenError as error:
        return [f"whether {' or '.join(ours)} is scraped here already was not looked for: {error}"]


def _of_kind(reader: Reader, kind: str, ours: list[str]) -> Iterator[str]:
    monitors_at, selected_at = _SELECTED[kind]
    theirs = [m for m in reader.listing(monitors_at) if _labels(m).get("app.kubernetes.io/part-of") != PART_OF]
    candidates = (
        [(o, name) for o in reader.listing(selected_at) if (name := _exporter(_labels(o), ours))] if theirs else []
    )
    for monitor in theirs:
        for name in sorted({name for found, name in candidates if _selects(monitor, found)}):
            where = f"{monitor['metadata']['namespace']}/{monitor['metadata']['name']}"
            section = f"plumbline:{name.replace('-', '_')}"
            yield (
                f"{kind} {where} has a {name} scraped already, and this stack brings another ({section}.mode is "
                "`managed`): its series are stored twice, and scrape.no_duplicates may be red; fix: keep one: remove "
                f"that monitor (its pods can be named in {section}.existing), or set {section}.mode `off`, which "
                "leaves our rules about it out"
            )


def _exporter(labels: dict[str, str], ours: list[str]) -> str | None:
    """Which of our exporters an object of somebody else is another of."""
    if labels.get("app.kubernetes.io/part-of") == PART_OF:
        return None
    called = {labels.get(key) for key in _NAME_LABELS}
    return next((name for name in ours if called & _NAMES[name]), None)


def _selects(monitor: Json, found: Json) -> bool:
    """By namespace first: without a selector of namespaces a monitor looks in its own."""
    spec, namespace = monitor.get("spec") or {}, found["metadata"]["namespace"]
    wanted = spec.get("namespaceSelector") or {}
    names = wanted.get("matchNames") or [monitor["metadata"]["namespace"]]
    return bool(wanted.get("any") or namespace in names) and matches(spec.get("selector"), _labels(found))


def _labels(found: Json) -> dict[str, str]:
    return dict(found["metadata"].get("labels") or {})
