"""A line proven: a pod prints it, and it is at the store of logs, with the keys of its pod and those of its own.

The pod runs the collector's own image, which every stack has: started with a configuration that does nothing, it prints
JSON lines, to which its settings add the fields of a workload.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from smoke import limits
from smoke.access.errors import AccessError, RefusedError
from smoke.access.logsql import exactly
from smoke.judge import telemetry
from smoke.judge.pods import TERMINAL_REASONS, container_statuses
from smoke.judge.telemetry import PREFIX
from smoke.model import Problem
from smoke.proofs.model import LABEL, advanced
from smoke.proofs.nonces import identifier, word
from smoke.proofs.pod import sentinel

if TYPE_CHECKING:
    from collections.abc import Callable

    from smoke.stack import Stack

Json = dict[str, Any]

SENTINEL = "log-line"
CONTAINER = "printer"
LINE = "Everything is ready. Begin running and processing data."
"""Printed once, when it has started."""
NOT_FOUND = 404


class NonceLine:
    """The proof, in stages: the pod runs, its line is found, the pod is removed. The line stays in the store."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._nonce = word()
        self._trace_id = identifier(32)
        self._name = f"{PREFIX}line-{self._nonce}"
        self._asked = False
        self._pod: Json | None = None
        self._removed = False
        self._stages: list[Callable[[], list[Problem]]] = []
        self.subject = f"pod {stack.contract.namespace}/{self._name}"

    @property
    def told(self) -> str:
        """What was seen, once every stage is passed."""
        return f"{self.subject} printed a line; it was found once, with {', '.join(self._expected())}"

    def begin(self) -> None:
        """Delete pods of earlier runs, then create one."""
        if self._pod is not None:
            return
        namespace = self._stack.contract.namespace
        for pod in self._stack.kube.items(self._list(), labelSelector=f"{LABEL}={SENTINEL}"):
            if (pod["metadata"].get("labels") or {}).get(LABEL) == SENTINEL:
                self._delete(pod["metadata"]["name"], pod["metadata"]["uid"])
        manifest = printer(self._name, self._image(), self._fields())
        self._asked = True  # before the answer, which an interrupt may keep away
        self._pod = self._stack.kube.create_pod(namespace, manifest)
        self._stages = [self._runs, self._found, self._gone]

    def advance(self) -> list[Problem]:
        """One attempt at the stage that is due, and at those behind it that pass at once."""
        if self._pod is None:
            return [Problem(self.subject, "not created", "created")]
        return advanced(self._stages)

    def end(self) -> None:
        """Delete the pod if it is there."""
        if self._asked and not self._removed:
            self._delete(self._name, (self._pod or {}).get("metadata", {}).get("uid", ""))
            self._removed = True

    def _fields(self) -> dict[str, str]:
        """What a workload of ours has in its lines beside the text."""
        return {"run_id": f"{PREFIX}{self._nonce}", "trace_id": self._trace_id}

    def _expected(self) -> dict[str, str]:
        metadata, spec = (self._pod or {}).get("metadata", {}), (self._pod or {}).get("spec", {})
        own = {
            "k8s.namespace.name": self._stack.contract.namespace,
            "k8s.pod.name": self._name,
            "k8s.pod.uid": metadata.get("uid", ""),
            "k8s.container.name": CONTAINER,
            "k8s.node.name": spec.get("nodeName", ""),
        }
        return {**own, **self._fields(), **self._stack.telemetry.promised.resource_attributes}

    def _image(self) -> Json:
        pods = self._stack.telemetry.pods("gateway") or self._stack.telemetry.pods("agent")
        if not pods:
            raise AccessError("collectors", "no pod of them is there, whose image could print a line")
        spec = pods[0]["spec"]
        return {"image": spec["containers"][0]["image"], "secrets": spec.get("imagePullSecrets") or []}

    def _runs(self) -> list[Problem]:
        pod = self._stack.kube.find(f"{self._list()}/{self._name}")
        if pod is None:
            return [Problem(self.subject, "gone", "running", terminal=True)]
        self._pod = pod
        phase = pod.get("status", {}).get("phase", "Unknown")
        if phase == "Running":
            return []
        waiting = [(status.get("state") or {}).get("waiting") or {} for status in container_statuses(pod)]
        reasons = [one["reason"] for one in waiting if one.get("reason")]
        hopeless = phase in ("Succeeded", "Failed") or bool(TERMINAL_REASONS & set(reasons))
        return [Problem(self.subject, " ".join([phase, *reasons]), "Running", terminal=hopeless)]

    def _found(self) -> list[Problem]:
        rows = self._stack.telemetry.logs.rows(exactly("k8s.pod.name", self._name), limits.ROWS)
        return telemetry.line(rows, LINE, self._expected())

    def _gone(self) -> list[Problem]:
        self.end()
        return []

    def _list(self) -> str:
        return f"/api/v1/namespaces/{self._stack.contract.namespace}/pods"

    def _delete(self, name: str, uid: str) -> None:
        try:
            self._stack.kube.delete_pod(self._stack.contract.namespace, name, uid)
        except RefusedError as error:
            if error.status != NOT_FOUND:
                raise


def printer(name: str, image: Json, fields: dict[str, str]) -> Json:
    """A pod that prints a few JSON lines with these fields, then waits for its end."""
    container = {
        "name": CONTAINER,
        "image": image["image"],
        "args": [f"--config=yaml:{json.dumps(configuration(fields))}"],
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
    }
    return sentinel(name, SENTINEL, container, imagePullSecrets=image["secrets"])


def configuration(fields: dict[str, str]) -> Json:
    """Of a collector that takes nothing from anybody and prints what it does, on standard output."""
    told = {"level": "info", "encoding": "json", "output_paths": ["stdout"], "initial_fields": fields}
    return {
        "receivers": {"otlp": {"protocols": {"http": {"endpoint": "127.0.0.1:0"}}}},
        "exporters": {"debug": {}},
        "service": {
            "telemetry": {"metrics": {"level": "none"}, "logs": told},
            "pipelines": {"logs": {"receivers": ["otlp"], "exporters": ["debug"]}},
        },
    }
