"""A GPU handed over: a pod of smoke's own asks for one, is named by its series, ends, and is named no longer."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from signals.catalogue.labels import INFO_METRIC
from smoke import limits
from smoke.access.errors import RefusedError
from smoke.judge import gpu, storage
from smoke.model import DeclaredSkipError, Problem
from smoke.proofs.model import advanced
from smoke.proofs.pod import sentinel

if TYPE_CHECKING:
    from collections.abc import Callable

    from smoke.stack import Stack

Json = dict[str, Any]

PREFIX = "plumbline-gpu-proof-"
TEAM = "plumbline-proof"
CONTAINER = "sleep"
NOT_FOUND = 404
# Their images have a shell, upstream's and ours alike.
WITH_SHELL = ("prometheus", "alertmanager", "pushgateway")
GONE = ("Succeeded", "Failed")


class Handover:
    """The proof, in stages: the pod runs, is named, is gone, is named no longer."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._name = PREFIX + secrets.token_hex(4)
        self._asked = False
        self._uid = ""
        self._removed = False
        self._node = ""
        self._uuid = ""
        self._stages: list[Callable[[], list[Problem]]] = []
        self.subject = f"pod {stack.contract.namespace}/{self._name}"

    @property
    def told(self) -> str:
        """What was seen, once every stage is passed."""
        return (
            f"{self.subject} on node {self._node} was named by exactly one GPU, {self._uuid}, and no longer once it "
            "was gone"
        )

    def begin(self) -> None:
        """Delete pods of earlier runs, then create one that asks for a GPU.

        Raises DeclaredSkipError if none is free.
        """
        if self._uid or self._stages:
            return
        namespace = self._stack.contract.namespace
        pods = self._stack.kube.all_pods()
        for pod in pods:
            if gpu.is_sentinel(pod) and pod["metadata"]["namespace"] == namespace:
                self._delete(pod["metadata"]["name"], pod["metadata"]["uid"])
        rest = [pod for pod in pods if not gpu.is_sentinel(pod)]
        resource = gpu.free(self._stack.kube.items("/api/v1/nodes"), rest)
        if resource is None:
            raise DeclaredSkipError("every GPU is held by a pod, so none can be handed over")
        label = gpu.team_label(self._stack.contract.rules.pod_labels)
        manifest = sentinel_pod(self._name, self._image(), resource, label)
        self._asked = True  # before the answer, which an interrupt may keep away
        self._uid = self._stack.kube.create_pod(namespace, manifest)["metadata"]["uid"]
        self._stages = [self._runs, self._named, self._owned, self._delete_own, self._gone, self._unnamed]

    def advance(self) -> list[Problem]:
        """One attempt at the stage that is due, and at those behind it that pass at once."""
        if not self._uid:
            return [Problem(self.subject, "not created", "created")]
        return advanced(self._stages)

    def end(self) -> None:
        """Delete the pod if it is there."""
        if self._asked and not self._removed:
            self._delete(self._name, self._uid)

    def _image(self) -> Json:
        components = self._stack.contract.components
        for name in WITH_SHELL:
            if name in components and components[name].workloads:
                pod, container = next(iter(self._stack.pods_of(name)), (None, ""))
                if pod is not None:
                    image = next(c["image"] for c in pod["spec"]["containers"] if c["name"] == container)
                    return {"image": image, "secrets": pod["spec"].get("imagePullSecrets") or []}
        raise DeclaredSkipError(f"the stack runs none of {', '.join(WITH_SHELL)}, whose images could hold a GPU")

    def _find(self) -> Json | None:
        return self._stack.kube.find(f"/api/v1/namespaces/{self._stack.contract.namespace}/pods/{self._name}")

    def _runs(self) -> list[Problem]:
        pod = self._find()
        if pod is None:
            return [Problem(self.subject, "gone", "running", terminal=True)]
        phase = pod.get("status", {}).get("phase")
        if phase == "Running":
            self._node = pod["spec"]["nodeName"]
            return []
        conditions = pod.get("status", {}).get("conditions") or []
        why = "; ".join(c["message"] for c in conditions if c.get("message"))
        return [Problem(self.subject, f"{phase}{f' ({why})' if why else ''}", "Running", terminal=phase in GONE)]

    def _named(self) -> list[Problem]:
        series = self._series()
        problems = gpu.handed_over(series, self._name, CONTAINER, self._node)
        if not problems:
            self._uuid = next(s["metric"]["UUID"] for s in series if s["metric"].get("pod") == self._name)
        return problems

    def _owned(self) -> list[Problem]:
        """Its team is in the info series, where there is one."""
        if not self._stack.claims("kube-state"):
            return []
        pod = self._find()
        info = self._stack.prometheus.query(f'{INFO_METRIC}{{pod="{self._name}"}}')
        return gpu.owned([pod] if pod else [], info, self._stack.contract.rules.pod_labels)

    def _delete_own(self) -> list[Problem]:
        self._delete(self._name, self._uid)
        return []

    def _gone(self) -> list[Problem]:
        if self._find() is not None:
            return [Problem(self.subject, "still there", "gone")]
        self._removed = True
        return []

    def _unnamed(self) -> list[Problem]:
        return gpu.handed_back(self._series(), self._name, self._uuid)

    def _series(self) -> list[Json]:
        window = storage.allowed_age(storage.scrape_intervals(self._stack.prometheus.targets()).get(gpu.JOB, 0.0))
        by = gpu.DEVICE_AND_HOLDER
        return self._stack.prometheus.query(f'count by ({by}) ({gpu.METRIC}{{job="{gpu.JOB}"}})', lookback=window)

    def _delete(self, name: str, uid: str) -> None:
        try:
            self._stack.kube.delete_pod(self._stack.contract.namespace, name, uid)
        except RefusedError as error:
            if error.status != NOT_FOUND:
                raise


def sentinel_pod(name: str, image: Json, resource: str, team_label: str) -> Json:
    """A pod that holds one GPU, does nothing with it, and ends by itself."""
    container = {
        "name": CONTAINER,
        "image": image["image"],
        "command": ["/bin/sh", "-c", f"exec sleep {limits.SENTINEL_LIFE}"],
        "resources": {
            "requests": {"cpu": "1m", "memory": "8Mi", resource: "1"},
            "limits": {"memory": "32Mi", resource: "1"},
        },
    }
    return sentinel(
        name,
        "gpu-handover",
        container,
        labels={team_label: TEAM},
        imagePullSecrets=image["secrets"],
        tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}],
    )
