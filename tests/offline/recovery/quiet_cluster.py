"""An API server that keeps Deployments, their scale and their pods, and serves the metrics of a delivery buffer.

It behaves as Kubernetes does where that matters: versions of objects, conflicts, dry runs, generations, pods that take
a while to end. Time passes by being asked: a pod that ends lives for as many listings as `lingers` says.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from recovery.writers import ANNOTATION

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]


def page(held: int = 0, *, uptime: float, received: int = 100, flying: int = 0, lost: int = 0) -> str:
    """Vector's metrics: `received` events came in, of which `held` are buffered and `flying` are being delivered."""
    sink = 'component_id="out",component_kind="sink",component_type="clickhouse"'
    buffer = f'{sink},buffer_id="out",buffer_type="disk",stage="0"'
    source = 'component_id="http",component_kind="source",component_type="http_server"'
    return "\n".join(
        (
            f"vector_uptime_seconds {uptime}",
            f"vector_buffer_max_byte_size{{{buffer}}} 1000000",
            f"vector_buffer_events{{{buffer}}} {held}",
            f"vector_buffer_byte_size{{{buffer}}} {held * 10}",
            f"vector_buffer_received_events_total{{{buffer}}} {received}",
            f"vector_buffer_sent_events_total{{{buffer}}} {received - held}",
            f"vector_component_received_events_total{{{source}}} {received}",
            f"vector_component_sent_events_total{{{source}}} {received}",
            f"vector_component_received_events_total{{{sink}}} {received - held + flying}",
            f"vector_component_sent_events_total{{{sink}}} {received - held - lost}",
            f'vector_component_discarded_events_total{{{sink},intentional="false"}} {lost}',
            "",
        )
    )


@dataclass
class Held:
    """A Deployment: what the server keeps of it. pods: name → listings that it still survives, None while it runs."""

    replicas: int
    annotations: dict[str, str] = field(default_factory=dict)
    version: int = 1
    generation: int = 1
    pods: dict[str, int | None] = field(default_factory=dict)


