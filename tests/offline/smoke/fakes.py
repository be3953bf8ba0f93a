"""Stand-ins over HTTP: an API server that serves the healthy stack, and a Prometheus that scrapes it.

A test changes their state before or while smoke runs.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qs, urlsplit

from signals.catalogue import PRODUCERS
from tests.offline.serving import serving
from tests.offline.smoke import objects
from tests.offline.smoke.promql import Series, evaluate, series_of_catalogue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Json = dict[str, Any]
Answer = tuple[int, Any]
BASE = f"/api/v1/namespaces/{objects.NAMESPACE}"
SETS = f"/apis/apps/v1/namespaces/{objects.NAMESPACE}/statefulsets/prometheus"


class ApiServer:
    """State of the API server: path → object, or list of objects."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.objects: dict[str, Any] = {
            "/api/v1/namespaces/kube-system": {"metadata": {"name": "kube-system", "uid": objects.CLUSTER_UID}},
            f"{BASE}/pods": [objects.pod()],
            SETS: objects.stateful_set(),
            f"{BASE}/configmaps/{objects.CONFIG_MAP}": objects.config_map(),
            f"{BASE}/persistentvolumeclaims/prometheus-data": objects.claim(),
            "/api/v1/persistentvolumes/pvc-1": objects.volume(),
            "/api/v1/nodes": [objects.node()],
            f"/api/v1/nodes/{objects.NODE}": objects.node(),
            f"{BASE}/events": [],
            "/version": {"gitVersion": "v1.34.4", "major": "1", "minor": "34"},
        }

    @property
    def pod(self) -> Json:
        """The pod of Prometheus."""
        pod: Json = self.objects[f"{BASE}/pods"][0]
        return pod

    def get(self, path: str, _: dict[str, str]) -> Answer:
        """Answer a GET."""
        self.asked.append(path)
        found = self.pods() if path == "/api/v1/pods" else self.objects.get(path)
        if found is None and path.startswith(f"{BASE}/pods/"):
            name, _slash, rest = path.removeprefix(f"{BASE}/pods/").partition("/")
            if rest == "log":
                return 200, "level=INFO msg=ready password=hunter2\n"
            found = next((p for p in self.objects[f"{BASE}/pods"] if p["metadata"]["name"] == name), None)
        if found is None:
            return 404, {"kind": "Status", "reason": "NotFound", "code": 404}
        return 200, {"items": found} if isinstance(found, list) else found

    def change(self, method: str, path: str, body: str) -> Answer:
        """Kill the pod: a new one of the same name takes its place at once."""
        self.asked.append(f"{method} {path}")
        return self.delete(path, json.loads(body)) if method == "DELETE" else self.create(path, json.loads(body))

    def create(self, path: str, pod: Json) -> Answer:
        """Create a pod: it runs at once, on the one node."""
        number = len(self.asked)
        pod["metadata"] |= {"namespace": path.split("/")[4], "uid": f"made-{number}"}
        pod["spec"]["nodeName"] = objects.NODE
        pod["status"] = {"phase": "Running"}
        self.objects[path].append(pod)
        return 201, pod

    def pods(self) -> list[Json]:
        """Pods of every namespace."""
        lists = (found for path, found in self.objects.items() if path.endswith("/pods"))
        return [pod for found in lists for pod in found]

    def delete(self, path: str, body: Json) -> Answer:
        """Answer a DELETE: of the object with the uid that it names, or of any of this name."""
        uid, name = (body.get("preconditions") or {}).get("uid"), path.rpartition("/")[2]
        key, wanted = ("uid", uid) if uid else ("name", name)
        made = [pod for pod in self.pods() if pod["metadata"][key] == wanted]
        if not made and not uid:
            return 404, {"kind": "Status", "reason": "NotFound", "code": 404}
        if made and "plumbline.dev/sentinel" in made[0]["metadata"]["labels"]:
            self.objects[path.rpartition("/")[0]].remove(made[0])
            return 200, {"kind": "Status", "status": "Success"}
        if uid not in (None, self.pod["metadata"]["uid"]):
            return 409, {"kind": "Status", "reason": "Conflict", "code": 409}
        self.pod["metadata"]["uid"] = "99999999-0000-0000-0000-000000000000"
        return 200, {"kind": "Status", "status": "Success"}


