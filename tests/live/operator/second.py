"""A second stack in the test cluster, with a backend of its own: it uses the team's Prometheus and deploys none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import yaml

from cli.engine import engine_for
from components.dcgm_exporter import names as dcgm_exporter
from components.naming import node_namespace_name
from components.node_exporter import names as node_exporter
from sandbox.home import find_home
from sandbox.programs.build import binary
from tests.live.operator import objects
from tests.live.plumbline import NAMESPACE, ROOT, STATE

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]
STACK: Final = "existing"
OWN_NAMESPACE: Final = "plumbline-existing"
FIRST_NODE_NAMESPACE: Final = node_namespace_name(NAMESPACE)


def settings(first: Json) -> Json:
    """`config` of the second stack. first: that of the stack under test, whose agents on the node it uses.

    Its kube-state-metrics is its own, so that the Prometheus must get through a policy of this stack.
    """
    local = first["plumbline:cluster"]
    return {
        **{key: first[key] for key in ("pulumi:disable-default-providers", "plumbline:images", "plumbline:sizing")},
        "plumbline:profile": "throwaway",
        "plumbline:namespace": OWN_NAMESPACE,
        "plumbline:cluster": {**local, "node_access": False},
        "plumbline:existing_prometheus": {
            "namespace": objects.NAMESPACE,
            "labels": dict(objects.LABELS),
            "interval": "5s",
            "timeout": "5s",
            "jobs": ["kubelet"],
        },
        "plumbline:kubelet": first.get("plumbline:kubelet", {}),
        "plumbline:alertmanager": {"mode": "off"},
        "plumbline:pushgateway": {"mode": "off"},
        "plumbline:dcgm_exporter": _agents(dcgm_exporter.selector(NAMESPACE), dcgm_exporter.PORT_NAME)
        | {"node_selector": {}},
        "plumbline:node_exporter": _agents(node_exporter.selector(NAMESPACE), node_exporter.PORT_NAME),
        "plumbline:kube_state_metrics": {"mode": "managed"},
    }


def _agents(labels: dict[str, str], port: str) -> Json:
    return {"mode": "existing", "existing": {"namespace": FIRST_NODE_NAMESPACE, "labels": labels, "port": port}}


@dataclass(frozen=True)
class Second:
    """The stack's engine and smoke, with everything that they write in `work`."""

    work: Path

    @property
    def config_file(self) -> Path:
        """The stack file."""
        return self.work / f"Pulumi.{STACK}.yaml"

    @property
    def contract(self) -> Path:
        """Where take_contract() writes it."""
        return self.work / "contract.json"

    def prepare(self) -> None:
        """Write the stack file and make the backend. A copy of the project: `stack init` writes a salt beside it."""
        first = yaml.safe_load((find_home().state(STATE) / "Pulumi.local.yaml").read_text())["config"]
        self.config_file.write_text(yaml.safe_dump({"config": settings(first)}))
        (self.work / "backend").mkdir()
        shutil.copy(ROOT / "Pulumi.yaml", self.work)
        done = self.pulumi("stack", "init", STACK, "--cwd", str(self.work))
        assert done.returncode == 0, done.stdout

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """`pulumi <words>` of this stack's file."""
        return self.pulumi(*words, "--stack", STACK, "--config-file", str(self.config_file))

    def pulumi(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the pinned engine; both streams in `stdout`."""
        # The programs of an engine are the same for every stack that is not `local`; this one has no committed file.
        environment = engine_for(find_home(), "staging").environment() | {
            "PULUMI_STACK": STACK,
            "PULUMI_BACKEND_URL": f"file://{self.work}/backend",
            "PULUMI_HOME": str(find_home().state(STATE) / "pulumi-home"),
            "PULUMI_CONFIG_PASSPHRASE": "second",
        }
        return subprocess.run(
            [str(binary(find_home(), "pulumi")), "--non-interactive", *arguments],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )

    def take_contract(self) -> Json:
        """The contract that the engine has as output, written to a file too."""
        done = self.pulumi("stack", "output", "contract", "--json", "--stack", STACK, "--cwd", str(self.work))
        assert done.returncode == 0, done.stdout
        self.contract.write_text(done.stdout)
        return dict(json.loads(done.stdout))

    def smoke(self, *arguments: str) -> tuple[int, dict[str, Json], str]:
        """Run smoke with that contract; exit code, check id → its row of the report, and what it printed."""
        kubeconfig = find_home().state(STATE) / "kubeconfig"
        done = subprocess.run(
            [
                *(sys.executable, "-m", "smoke", "--contract", str(self.contract), "--out", str(self.work)),
                *("--kubeconfig", str(kubeconfig), *arguments),
            ],
            cwd=ROOT,
            env={**os.environ, "PATH": f"{binary(find_home(), 'kubectl').parent}:{os.environ['PATH']}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        report = json.loads((self.work / "report.json").read_text())
        return done.returncode, {row["id"]: row for row in report["checks"]}, done.stdout