@dataclass
class FakeCluster:
    """What a test sets and looks at.

    refuse: status for the n-th request with its method and path, None to serve it. served: told of each request once it
    has been carried out and before it is answered. log: method and path of each, `?dry` behind a dry run. events: what
    changed. pages: of the buffer, one for each scrape, the last one again and again; each is made with an age that
    grows; None is no answer. asker: id of the process that asks, for a test that kills it.
    """

    deployments: dict[str, Held]
    lingers: dict[str, int] = field(default_factory=dict)
    scalers: list[tuple[str, str]] = field(default_factory=list)
    refuse: Callable[[int, str, str], int | None] = lambda _number, _method, _path: None
    served: Callable[[int, str, str], None] = lambda _number, _method, _path: None
    buffer_replicas: int = 1
    pages: list[Callable[[float], str] | None] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    scrapes: int = 0
    asker: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def replicas(self) -> dict[str, int]:
        return {name: held.replicas for name, held in self.deployments.items()}

    def annotated(self) -> dict[str, str]:
        return {
            name: held.annotations[ANNOTATION]
            for name, held in self.deployments.items()
            if ANNOTATION in held.annotations
        }

    def scale(self, name: str, replicas: int) -> None:
        """As anybody could, who does not care for versions."""
        held = self.deployments[name]
        if held.replicas == replicas:
            return
        held.replicas = replicas
        held.generation += 1
        held.version += 1
        self.events.append(f"{name} {replicas}")
        running = [pod for pod, left in held.pods.items() if left is None]
        for pod in running[replicas:]:
            held.pods[pod] = self.lingers.get(name, 0)
        for number in range(len(running), replicas):
            held.pods[f"{name}-{held.generation}-{number}"] = None

    def answer(self, method: str, path: str, body: Json) -> tuple[int, Json | str]:
        with self.lock:
            if urlsplit(path).path == "/metrics":
                return self._scraped()
            dry = "dryRun=All" in path
            named = f"{method} {urlsplit(path).path}{'?dry' if dry else ''}"
            self.log.append(named)
            number = len(self.log)
            status = self.refuse(number, method, named)
            if status is not None:
                return status, {"kind": "Status", "message": "refused by the test"}
            found = self._api(method, path, body, dry=dry)
            self.served(number, method, named)
            return found

    def _scraped(self) -> tuple[int, str]:
        made = self.pages[min(self.scrapes, len(self.pages) - 1)]
        self.scrapes += 1
        return (503, "") if made is None else (200, made(float(self.scrapes)))

    def _api(self, method: str, path: str, body: Json, *, dry: bool) -> tuple[int, Json]:
        parts = urlsplit(path).path.strip("/").split("/")
        kind, name, sub = [*parts[parts.index("lab") + 1 :], "", ""][:3]
        if kind == "horizontalpodautoscalers":
            targets = ({"kind": found, "name": target} for found, target in self.scalers)
            return 200, {"items": [{"spec": {"scaleTargetRef": target}} for target in targets]}
        if kind == "pods":
            return 200, {"items": self._pods(unquote(parse_qs(urlsplit(path).query)["labelSelector"][0]))}
        if kind == "statefulsets":
            spec = {"replicas": self.buffer_replicas, "selector": {"matchLabels": {"app": "vector"}}}
            return 200, {"metadata": {"resourceVersion": "1"}, "spec": spec}
        if kind != "deployments" or name not in self.deployments:
            return 404, {"message": f'{kind} "{name}" not found'}
        if method == "PATCH":
            return self._patched(name, sub, body, dry=dry)
        return 200, self._document(name)

    def _document(self, name: str) -> Json:
        held = self.deployments[name]
        metadata = {
            "name": name,
            "resourceVersion": str(held.version),
            "generation": held.generation,
            "annotations": dict(held.annotations),
        }
        return {"metadata": metadata, "spec": {"replicas": held.replicas, "selector": {"matchLabels": {"app": name}}}}

    def _patched(self, name: str, sub: str, body: Json, *, dry: bool) -> tuple[int, Json]:
        held = self.deployments[name]
        if body["metadata"].get("resourceVersion", str(held.version)) != str(held.version):
            return 409, {"message": "the object has been modified; please apply your changes to the latest version"}
        if dry:
            return 200, self._document(name)
        if sub == "scale":
            self.scale(name, body["spec"]["replicas"])
            return 200, self._document(name)
        for key, value in body["metadata"]["annotations"].items():
            if value is None:
                held.annotations.pop(key, None)
            else:
                held.annotations[key] = value
            self.events.append(f"{name} annotation {value}")
        held.version += 1
        return 200, self._document(name)

    def _pods(self, selector: str) -> list[Json]:
        name = selector.removeprefix("app=")
        if name == "vector":
            statuses = [{"phase": "Running", "podIP": f"127.0.0.{1 + n}"} for n in range(self.buffer_replicas)]
            return [{"metadata": {"name": f"vector-{n}"}, "status": status} for n, status in enumerate(statuses)]
        pods = self.deployments[name].pods
        for pod, left in list(pods.items()):
            if left == 0:
                del pods[pod]
            elif left is not None:
                pods[pod] = left - 1
        return [{"metadata": {"name": pod}, "status": {"phase": "Running"}} for pod in pods]


def cluster(**replicas: int) -> FakeCluster:
    """gateway 2, server 3, auth 1, house 2, unless said otherwise, all running; a buffer that is empty."""
    wanted = {"gateway": 2, "server": 3, "auth": 1, "house": 2, **replicas}
    made = {name: Held(count, pods={f"{name}-{n}": None for n in range(count)}) for name, count in wanted.items()}
    return FakeCluster(made, pages=[empty()])


def empty(received: int = 100, lost: int = 0) -> Callable[[float], str]:
    return lambda uptime: page(uptime=uptime, received=received, lost=lost)


def holding(events: int, received: int = 100, flying: int = 0) -> Callable[[float], str]:
    return lambda uptime: page(events, uptime=uptime, received=received, flying=flying)
