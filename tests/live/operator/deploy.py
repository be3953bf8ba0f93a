"""Brings the team's monitoring into the test cluster, and takes it out again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from sandbox.home import find_home
from sandbox.programs.build import directory
from sandbox.programs.spec import catalogue
from tests.live.operator import objects
from tests.live.operator.objects import NAMESPACE, OPERATOR, PROMETHEUS
from tests.live.plumbline import get, images_of_tests, kubectl, until

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]
ROLES: Final = ("prometheus-operator", "prometheus-config-reloader")


def definitions() -> list[Path]:
    """The operator's definitions of resources, of the pinned module."""
    found = sorted((directory(find_home(), catalogue()[1]["prometheus-operator"]) / "crds").glob("*.yaml"))
    assert found, "the operator is not built: run make programs"
    return found


def bring_definitions() -> None:
    """Install the definitions. Applied by the server: they are too long for an annotation."""
    for path in definitions():
        kubectl("apply", "--server-side", "--force-conflicts", "-f", str(path))
    names = [f"crd/{crd['metadata']['name']}" for crd in _definitions_there()]
    kubectl("wait", "--for=condition=Established", "--timeout=30s", *names)


def bring(external: dict[str, str]) -> None:
    """Operator and Prometheus, awaited. external: its external labels."""
    built = images_of_tests(*ROLES)
    apply(objects.operator(built["prometheus-operator"], built["prometheus-config-reloader"]))
    kubectl("rollout", "status", f"deployment/{OPERATOR}", "-n", NAMESPACE, "--timeout=90s")
    version = f"v{catalogue()[1]['prometheus'].version}"
    apply(objects.prometheus(built["prometheus"], version, external))
    until("the operator makes the StatefulSet", lambda: bool(_stateful_sets()), 60)
    kubectl("rollout", "status", f"statefulset/prometheus-{PROMETHEUS}", "-n", NAMESPACE, "--timeout=120s")


def remove() -> None:
    """Everything of the team's, the definitions last: with them goes every object of their kinds."""
    kubectl("delete", "prometheus,podmonitor", "--all", "-n", NAMESPACE, "--ignore-not-found", check=False)
    kubectl("delete", "namespace", NAMESPACE, "--ignore-not-found", "--timeout=120s")
    kubectl("delete", "--ignore-not-found", *objects.cluster_scoped())
    names = [f"crd/{crd['metadata']['name']}" for crd in _definitions_there()]
    if names:
        kubectl("delete", *names, "--timeout=60s")


def apply(manifests: list[Json]) -> None:
    """Apply them in their order."""
    kubectl("apply", "-f", "-", stdin="\n---\n".join(json.dumps(manifest) for manifest in manifests))


def _definitions_there() -> list[Json]:
    return [crd for crd in get("crd")["items"] if crd["spec"]["group"] == "monitoring.coreos.com"]


def _stateful_sets() -> list[Json]:
    return [
        s for s in get("statefulset", "-n", NAMESPACE)["items"] if s["metadata"]["name"] == f"prometheus-{PROMETHEUS}"
    ]
