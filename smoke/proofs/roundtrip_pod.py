"""The driver in a pod beside SwanLab: as a training pod logs, with the address and the key that such a pod is given."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any

from smoke.access.errors import AccessError, RefusedError
from smoke.judge.pods import TERMINAL_REASONS, container_statuses
from smoke.model import Problem
from smoke.proofs.model import LABEL
from smoke.proofs.pod import sentinel
from smoke.redact import bounded
from smoke.sdk.drive import DRIVER, TAIL

if TYPE_CHECKING:
    from smoke.stack import Stack
    from stacks.contract import Experiments

Json = dict[str, Any]

PREFIX = "plumbline-sdk-proof-"
SENTINEL = "swanlab-roundtrip"
CONTAINER = "sdk"
MOUNT = "/plan"
NOT_FOUND = 404
KINDS = ("pods", "configmaps")


class Pod:
    """The driver as a pod. Pod and ConfigMap carry LABEL, are removed at the end, and before that by the next run."""

    name = "a pod"

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._name = PREFIX + secrets.token_hex(4)
        self._made: list[tuple[str, str]] = []
        self._text = ""

    def clear(self) -> None:
        """Remove pods and ConfigMaps of earlier runs."""
        for kind in KINDS:
            found = self._stack.kube.items(self._list(kind), labelSelector=f"{LABEL}={SENTINEL}")
            for one in found:
                self._delete(f"{self._list(kind)}/{one['metadata']['name']}", one["metadata"]["uid"])

    def start(self, plan: Json) -> None:
        """Create the ConfigMap and the pod. Raises AccessError, also without an image."""
        experiments = self._stack.experiments
        if experiments.sdk_image is None:
            raise AccessError("contract", "names no image with the SDK, though it claims that one can run in a pod")
        files = {"driver.py": DRIVER.read_text(encoding="utf-8"), "plan.json": json.dumps(plan)}
        pulls = self._pull_secrets()
        self._create("configmaps", config_map(self._name, files))
        self._create("pods", sentinel_pod(self._name, experiments, pulls))

    def running(self) -> list[Problem]:
        """It waits, runs, or cannot."""
        subject = f"pod {self._namespace}/{self._name}"
        pod = self._stack.kube.find(f"{self._list('pods')}/{self._name}")
        if pod is None:
            return [Problem(subject, "gone", "ended by itself", terminal=True)]
        status = pod.get("status", {})
        phase = status.get("phase", "Unknown")
        if phase == "Succeeded":
            return []
        if phase == "Failed":
            why = " ".join(str(status[name]) for name in ("reason", "message") if status.get(name))
            seen = f"Failed {why}: {bounded(self.printed()[-TAIL:].strip())}"
            return [Problem(subject, seen, "Succeeded", terminal=True)]
        return [Problem(subject, f"{phase}{_why(pod)}", "Succeeded", terminal=_hopeless(pod))]

    def printed(self) -> str:
        """The log of the pod, kept beyond its end."""
        path = f"{self._list('pods')}/{self._name}/log"
        self._text = self._text or self._stack.kube.text(path, container=CONTAINER)
        return self._text

    def stop(self) -> None:
        """Delete the pod and the ConfigMap."""
        while self._made:
            self._delete(*self._made[-1])
            self._made.pop()

    @property
    def _namespace(self) -> str:
        # A pod can only use a Secret of its own namespace.
        return self._stack.experiments.login.namespace

    def _list(self, kind: str) -> str:
        return f"/api/v1/namespaces/{self._namespace}/{kind}"

    def _create(self, kind: str, body: Json) -> None:
        path = f"{self._list(kind)}/{body['metadata']['name']}"
        self._made.append((path, ""))  # before the answer, which an interrupt may keep away
        self._made[-1] = (path, self._stack.kube.create(self._list(kind), body)["metadata"]["uid"])

    def _delete(self, path: str, uid: str) -> None:
        try:
            self._stack.kube.delete(path, uid)
        except RefusedError as error:
            if error.status != NOT_FOUND:
                raise

    def _pull_secrets(self) -> list[Json]:
        """Those of the pods beside it: the image comes from the same registry."""
        pods = self._stack.kube.pods(self._namespace)
        found = (pod["spec"].get("imagePullSecrets") for pod in pods)
        return next((secrets_ for secrets_ in found if secrets_), [])


def config_map(name: str, files: dict[str, str]) -> Json:
    """The driver and its plan, for the pod of the same name."""
    metadata = {"name": name, "labels": {LABEL: SENTINEL}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": files}


def sentinel_pod(name: str, experiments: Experiments, pulls: list[Json]) -> Json:
    """A pod that logs one run and ends. pulls: its imagePullSecrets."""
    volumes = [
        {"name": "plan", "configMap": {"name": name}},
        {"name": "tmp", "emptyDir": {"sizeLimit": "256Mi"}},
    ]
    return sentinel(name, SENTINEL, _container(experiments), imagePullSecrets=pulls, volumes=volumes)


def _container(experiments: Experiments) -> Json:
    key = experiments.login
    return {
        "name": CONTAINER,
        "image": experiments.sdk_image,
        "command": ["python3", "-B", f"{MOUNT}/driver.py", f"{MOUNT}/plan.json"],
        "env": [
            {"name": "SWANLAB_API_HOST", "value": experiments.host},
            {"name": "SWANLAB_API_KEY", "valueFrom": {"secretKeyRef": {"name": key.name, "key": key.key}}},
            {"name": "HOME", "value": "/tmp"},  # noqa: S108  # a volume of the pod's own
        ],
        "resources": {
            "requests": {"cpu": "50m", "memory": "128Mi"},
            "limits": {"memory": "512Mi"},
        },
        "volumeMounts": [
            {"name": "plan", "mountPath": MOUNT, "readOnly": True},
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108  # as above
        ],
    }


def _why(pod: Json) -> str:
    waiting = [(status.get("state") or {}).get("waiting") or {} for status in container_statuses(pod)]
    told = [" ".join(str(one[name]) for name in ("reason", "message") if one.get(name)) for one in waiting]
    told += [str(c["message"]) for c in pod.get("status", {}).get("conditions") or [] if c.get("message")]
    words = [word for word in told if word]
    return f" ({'; '.join(words)})" if words else ""


def _hopeless(pod: Json) -> bool:
    waiting = [(status.get("state") or {}).get("waiting") or {} for status in container_statuses(pod)]
    return any(one.get("reason") in TERMINAL_REASONS for one in waiting)
