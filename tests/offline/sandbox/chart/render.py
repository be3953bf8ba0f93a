"""The stand-in's chart as helm renders it, whole or with a change that a test must see."""

from __future__ import annotations

import base64
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import yaml

from cli.engine import ROOT
from tests.offline.programs import require

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Manifest = dict[str, Any]

CHART: Final = ROOT / "sandbox/swanlab_server/chart"
RELEASE: Final = "swanlab-self-hosted"
NAMESPACE: Final = "plumbline-swanlab"


@dataclass(frozen=True)
class Change:
    """A fault made in a copy of the chart: `old` in `file` becomes `new`, wherever it stands."""

    file: str
    old: str
    new: str

    def applied(self, to: Path) -> Path:
        """The directory of the changed copy."""
        copy = to / "chart"
        shutil.copytree(CHART, copy)
        path = copy / self.file
        text = path.read_text()
        assert self.old in text, f"{self.file} does not hold {self.old!r} any more; change the test with the chart"
        path.write_text(text.replace(self.old, self.new))
        return copy


def helm(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run helm; its error output is kept, whatever its exit code."""
    return subprocess.run([require("helm"), *arguments], check=False, capture_output=True, text=True, timeout=60)


def render(settings: Iterable[str] = (), chart: Path = CHART) -> list[Manifest]:
    """Every object of the release. settings: `key=value` as `helm --set` takes them."""
    chosen = [part for setting in settings for part in ("--set", setting)]
    done = helm("template", RELEASE, str(chart), "--namespace", NAMESPACE, *chosen)
    assert done.returncode == 0, done.stderr
    return [manifest for manifest in yaml.safe_load_all(done.stdout) if manifest]


def refusal(*settings: str) -> str:
    """What helm says when it refuses these settings; fails the test if it takes them."""
    chosen = [part for setting in settings for part in ("--set", setting)]
    done = helm("template", RELEASE, str(CHART), "--namespace", NAMESPACE, *chosen)
    assert done.returncode != 0, f"helm took {settings}"
    return done.stderr


def named(manifests: Iterable[Manifest], kind: str, name: str) -> Manifest:
    """The one object of this kind and name."""
    (found,) = (m for m in manifests if (m["kind"], m["metadata"]["name"]) == (kind, name))
    return found


def workloads(manifests: Iterable[Manifest]) -> dict[str, Manifest]:
    """Component → its Deployment or StatefulSet."""
    kinds = ("Deployment", "StatefulSet")
    found = {m["metadata"]["name"].removeprefix(RELEASE).removeprefix("-"): m for m in manifests if m["kind"] in kinds}
    return {name or "gateway": workload for name, workload in found.items()}


def pods(manifests: Iterable[Manifest]) -> dict[str, Manifest]:
    """Component → the specification of its pods."""
    return {name: workload["spec"]["template"]["spec"] for name, workload in workloads(manifests).items()}


def main_container(pod: Manifest) -> Manifest:
    """The pod's one container."""
    (container,) = pod["containers"]
    found: Manifest = container
    return found


def environment(manifests: list[Manifest], component: str) -> dict[str, str]:
    """What the process sees: literal variables, and those of Secrets as the kubelet fills them in.

    A Secret that is not part of the release gives `<secret>/<key>`.
    """
    secrets = {m["metadata"]["name"]: m["data"] for m in manifests if m["kind"] == "Secret"}
    found = {}
    for variable in main_container(pods(manifests)[component]).get("env", ()):
        source = variable.get("valueFrom", {}).get("secretKeyRef")
        found[variable["name"]] = _of_secret(secrets, source) if source else variable["value"]
    return found


def _of_secret(secrets: dict[str, dict[str, str]], source: dict[str, str]) -> str:
    known = secrets.get(source["name"])
    return base64.b64decode(known[source["key"]]).decode() if known else f"{source['name']}/{source['key']}"
