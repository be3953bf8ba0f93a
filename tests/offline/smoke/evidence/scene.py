"""Two runs side by side on one node, on a clock that is turned by hand, with simulated GPUs that feel what is played.

`hot` is the run whose second GPU is throttled in one step; `cool` is its neighbour. Run `silent` has a pod that says
nothing. What they leave goes into a real
Prometheus, a real VictoriaLogs and a real Jaeger.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

from sandbox.workloads.gpu.collector import Shape
from sandbox.workloads.gpu.counters import parse as parse_counters
from sandbox.workloads.gpu.identity import gpu_uuid
from sandbox.workloads.gpu.kubelet import Pod
from sandbox.workloads.gpu.node import Node
from sandbox.workloads.training.settings import Settings
from sandbox.workloads.training.traces import Traces
from signals.catalogue.dcgm import COUNTERS
from signals.catalogue.labels import INFO_METRIC
from smoke.access.exposition import parse
from tests.offline.sandbox.training.played import Turned, play
from tests.offline.smoke import objects

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Json = dict[str, Any]
NODE: Final = "gpu-node-1"
NAMESPACE: Final = "team-a"
UUIDS: Final = tuple(gpu_uuid(NODE, number) for number in range(4))
OF_RUN: Final = {"hot": UUIDS[:2], "cool": UUIDS[2:]}
STEP: Final = 40
STEPS: Final = 50
SECONDS: Final = 5.0
SLOWER: Final = 6.0
SCRAPE: Final = 5.0
BEFORE, AFTER = 600.0, 400.0
FLEET: Final = {"cluster": "local", "environment": "dev"}


@dataclass
class Scene:
    """What happened. begin: when both runs began. slowed: when the GPU was slow. samples: lines of OpenMetrics."""

    begin: float
    hot_gpu: int = 1
    slow: bool = True
    slowed: tuple[float, float] = (0.0, 0.0)
    lines: list[Json] = field(default_factory=list)
    samples: list[str] = field(default_factory=list)
    xids: dict[float, tuple[int, int]] = field(default_factory=dict)

    @property
    def now(self) -> float:
        """When somebody asks."""
        return self.begin + 900.0


def play_scene(scene: Scene, traces: str) -> None:
    """Let both runs and the GPUs go. traces: where OTLP/HTTP goes."""
    for run in OF_RUN:
        settings = Settings(identity={"run_id": run, "team": "vision"}, steps=STEPS, step_seconds=SECONDS, ranks=2)
        sender = Traces({"run_id": run, "team": "vision"}, OTLPSpanExporter(f"{traces}/v1/traces"))
        plan = {STEP: {1: SLOWER}} if run == "hot" and scene.slow else {}
        found = play(settings, Turned(scene.begin), plan, sender)
        sender.close()
        scene.lines += [_shipped(run, line) for line in found.lines]
        if run == "hot":
            (line,) = (one for one in found.lines if (one["step"], one["rank"]) == (STEP, 1))
            end = datetime.fromisoformat(line["time"]).timestamp()
            scene.slowed = end - line["step_time"], end
    scene.samples += [*_gpus(scene), *_cluster(scene)]


def alert(scene: Scene, name: str, begin: float, end: float, *, state: str = "firing", **labels: str) -> None:
    """An alert was there, an evaluation every 15 s."""
    own = {**FLEET, "alertname": name, "alertstate": state, "severity": "P2", **labels}
    scene.samples += [_sample("ALERTS", own, 1, at) for at in _times(begin, end, 15.0)]


def started(scene: Scene, begin: float, end: float, *, cluster: str, at: float) -> None:
    """A Prometheus of another cluster tells when it started, which is `at`."""
    own = {**FLEET, "cluster": cluster, "job": "prometheus", "instance": "p"}
    scene.samples += [_sample("process_start_time_seconds", own, at, time) for time in _times(begin, end, 15.0)]


def _shipped(run: str, line: Json) -> Json:
    """A line as the collectors store it: keys as attributes, and whose container wrote it."""
    where = {"k8s.namespace.name": NAMESPACE, "k8s.pod.name": f"{run}-0", "k8s.container.name": "training"}
    text = {"_msg": line["message"], "_time": line["time"], "severity_text": line["level"]}
    rest = {key: value for key, value in line.items() if key not in ("message", "time", "level")}
    return {**text, **where, **rest}


def _gpus(scene: Scene) -> Iterator[str]:
    """Pages of the simulated exporter. It samples whenever something begins or ends, and at each scrape."""
    written = io.StringIO()
    csv.writer(written).writerows(COUNTERS)
    node = Node(Shape(NODE, None, parse_counters(written.getvalue(), "counters.csv")), scene.begin - BEFORE)
    node.devices(UUIDS, scene.begin - BEFORE)
    held = {uuid: Pod(f"{run}-0", NAMESPACE, "training") for run, uuids in OF_RUN.items() for uuid in uuids}
    moments = dict.fromkeys(_times(scene.begin - BEFORE, scene.begin + AFTER + 300, SCRAPE), "scrape")
    moments |= dict(zip(scene.slowed, ("hot", "calm"), strict=True)) if scene.slow else {}
    moments |= dict.fromkeys(scene.xids, "xid")
    target = {**FLEET, "job": "dcgm-exporter", "instance": NODE, "node": NODE}
    for at, what in sorted(moments.items()):
        pods = held if at >= scene.begin else {}
        node.tick(at, pods)
        if what == "hot":
            node.play({"kind": "hot", "gpu": scene.hot_gpu, "celsius": 93}, at)
        elif what == "calm":
            node.calm(None)
        elif what == "xid":
            gpu, code = scene.xids[at]
            node.play({"kind": "xid", "gpu": gpu, "code": code}, at)
        else:
            for one in parse(node.page(pods, at).body):
                yield _sample(one.name, {**one.labels, **target}, one.value, at)


def _cluster(scene: Scene) -> Iterator[str]:
    """What kube-state-metrics and the rules say, until both pods are gone."""
    for at in _times(scene.begin, scene.begin + AFTER, 15.0):
        for run in OF_RUN:
            pod = {**FLEET, "namespace": NAMESPACE, "pod": f"{run}-0"}
            yield _sample(INFO_METRIC, {**pod, "run_id": run, "team": "vision"}, 1, at)
            yield _sample("kube_pod_info", {**pod, "uid": f"uid-{run}", "node": NODE}, 1, at)
            asks = {"container": "training", "resource": "nvidia_com_gpu", "unit": "integer", "node": NODE}
            yield _sample("kube_pod_container_resource_requests", {**pod, **asks}, 2, at)
        # Somebody else's pod of the same name, on somebody else's GPU.
        other = {**FLEET, "namespace": "team-b", "pod": "cool-0", "node": "gpu-node-2", "UUID": "GPU-elsewhere"}
        yield _sample("DCGM_FI_DEV_FB_FREE", {**other, "gpu": "0", "modelName": "H100"}, 1, at)
        silent = {**FLEET, "namespace": NAMESPACE, "pod": "silent-0", "run_id": "silent"}
        yield _sample(INFO_METRIC, silent, 1, at)
    for at in _times(scene.begin - BEFORE, scene.now, 15.0):
        yield _sample("up", {**FLEET, "job": "dcgm-exporter", "instance": NODE}, 1, at)
        yield _sample("ALERTS", {**FLEET, "alertname": "Watchdog", "alertstate": "firing"}, 1, at)


def _times(begin: float, end: float, every: float) -> list[float]:
    return [begin + every * number for number in range(int((end - begin) // every) + 1)]


def _sample(name: str, labels: Mapping[str, str], value: float, at: float) -> str:
    inside = ",".join(f'{key}="{text}"' for key, text in labels.items())
    return f"{name}{{{inside}}} {value!r} {at:.3f}"


def open_metrics(scene: Scene, path: Path) -> None:
    """Write the samples for promtool, in order of time."""
    ordered = sorted(scene.samples, key=lambda line: float(line.rpartition(" ")[2]))
    path.write_text("\n".join([*ordered, "# EOF", ""]))


def ship_lines(scene: Scene, port: int) -> None:
    """Into VictoriaLogs. port: of its HTTP interface."""
    address = f"http://127.0.0.1:{port}/insert/jsonline"
    fields = {"_stream_fields": "k8s.namespace.name,k8s.pod.name,k8s.container.name"}
    body = "\n".join(json.dumps(line) for line in scene.lines)
    with requests.Session() as session:
        session.trust_env = False
        session.post(address, params=fields, data=body, timeout=30).raise_for_status()
        session.get(f"http://127.0.0.1:{port}/internal/force_flush", timeout=30).raise_for_status()


def contract(path: Path, prometheus: int, logs: int | None, jaeger: int | None) -> Path:
    """Write the contract of a stack with these stores; None for one that it does not have."""
    document = objects.contract().model_dump(mode="json")
    document["capabilities"] = ["metrics", "gpu", *(["logs"] if logs else []), *(["traces"] if jaeger else [])]
    document["telemetry"] = {"logs": {"retention_seconds": 86400, "retention_bytes": 1}} if logs else None
    document["components"]["prometheus"]["endpoints"]["http"]["url"] = f"http://127.0.0.1:{prometheus}"
    for name, port in (("victoria-logs", logs), ("jaeger", jaeger)):
        endpoint = {"service": name, "port": 1, "url": f"http://127.0.0.1:{port}"}
        document["components"] |= {name: {"tier": "live", "endpoints": {"http": endpoint}}} if port else {}
    path.write_text(json.dumps(document))
    return path


def utc(seconds: float) -> str:
    """As pages write it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
