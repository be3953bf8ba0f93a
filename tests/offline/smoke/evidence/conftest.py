"""Real stores with the scene in them, made once."""

from __future__ import annotations

import json
import subprocess
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from smoke.run_evidence.main import main
from tests.offline.programs import free_port, require, running
from tests.offline.promtool import require_promtool
from tests.offline.smoke.evidence.scene import (
    NODE,
    OF_RUN,
    Scene,
    alert,
    contract,
    open_metrics,
    play_scene,
    ship_lines,
    started,
)
from tests.offline.smoke.telemetry_programs import Ports, jaeger, victoria_logs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Json = dict[str, Any]
RESTARTED = "restarted"
"""Another cluster, whose Prometheus was started anew five minutes before the runs began."""
GHOST: Json = {"_msg": "hello", "run_id": "ghost", "k8s.namespace.name": "team-a", "k8s.pod.name": "ghost-0"}
"""A line of a run that has no pod with its label, and logs no step."""


@dataclass
class Stores:
    """The scene, its stores, and the command on them."""

    scene: Scene
    directory: Path
    prometheus: int
    logs: int
    jaeger: int

    def ask(
        self, *words: str, logs: bool = True, traces: bool = True, prometheus: int | None = None, later: float = 0.0
    ) -> tuple[int, Json]:
        """Exit code, and the JSON of the page; {} where none was written. later: seconds after the scene's now."""
        out = self.directory / "out"
        for old in out.glob("evidence-*"):
            old.unlink()
        path = contract(
            self.directory / "contract.json",
            prometheus or self.prometheus,
            self.logs if logs else None,
            self.jaeger if traces else None,
        )
        code = main(
            ["--contract", str(path), "--out", str(out), "--kubeconfig", "none", *words], self.scene.now + later
        )
        pages = list(out.glob("evidence-*.json"))
        return code, json.loads(pages[0].read_text()) if pages else {}

    def page(self, suffix: str) -> str:
        """The page that was written last."""
        (path,) = (self.directory / "out").glob(f"evidence-*.{suffix}")
        return path.read_text()


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """A throttle on a GPU of run `hot` in step 40, an XID on a GPU of run `cool` long before, three alerts."""
    directory = tmp_path_factory.mktemp("evidence")
    scene = Scene(begin=float(int(time.time()) - 1000))
    scene.xids[scene.begin + 60] = (2, 31)
    with ExitStack() as stack:
        ports, query = Ports(), free_port()
        stack.enter_context(jaeger(directory, ports, query))
        logs = stack.enter_context(victoria_logs(directory))
        play_scene(scene, f"http://127.0.0.1:{ports.http}")
        begin = scene.slowed[0]
        where = {"gpu": "1", "UUID": OF_RUN["hot"][1], "node": NODE}
        alert(scene, "GpuThermalThrottling", begin + 10, begin + 40, state="pending", **where)
        alert(scene, "GpuThermalThrottling", begin + 40, begin + 200, **where)
        alert(scene, "GpuHot", begin, begin + 30, gpu="0", UUID="GPU-elsewhere", node="gpu-node-2")
        alert(scene, "NodeClockSkew", begin - 100, begin - 75, node=NODE)
        alert(scene, "Watchdog", scene.begin - 600, scene.now, cluster=RESTARTED)
        started(scene, scene.begin - 600, scene.begin - 360, cluster=RESTARTED, at=scene.begin - 5000)
        started(scene, scene.begin - 300, scene.now, cluster=RESTARTED, at=scene.begin - 310)
        scene.lines.append(GHOST | {"_time": scene.lines[0]["_time"]})
        ship_lines(scene, logs)
        port = stack.enter_context(prometheus(scene, directory))
        yield Stores(scene, directory, port, logs, query)


@contextmanager
def prometheus(scene: Scene, directory: Path) -> Iterator[int]:
    """A Prometheus that remembers the scene; its port."""
    open_metrics(scene, directory / "samples.txt")
    made = [require_promtool(), "tsdb", "create-blocks-from", "openmetrics", "samples.txt", "blocks"]
    subprocess.run(made, cwd=directory, check=True, capture_output=True, timeout=120)
    never = [{"alert": name, "expr": "vector(0) > 1"} for name in ("GpuThermalThrottling", "GpuHot", "NodeClockSkew")]
    never += [{"alert": "NobodyReads", "expr": "DCGM_FI_DEV_FB_FREE + on (UUID) nobody_writes > 0"}]
    (directory / "rules.yml").write_text(json.dumps({"groups": [{"name": "known", "rules": never}]}))
    (directory / "prometheus.yml").write_text(json.dumps({"rule_files": [f"{directory}/rules.yml"]}))
    port = free_port()
    command = [require("prometheus"), f"--config.file={directory}/prometheus.yml"]
    command += [f"--storage.tsdb.path={directory}/blocks", f"--web.listen-address=127.0.0.1:{port}"]
    with running(command, f"http://127.0.0.1:{port}/-/ready", directory / "prometheus.log"):
        yield port
