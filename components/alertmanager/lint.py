"""Judges the rendered configuration, by own rules and with amtool, before anything is registered."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from components.errors import DeployError
from components.tool import TIMEOUT_SECONDS, judge
from signals.alertmanager_config import CONFIG_FILE, seconds
from signals.routing import WATCHDOG
from signals.rules.model import Severity
from signals.rules.routes import PAGE_PROOF_ALERT, PROOF_LABEL, WATCHDOG_LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from components.alertmanager.args import AlertmanagerArgs
    from components.rendered import Rendered

URGENT = (Severity.P0.value, Severity.P1.value)
"""Who may be told of an alert that no route knows: somebody who looks within minutes."""


def _labels(found: dict[str, str]) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in found.items())


def _probes() -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    for severity in Severity:
        told = (severity.value,)
        yield (f"severity={severity.value}", "alertname=NodeNotReady", "cluster=c", "node=n"), told
        yield (f"severity={severity.value}", f"alertname={PAGE_PROOF_ALERT}", f"{PROOF_LABEL}=1"), told
    yield ("alertname=Watchdog", *_labels(WATCHDOG_LABELS)), (WATCHDOG,)
    yield ("alertname=NoSeverity",), URGENT
    yield ("alertname=UnknownSeverity", "severity=critical"), URGENT


PROBES = tuple(_probes())
"""Labels of an alert → the receivers of which exactly one must be told."""


def lint(args: AlertmanagerArgs, rendered: Rendered) -> None:
    """Check syntax, receivers and where alerts of every severity go.

    The files that the configuration names (addresses, tokens) exist in the pod alone and are not looked for.
    Raises DeployError with all broken rules, with amtool's own words, or if amtool is missing or does not finish.
    """
    with tempfile.TemporaryDirectory(prefix="plumbline-lint-") as name:
        directory = Path(name)
        for file, text in rendered.files.items():
            (directory / file).write_text(text, encoding="utf-8")
        amtool(["check-config", CONFIG_FILE], directory)
        found = complaints(yaml.safe_load(rendered.files[CONFIG_FILE]), args.retention)
        found += [what for labels, accepted in PROBES for what in _misrouted(labels, accepted, directory)]
    if found:
        raise DeployError("the routing of alerts (signals/routing.py):\n" + "\n".join(f"- {line}" for line in found))


def complaints(document: dict[str, Any], retention: str) -> list[str]:
    """Rules that amtool does not know, over a configuration that it accepts. retention: Prometheus duration."""
    return [
        *_root(document["route"]),
        *_unused(document),
        *_mutes(document),
        *_forgotten(document, retention),
        *_hidden(document),
    ]


def amtool(arguments: Sequence[str], directory: Path, timeout: float = TIMEOUT_SECONDS) -> str:
    """Run amtool in a directory and return what it prints. timeout: seconds. Raises DeployError, see judge()."""
    return judge("amtool", "Alertmanager", arguments, directory, timeout)


def _misrouted(labels: tuple[str, ...], accepted: tuple[str, ...], directory: Path) -> Iterator[str]:
    told = amtool(["config", "routes", "test", f"--config.file={CONFIG_FILE}", *labels], directory).strip()
    if told not in accepted:
        yield f"an alert with {', '.join(labels)} goes to `{told}`; accepted is {' or '.join(accepted)}"


def _routes(route: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield route
    for below in route.get("routes", ()):
        yield from _routes(below)


def _root(root: dict[str, Any]) -> Iterator[str]:
    if root.get("receiver") not in URGENT:
        yield (
            f"the root route tells `{root.get('receiver')}` of what no other route knows; "
            f"accepted is {' or '.join(URGENT)}"
        )


def _unused(document: dict[str, Any]) -> Iterator[str]:
    used = {route.get("receiver") for route in _routes(document["route"])}
    for receiver in document["receivers"]:
        if receiver["name"] not in used:
            yield f"no route leads to receiver `{receiver['name']}`; add one or remove the receiver"
        elif not any(key.endswith("_configs") and value for key, value in receiver.items()):
            yield f"receiver `{receiver['name']}` tells nobody; accepted is at least one webhook"


def _mutes(document: dict[str, Any]) -> Iterator[str]:
    for route in _routes(document["route"]):
        for key in ("mute_time_intervals", "active_time_intervals"):
            if route.get(key):
                yield f"the route to `{route.get('receiver')}` has {key}; accepted is a silence, which ends and is seen"


def _forgotten(document: dict[str, Any], retention: str) -> Iterator[str]:
    """What was sent is remembered for the retention; a longer repeat interval would repeat after the retention."""
    for route in _routes(document["route"]):
        repeat = route.get("repeat_interval")
        if repeat is not None and seconds(repeat) > seconds(retention):
            yield (
                f"the route to `{route.get('receiver')}` repeats after {repeat}, but what was sent is forgotten after "
                f"{retention}; set alertmanager.retention to {repeat} or more"
            )


def _hidden(document: dict[str, Any]) -> Iterator[str]:
    for index, rule in enumerate(document.get("inhibit_rules", ())):
        if "cluster" not in rule.get("equal", ()):
            yield (
                f"inhibition rule {index + 1} lets an alert of one cluster hide those of another; "
                "accepted is `cluster` among the labels that must be equal"
            )
