"""Which versions a run has seen, so that a report can be compared with another."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from smoke.access.errors import AccessError

if TYPE_CHECKING:
    from collections.abc import Callable

    from smoke.access.kube import Kube
    from smoke.access.prometheus import Prometheus

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def own() -> str:
    """The version of this bundle, from its project file: a copy without git has one too."""
    with PROJECT.open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])


def of_cluster(kube: Kube) -> dict[str, str]:
    """Versions of the API server, and of the nodes' kubelets and runtimes."""

    def nodes(part: str) -> str:
        infos = [node["status"]["nodeInfo"] for node in kube.items("/api/v1/nodes")]
        return ", ".join(sorted({str(info[part]) for info in infos}))

    return {
        "kubernetes": _told(lambda: str(kube.get("/version")["gitVersion"])),
        "kubelet": _told(lambda: nodes("kubeletVersion")),
        "runtime": _told(lambda: nodes("containerRuntimeVersion")),
    }


def of_prometheus(prometheus: Prometheus) -> dict[str, str]:
    """Version of Prometheus."""
    return {"prometheus": _told(lambda: str(prometheus.build()["version"]))}


def _told(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except (AccessError, KeyError) as error:
        # A version is context, not a claim: checks judge what cannot be reached.
        return f"unknown ({type(error).__name__})"
