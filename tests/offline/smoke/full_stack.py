"""GPUs, an Alertmanager, a Pushgateway and a sink as stand-ins, tied together as a real stack ties them.

A pod that asks for a GPU is named by its series; a pushed proof fires, arrives, and resolves once it is gone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from signals.alertmanager_config import Receiver, Webhook, config_hash, render
from signals.catalogue.pushgateway import PAGE_PROOF
from signals.routing import inhibit_rules, route
from smoke.access.exposition import parse
from smoke.judge.configuration import revision
from smoke.judge.gpu import holders
from tests.offline.smoke import objects
from tests.offline.smoke.fakes import BASE
from tests.offline.smoke.promql import Series, series_of

if TYPE_CHECKING:
    from tests.offline.smoke.fakes import Answer, ApiServer, FakePrometheus

Json = dict[str, Any]

AGENTS = f"{objects.NAMESPACE}-node"
GPUS = ("GPU-0", "GPU-1")
JOBS = (*objects.JOBS, "dcgm-exporter", "pushgateway")
SINK = "alert-sink"
NAMES = ("P0", "P1", "P2", "P3", "watchdog")
RECEIVERS = tuple(
    Receiver(name=name, webhooks=(Webhook(url=f"http://{SINK}.sandbox.svc:8080/{name}"),)) for name in NAMES
)
RENDERED = render(RECEIVERS, route({name: name for name in NAMES}), inhibit_rules())
GPU_TARGET = {"job": "dcgm-exporter", "instance": objects.NODE, "node": objects.NODE}


class Pushes:
    """State of the Pushgateway: (job, instance) → the text that was pushed."""

    def __init__(self) -> None:
        self.groups: dict[tuple[str, str], str] = {}
        self.deletes = True
        self.flags = {"persistence.file": "/data/metrics"}

    def get(self, path: str, _: dict[str, str]) -> Answer:
        """Answer a GET."""
        if path == "/api/v1/status":
            return 200, {"status": "success", "data": {"flags": self.flags}}
        labels = [{"labels": {"job": job, "instance": instance}} for job, instance in self.groups]
        return 200, {"status": "success", "data": labels}

    def change(self, method: str, path: str, body: str) -> Answer:
        """Push or delete a group."""
        _, _, _, job, _, instance = map(unquote, path.split("/"))
        if method == "DELETE":
            _ = self.groups.pop((job, instance), None) if self.deletes else None
            return 202, ""
        self.groups[(job, instance)] = body
        return 200, ""


class Pager:
    """State of Alertmanager and the sink behind it. `boxes`: severity → names under which the sink receives."""

    def __init__(self, pushes: Pushes) -> None:
        self.pushes = pushes
        self.configuration = re.sub(r"url: http\S+", "url: <secret>", RENDERED)
        self.loaded = RENDERED
        self.boxes = {name: [name] for name in NAMES}
        self.runbook = "docs/runbooks/scrape-target-down.md"
        self.received = [self._notification("watchdog", {"alertname": "Watchdog"}, "firing")]
        self._fired: dict[tuple[str, str], dict[str, str]] = {}

    def get(self, path: str, query: dict[str, str]) -> Answer:
        """Answer a GET."""
        self.tell()
        if path == "/api/v2/status":
            return 200, {"config": {"original": self.configuration}}
        if path == "/api/v2/alerts":
            return 200, [self._held(labels) for labels in self._firing().values() if labels["proof"] in query["filter"]]
        if path == "/notifications":
            named = [n for n in self.received if query.get("alertname", "") in ("", _name(n))]
            return 200, {"notifications": named}
        sent = {name: sum(1 for n in self.received if n["receiver"] == name) for name in NAMES}
        lines = [f'alertmanager_notifications_total{{receiver_name="{n}"}} {count}' for n, count in sent.items()]
        lines += [f"alertmanager_config_hash {config_hash(self.loaded)!r}"]
        return 200, "\n".join([*lines, "alertmanager_config_last_reload_successful 1", ""])

    def change(self, method: str, path: str, _: str) -> Answer:
        """It is only read."""
        return 405, {"error": f"{method} {path}"}

    def tell(self) -> None:
        """Notify of what has begun and what has ended since the last time."""
        firing = self._firing()
        for key, labels in firing.items():
            if key not in self._fired:
                self.received += [self._notification(box, labels, "firing") for box in self.boxes[labels["severity"]]]
        for key, labels in self._fired.items():
            if key not in firing:
                self.received += [self._notification(box, labels, "resolved") for box in self.boxes[labels["severity"]]]
        self._fired = firing

    def _firing(self) -> dict[tuple[str, str], dict[str, str]]:
        samples = [sample for text in self.pushes.groups.values() for sample in parse(text)]
        return {
            (s.labels["proof"], s.labels["severity"]): {**s.labels, "alertname": "PlumblinePageProof"}
            for s in samples
            if s.name == PAGE_PROOF and s.value == 1
        }

    def _held(self, labels: dict[str, str]) -> Json:
        receivers = [{"name": name} for name in self.boxes[labels["severity"]]]
        return {**self._alert(labels), "receivers": receivers, "status": {"state": "active"}}

    def _alert(self, labels: dict[str, str]) -> Json:
        return {"labels": labels, "annotations": {"summary": "a proof", "runbook_url": self.runbook}}

    def _notification(self, box: str, labels: dict[str, str], status: str) -> Json:
        alerts = [{**self._alert(labels), "status": status}]
        return {"receiver": box, "receivedAt": "", "payload": {"status": status, "receiver": box, "alerts": alerts}}


class Platform:
    """Ties the stand-ins: what pods hold and what is pushed becomes series. `damage` may change each refresh."""

    def __init__(self, api: ApiServer, prometheus: FakePrometheus) -> None:
        self.api, self.prometheus = api, prometheus
        self.pushes = Pushes()
        self.pager = Pager(self.pushes)
        self.gpus = list(GPUS)
        self.sent = 3.0
        self.attribution = self.honor_labels = True
        self._base = prometheus.series
        prometheus.before_query = self.refresh
        prometheus.targets["activeTargets"] += [
            objects.target("dcgm-exporter", "http://10.88.0.9:9400/metrics", node=objects.NODE, instance=objects.NODE),
            objects.target("pushgateway", "http://10.88.0.8:9091/metrics"),
        ]
        prometheus.alertmanagers["activeAlertmanagers"] = [
            {"url": "http://alertmanager.plumbline.svc:9093/api/v2/alerts"}
        ]
        self._add_objects()

    def refresh(self) -> None:
        """Make the series anew."""
        target = self.prometheus.targets["activeTargets"]
        exporter = next(t["labels"] for t in target if t["labels"]["job"] == "dcgm-exporter")
        gateway = next(t["labels"] for t in target if t["labels"]["job"] == "pushgateway")
        own = {**target[0]["labels"], "__name__": "prometheus_notifications_sent_total", "alertmanager": "x"}
        sent = Series(own, 9.0, increase=self.sent)
        made = [*self._base, *self._gpus(exporter), *series_of(gateway), *self._pushed(gateway), sent]
        self.prometheus.series = made

    def _gpus(self, target: dict[str, str]) -> list[Series]:
        held = [holder for holder, count in holders(self._unlabelled()).items() for _ in range(count)]
        found = []
        for number, uuid in enumerate(self.gpus):
            holder = (
                dict(zip(("namespace", "pod", "container"), held[number], strict=True)) if number < len(held) else {}
            )
            own = {"gpu": str(number), "UUID": uuid} | (holder if self.attribution else {})
            for series in series_of(target):
                name = series.labels["__name__"]
                if not name.startswith(("up", "scrape_")):
                    series.labels |= own
                    found.append(series)
        kept = {"__name__": "scrape_samples_post_metric_relabeling", **target}
        return [*found, Series({"__name__": "up", **target}, 1.0), Series(kept, float(len(found)))]

    def _unlabelled(self) -> list[Json]:
        """Pods without the mark of smoke: to an exporter, a sentinel is a pod like any other."""
        return [{**pod, "metadata": {**pod["metadata"], "labels": {}}} for pod in self.api.pods()]

    def _pushed(self, target: dict[str, str]) -> list[Series]:
        found = []
        for (job, instance), text in self.pushes.groups.items():
            own = {"job": job, "instance": instance}
            if not self.honor_labels:
                own = {"job": target["job"], "instance": target["instance"], "exported_job": job}
            for sample in parse(text):
                found.append(Series({**target, "__name__": sample.name, **sample.labels, **own}, sample.value))
            found.append(Series({**target, "__name__": "push_time_seconds", **own, "instance": instance}, 1.0))
        return found

    def _add_objects(self) -> None:
        objects_ = self.api.objects
        for path in ("/api/v1/nodes", f"/api/v1/nodes/{objects.NODE}"):
            node = objects_[path][0] if isinstance(objects_[path], list) else objects_[path]
            node["status"]["allocatable"] = {"cpu": "4", "nvidia.com/gpu": str(len(GPUS))}
        objects_[f"/api/v1/namespaces/{AGENTS}/pods"] = [agent_pod()]
        objects_[f"/apis/apps/v1/namespaces/{AGENTS}/daemonsets/dcgm-exporter"] = daemon_set()
        objects_[f"/apis/apps/v1/namespaces/{AGENTS}/controllerrevisions"] = [
            {
                "metadata": {"labels": {"controller-revision-hash": "1"}, "ownerReferences": [{"uid": "ds"}]},
                "revision": 1,
            }
        ]
        objects_[f"{BASE}/services/alertmanager"] = {"spec": {"clusterIP": "10.99.0.5"}}
        objects_[f"/apis/discovery.k8s.io/v1/namespaces/{objects.NAMESPACE}/endpointslices"] = [
            {"ports": [{"port": 9093}], "endpoints": [{"addresses": ["10.88.0.6"]}]}
        ]


def components(alertmanager: str, pushgateway: str, sink: str) -> Json:
    """The components of the contract besides Prometheus, by the addresses of their stand-ins."""
    return {
        "alertmanager": {
            "tier": "live",
            "endpoints": {
                "http": {"service": "alertmanager", "port": 9093, "url": alertmanager},
                "sink": {"service": SINK, "namespace": "sandbox", "port": 8080, "url": sink},
            },
            "revision": revision({"alertmanager.yml": RENDERED}),
        },
        "pushgateway": {
            "tier": "live",
            "endpoints": {"http": {"service": "pushgateway", "port": 9091, "url": pushgateway}},
            "flags": {"persistence.file": "/data/metrics"},
        },
        "dcgm-exporter": {
            "tier": "simulated",
            "namespace": AGENTS,
            "workloads": [
                {
                    "kind": "DaemonSet",
                    "name": "dcgm-exporter",
                    "replicas": None,
                    "images": [{"container": "exporter", "reference": "dcgm:1"}],
                }
            ],
        },
    }


def gpu_pod(name: str, gpus: int, namespace: str = "team-a", **labels: str) -> Json:
    """A running pod that holds GPUs."""
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": name, "labels": labels},
        "spec": {
            "nodeName": objects.NODE,
            "containers": [{"name": "train", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}],
        },
        "status": {"phase": "Running"},
    }


def agent_pod() -> Json:
    """The pod of the exporter on the node, with the privileges that its manifest has."""
    status = objects.pod()["status"]
    status["containerStatuses"][0] |= {"name": "exporter", "imageID": "sha256:1"}
    return {
        "metadata": {
            "name": "dcgm-exporter-x",
            "namespace": AGENTS,
            "uid": "agent",
            "labels": {"app": "dcgm", "controller-revision-hash": "1"},
        },
        "spec": {
            "securityContext": {"runAsUser": 0, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [
                {
                    "name": "exporter",
                    "image": "dcgm:1",
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "readOnlyRootFilesystem": True,
                        "capabilities": {"drop": ["ALL"], "add": ["SYS_ADMIN"]},
                    },
                    "volumeMounts": [{"name": "pods", "mountPath": "/pods", "readOnly": True}],
                }
            ],
            "volumes": [{"name": "pods", "hostPath": {"path": "/var/lib/kubelet/pod-resources"}}],
        },
        "status": status,
    }


def daemon_set() -> Json:
    """The exporter's DaemonSet, rolled out."""
    one = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "updatedNumberScheduled",
        "numberReady",
        "numberAvailable",
    )
    return {
        "kind": "DaemonSet",
        "metadata": {"name": "dcgm-exporter", "uid": "ds", "generation": 1},
        "spec": {
            "selector": {"matchLabels": {"app": "dcgm"}},
            "template": {"spec": {"containers": [{"name": "exporter", "image": "dcgm:1"}]}},
        },
        "status": {"observedGeneration": 1, **dict.fromkeys(one, 1)},
    }


def _name(notification: Json) -> str:
    return str(notification["payload"]["alerts"][0]["labels"]["alertname"])
