"""Alertmanager: it runs what was rendered, and Prometheus tells it and nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import yaml

from signals.alertmanager_config import CONFIG_FILE, HASH_METRIC, config_hash, differences
from smoke.access.exposition import Sample, values
from smoke.judge.configuration import revision
from smoke.model import Problem

if TYPE_CHECKING:
    from collections.abc import Collection

    from stacks.contract import Endpoint

Json = dict[str, Any]

RELOAD = "alertmanager_config_last_reload_successful"
PORTS = {"http": 80, "https": 443}


def runs(running: str, rendered: str, own: list[Sample], contracted: str | None) -> list[Problem]:
    """The running configuration is the rendered one: by its content, and by the hash of the file that was loaded.

    contracted: revision by the contract, None if it gives none.
    """
    problems = [
        Problem(f"configuration of Alertmanager, {found}", "differs", "as rendered")
        for found in _told(running, rendered)
    ]
    hashed = values(own, HASH_METRIC)
    if hashed != [config_hash(rendered)]:
        seen = ", ".join(f"{number:.0f}" for number in hashed) or "no such series"
        problems.append(Problem(HASH_METRIC, seen, f"{config_hash(rendered):.0f}, of the rendered file"))
    reloaded = values(own, RELOAD)
    if reloaded != [1.0]:
        seen = ", ".join(f"{number:g}" for number in reloaded) or "no such series"
        problems.append(Problem(RELOAD, seen, "1"))
    mine = revision({CONFIG_FILE: rendered})
    if contracted is not None and mine != contracted:
        problems.append(
            Problem("rendering by this checkout", f"revision {mine}", f"revision {contracted} of the contract")
        )
    return problems


def addresses(endpoint: Endpoint, namespace: str, service: Json | None, slices: list[Json]) -> set[str]:
    """Every `host:port` by which Prometheus may reach this endpoint: its url, its Service's names, its pods.

    service: as the API server has it. slices: EndpointSlices of it.
    """
    namespace = endpoint.namespace or namespace
    name = f"{endpoint.service}.{namespace}"
    hosts = {name, f"{name}.svc", f"{name}.svc.cluster.local", f"{name}.svc.cluster.local."}
    cluster_ip = ((service or {}).get("spec") or {}).get("clusterIP")
    hosts |= {cluster_ip} if cluster_ip and cluster_ip != "None" else set()
    found = {f"{host}:{endpoint.port}" for host in hosts} | ({_address(endpoint.url)} if endpoint.url else set())
    for one in slices:
        ports = [port.get("port") for port in one.get("ports") or []]
        pods = [address for member in one.get("endpoints") or [] for address in member.get("addresses") or []]
        found |= {f"{pod}:{port}" for pod in pods for port in ports}
    return found


def connected(told: Json, contracted: list[set[str]], *, exclusive: bool) -> list[Problem]:
    """Prometheus sends alerts to every contracted Alertmanager.

    told: /api/v1/alertmanagers. contracted: the addresses of each. exclusive: it sends to no other, and drops none;
    a Prometheus of somebody else may have more of them.
    """
    active = [_address(one["url"]) for one in told.get("activeAlertmanagers") or []]
    problems = []
    for accepted in contracted:
        hits = [address for address in active if address in accepted]
        shown = ", ".join(active) or "none"
        if len(hits) != 1:
            name = min(accepted, default="?")
            problems.append(Problem(f"Alertmanager {name}", f"active are {shown}", f"{name} once"))
    if not exclusive:
        return problems
    known = set().union(*contracted)
    problems += [Problem(f"Alertmanager {one}", "active", "not told of alerts") for one in active if one not in known]
    dropped = [_address(one["url"]) for one in told.get("droppedAlertmanagers") or []]
    return [*problems, *(Problem(f"Alertmanager {one}", "dropped by relabelling", "active") for one in dropped)]


def flowing(sent: list[Json], failed: list[Json]) -> list[Problem]:
    """Alerts were sent, and none was lost. sent, failed: results of `increase` over Prometheus' own counters."""
    problems = []
    if not sum(float(series["value"][1]) for series in sent) > 0:
        problems.append(Problem("notifications by Prometheus", "none sent", "some: the Watchdog always fires"))
    for series in failed:
        number = float(series["value"][1])
        if number > 0:
            name = series["metric"].get("reason") or series["metric"].get("alertmanager", "queue")
            problems.append(Problem(f"notifications by Prometheus ({name})", f"{number:.0f} failed or dropped", "none"))
    return problems


def _told(running: str, rendered: str) -> Collection[str]:
    try:
        return differences(running, rendered)
    except (yaml.YAMLError, ValueError) as error:
        return [f"it cannot be read ({error})"]


def _address(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or PORTS.get(parts.scheme, 0)}"
