"""What runs beside the stack in live tests: pods that hold GPUs, incidents of exporters, pages, a fleet."""

from __future__ import annotations

import csv
import json
import os
import socket
import subprocess
import sys
import time
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sandbox.cluster.layout import BRIDGE_ADDRESS
from sandbox.workloads.gpu import incidents
from signals.catalogue.dcgm import COUNTERS
from tests.live.plumbline import NAMESPACE, ROOT, forwarded, get, kubectl, query, shell_image, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NODES: Final = "plumbline-node"
CONTAINER: Final = "worker"
_CONTROL_PORT: Final = 9401
_GPU: Final = "nvidia.com/gpu"
_PUSHGATEWAY: Final = (
    f"/api/v1/namespaces/{NAMESPACE}/services/pushgateway:9091/proxy/metrics/job/plumbline-live/instance"
)


@dataclass(frozen=True)
class Holder:
    """A pod that holds GPUs and does nothing."""

    name: str
    team: str
    gpus: int

    def manifest(self) -> dict[str, Any]:
        """The pod. It ends by itself after a while, so that a killed run holds no GPU for ever."""
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": self.name, "labels": {"plumbline.dev/team": self.team}},
            "spec": {
                "restartPolicy": "Never",
                "activeDeadlineSeconds": 900,
                "terminationGracePeriodSeconds": 1,
                "automountServiceAccountToken": False,
                "securityContext": {
                    "runAsNonRoot": True,
                    "runAsUser": 65534,
                    "seccompProfile": {"type": "RuntimeDefault"},
                },
                "containers": [
                    {
                        "name": CONTAINER,
                        "image": shell_image(),
                        "imagePullPolicy": "IfNotPresent",
                        "command": ["/bin/sh", "-c", "exec sleep 900"],
                        "resources": {
                            "requests": {"cpu": "1m", "memory": "8Mi"},
                            "limits": {"memory": "32Mi", _GPU: str(self.gpus)},
                        },
                        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                    }
                ],
            },
        }


@contextmanager
def teams_namespace() -> Iterator[str]:
    """A namespace for pods of teams, gone afterwards with all that is in it."""
    name = f"live-teams-{uuid.uuid4().hex[:6]}"
    kubectl("create", "namespace", name)
    try:
        yield name
    finally:
        kubectl("delete", "pods", "--all", "-n", name)
        kubectl("delete", "namespace", name, "--wait=false")


def start(namespace: str, *holders: Holder) -> None:
    """Create the pods and wait until each runs: then it holds its GPUs."""
    items = [holder.manifest() for holder in holders]
    kubectl("apply", "-n", namespace, "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    names = [f"pod/{holder.name}" for holder in holders]
    kubectl("wait", "-n", namespace, "--for=condition=Ready", "--timeout=90s", *names)


def allocatable() -> dict[str, int]:
    """Node → GPUs that it offers to pods."""
    nodes = get("nodes")["items"]
    return {n["metadata"]["name"]: int(n["status"]["allocatable"].get(_GPU, "0")) for n in nodes}


@contextmanager
def exporter() -> Iterator[str]:
    """The control interface of the exporter on the node; whatever was played has ended afterwards."""
    pods = get("pods", "-n", NODES, "-l", "app.kubernetes.io/name=dcgm-exporter")["items"]
    with forwarded(f"pod/{pods[0]['metadata']['name']}", _CONTROL_PORT, NODES) as base:
        try:
            yield base
        finally:
            incidents.end_all(base)


@contextmanager
def fleet(nodes: int, work: Path) -> Iterator[str]:
    """Exporters of nodes outside the cluster, `gpu-node-0000` and on, with the counters that the stack ships.

    Gives host:port. work: a directory for the file of counters.
    """
    counters = work / "counters.csv"
    with counters.open("w") as file:
        csv.writer(file).writerows(COUNTERS)
    with socket.create_server((BRIDGE_ADDRESS, 0)) as free:
        port = free.getsockname()[1]
    argv = ["--nodes", str(nodes), "--gpus", "2", "--interval", "1000", "--collectors", str(counters)]
    argv += ["--host", BRIDGE_ADDRESS, "--port", str(port)]
    with subprocess.Popen(
        [sys.executable, "-m", "sandbox.workloads.gpu.fleet", *argv],
        cwd=ROOT,
        env=os.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            until("the fleet listens", lambda: _listens(port), 30)
            yield f"{BRIDGE_ADDRESS}:{port}"
        finally:
            process.terminate()


def _listens(port: int) -> bool:
    with socket.socket() as client:
        client.settimeout(1)
        return client.connect_ex((BRIDGE_ADDRESS, port)) == 0


@contextmanager
def pushed(instance: str, text: str) -> Iterator[None]:
    """What a job pushes to the Pushgateway, deleted afterwards. text: in Prometheus' text format."""
    kubectl("create", "--raw", f"{_PUSHGATEWAY}/{instance}", "-f", "-", stdin=text)
    try:
        yield
    finally:
        kubectl("delete", "--raw", f"{_PUSHGATEWAY}/{instance}")


@contextmanager
def page(*words: str) -> Iterator[None]:
    """An alert of severity P0 for each word, which its label `proof` holds."""
    lines = "".join(f'plumbline_page_proof{{severity="P0",proof="{word}"}} 1\n' for word in words)
    with pushed(words[0], f"# TYPE plumbline_page_proof gauge\n{lines}"):
        yield


def samples(selector: str, minutes: int = 5) -> list[tuple[dict[str, str], list[float]]]:
    """Labels of each series and the times of its samples, the oldest first."""
    found = query(f"{selector}[{minutes}m]", time.time())
    return [(series["metric"], [float(at) for at, _ in series["values"]]) for series in found]