class FakePrometheus:
    """State of Prometheus. `own` are its own metrics, name → value."""

    def __init__(self) -> None:
        self.targets = objects.targets()
        self.series: list[Series] = series_of_catalogue(self.targets)
        self.series.append(Series({"__name__": "plumbline:config_revision", "revision": objects.REVISION}, 1.0))
        self.flags = dict(objects.contract().components["prometheus"].flags) | {
            "config.file": "/etc/prometheus/prometheus.yml"
        }
        self.metadata = metadata_of_catalogue()
        self.declared: dict[str, dict[str, list[Json]]] = {}
        self.own = {
            "prometheus_config_last_reload_successful": 1.0,
            "prometheus_tsdb_wal_corruptions_total": 0.0,
            "prometheus_tsdb_head_samples_appended_total": 1000.0,
        }
        self.rules = objects.loaded()
        self.revision = objects.REVISION
        self.alertmanagers: Json = {"activeAlertmanagers": [], "droppedAlertmanagers": []}
        self.before_query: Callable[[], None] = lambda: None
        self.panels: dict[str, list[dict[str, str]]] = {}
        """Expression → labels of each series that it gives: what the stand-in cannot evaluate itself."""
        # As it prints it: defaults filled in, units of its own.
        self.configuration = objects.FILES["prometheus.yml"].replace("24h", "1d").replace("2GB", "2GiB")

    def get(self, path: str, query: dict[str, str]) -> Answer:
        """Answer a GET."""
        if path == "/metrics":
            self.own["prometheus_tsdb_head_samples_appended_total"] += 100
            return 200, "".join(f"# TYPE {n} gauge\n{n} {value:g}\n" for n, value in self.own.items())
        answers: dict[str, Callable[[], Any]] = {
            "/api/v1/query": lambda: self._query(query),
            "/api/v1/query_range": lambda: self._range(query),
            "/api/v1/alertmanagers": lambda: self.alertmanagers,
            "/api/v1/targets": lambda: self.targets,
            "/api/v1/rules": self._rules,
            "/api/v1/metadata": lambda: self.metadata,
            "/api/v1/targets/metadata": lambda: self._declared(query),
            "/api/v1/labels": lambda: sorted({name for s in self.series for name in s.labels}),
            "/api/v1/status/flags": lambda: self.flags,
            "/api/v1/status/config": lambda: {"yaml": self.configuration},
            "/api/v1/status/runtimeinfo": lambda: {"startTime": "2026-01-01T00:00:00Z"},
            "/api/v1/status/buildinfo": lambda: {"version": "3.16.0"},
            "/-/ready": lambda: "ready",
        }
        if path not in answers:
            return 404, {"status": "error"}
        return 200, {"status": "success", "data": answers[path]()}

    def _declared(self, query: dict[str, str]) -> list[Json]:
        job = query["match_target"].split('"')[1]
        return self.declared.get(job, {}).get(query["metric"], [])

    def _query(self, query: dict[str, str]) -> Json:
        self.before_query()
        if query["query"] in self.panels:
            at = float(query["time"])
            found = [{"metric": labels, "value": [at, "1"]} for labels in self.panels[query["query"]]]
            return {"resultType": "vector", "result": found}
        return evaluate(query["query"], self.series, query)

    def _range(self, query: dict[str, str]) -> Json:
        """Two values of each series."""
        times = (float(query["start"]), float(query["end"]))
        listed = self.panels[query["query"]]
        found = [{"metric": labels, "values": [[at, "1"] for at in times]} for labels in listed]
        return {"resultType": "matrix", "result": found}

    def change(self, method: str, path: str, _: str) -> Answer:
        """It is only read."""
        return 405, {"status": "error", "error": f"{method} {path}"}

    def remove_job(self, job: str) -> None:
        """Take a scrape job out of the configuration: its targets and all its series are gone."""
        self.targets["activeTargets"] = [t for t in self.targets["activeTargets"] if t["labels"]["job"] != job]
        self.series = [s for s in self.series if s.labels.get("job") != job]

    def set(self, name: str, value: float) -> None:
        """Give all series of this name a value, and its own page too."""
        self.own[name] = value
        for found in self.series:
            if found.labels["__name__"] == name:
                found.value = value

    def _rules(self) -> Json:
        now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        grouped: dict[str, list[Json]] = {}
        for group, name in self.rules:
            shown = {"revision": self.revision} if name == "plumbline:config_revision" else {}
            grouped.setdefault(group, []).append(objects.rule(name, now, **shown))
        return {"groups": [objects.group(group, *rules) for group, rules in grouped.items()]}


def metadata_of_catalogue() -> dict[str, list[Json]]:
    """What targets declare; counters without their suffix, as OpenMetrics has it."""
    found: dict[str, list[Json]] = {}
    for page in PRODUCERS:
        for metric in page.metrics:
            declared = {"type": metric.type.value, "help": "", "unit": ""}
            known = found.setdefault(metric.name.removesuffix("_total"), [])
            known += [] if declared in known else [declared]
    return found


class Answering(Protocol):
    """State that answers requests."""

    def get(self, path: str, query: dict[str, str]) -> Answer:
        """Answer a GET."""

    def change(self, method: str, path: str, body: str) -> Answer:
        """Answer any other method."""


@contextmanager
def served(state: Answering) -> Iterator[str]:
    """Serve the state on loopback; gives the base address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Header and body are two writes; without this each answer waits 40 ms for an acknowledgement.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            self._answer(*state.get(parts.path, {k: v[0] for k, v in parse_qs(parts.query).items()}))

        def do_DELETE(self) -> None:
            self._change()

        def do_POST(self) -> None:
            self._change()

        def do_PUT(self) -> None:
            self._change()

        def _change(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            self._answer(*state.change(self.command, self.path, body))

        def _answer(self, code: int, body: object) -> None:
            data = (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with serving(server) as address:
        yield address
