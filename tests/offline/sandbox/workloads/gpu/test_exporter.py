"""The exporter's process: scrapes, health, pods from the kubelet, incidents over HTTP, a counters file that changes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from cli.engine import ROOT
from sandbox.workloads.gpu import exporter, incidents
from sandbox.workloads.gpu.identity import RESOURCE, gpu_uuid
from tests.offline.ports import free_port
from tests.offline.sandbox.workloads.gpu.fakes import COUNTERS, PATIENCE, TRAINER, values, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.offline.sandbox.workloads.gpu.fakes import Kubelet

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True)
class Running:
    """A running exporter."""

    process: subprocess.Popen[bytes]
    base: str
    control: str
    counters: Path

    def get(self, path: str) -> tuple[int, str]:
        """Status and body."""
        try:
            with OPENER.open(f"{self.base}{path}", timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""


@pytest.fixture
def running(kubelet: Kubelet, tmp_path: Path) -> Iterator[Running]:
    """An exporter of a node with eight GPUs, of which a pod holds two."""
    ids = [gpu_uuid("n1", index) for index in range(8)]
    kubelet.devices = [(RESOURCE, device) for device in ids]
    kubelet.pods = dict.fromkeys(ids[:2], TRAINER)
    counters = tmp_path / "counters.csv"
    counters.write_text(COUNTERS)
    port, control = free_port(), free_port()
    arguments = ["-f", str(counters), "-k", "-c", "500", "-a", f"127.0.0.1:{port}"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "NODE_NAME": "n1",
        "DCGM_POD_RESOURCES_KUBELET_SOCKET": str(kubelet.resources),
    }
    command = [sys.executable, "-P", "-m", "sandbox.workloads.gpu.exporter", *arguments]
    process = subprocess.Popen([*command, f"--simulate-control=127.0.0.1:{control}"], env=environment, cwd="/")
    made = Running(process, f"http://127.0.0.1:{port}", f"http://127.0.0.1:{control}", counters)
    wait_until(lambda: made.get("/health") == (200, "OK"))
    yield made
    process.kill()
    process.wait()


def test_pod_with_two_gpus_is_on_exactly_two_series(running: Running) -> None:
    status, page = running.get("/metrics")
    assert status == 200
    assert len(values(page, "DCGM_FI_DEV_GPU_UTIL")) == 8
    held = values(page, "DCGM_FI_DEV_GPU_UTIL", pod="trainer-0", namespace="team-research", container="worker")
    assert len(held) == 2


def test_gpu_is_handed_over_at_the_next_scrape(running: Running, kubelet: Kubelet) -> None:
    kubelet.pods = {gpu_uuid("n1", 5): TRAINER}
    page = running.get("/metrics")[1]
    assert len(values(page, "DCGM_FI_DEV_GPU_UTIL", pod="trainer-0", gpu="5")) == 1
    assert len(values(page, "DCGM_FI_DEV_GPU_UTIL", pod="trainer-0")) == 1


def test_values_move_and_energy_counts_up(running: Running) -> None:
    first = values(running.get("/metrics")[1], "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION")
    wait_until(lambda: values(running.get("/metrics")[1], "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION") != first)
    later = values(running.get("/metrics")[1], "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION")
    assert all(after > before for before, after in zip(first, later, strict=True))


def test_lost_device_vanishes(running: Running, kubelet: Kubelet) -> None:
    kubelet.devices = kubelet.devices[1:]
    wait_until(lambda: len(values(running.get("/metrics")[1], "DCGM_FI_DEV_GPU_UTIL")) == 7)


def test_kubelet_that_is_gone_costs_the_pods_alone(running: Running, kubelet: Kubelet) -> None:
    kubelet.stop()
    page = running.get("/metrics")[1]
    assert len(values(page, "DCGM_FI_DEV_GPU_UTIL")) == 8
    assert 'pod="' not in page


def test_incidents_over_http(running: Running) -> None:
    incident = incidents.play(running.control, "gpu_lost", gpu=3)
    assert len(values(running.get("/metrics")[1], "DCGM_FI_DEV_GPU_UTIL")) == 7
    assert [i["kind"] for i in incidents.status(running.control)["incidents"]] == ["gpu_lost"]
    incidents.end(running.control, incident)
    incidents.play(running.control, "hot", gpu=0, celsius=91)
    incidents.tick(running.control)
    assert values(running.get("/metrics")[1], "DCGM_FI_DEV_GPU_TEMP", gpu="0") == [91]
    incidents.play(running.control, "down")
    assert running.get("/metrics")[0] == 500
    assert running.get("/health") == (200, "OK")  # as upstream: health says nothing about the page
    assert [i["kind"] for i in incidents.end_all(running.control)] == ["hot", "down"]
    assert running.get("/metrics")[0] == 200


def test_wrong_incidents_are_refused_in_words(running: Running) -> None:
    with pytest.raises(incidents.ControlError, match=r"400: .*gpu 9: accepted is 0, 1, 2"):
        incidents.play(running.control, "xid", gpu=9, code=31)
    with pytest.raises(incidents.ControlError, match=r"404: .*no incident 77 lasts"):
        incidents.end(running.control, {"id": 77})
    assert running.get("/incidents")[0] == 404  # not on the address that is scraped


def test_changed_counters_file_is_taken_and_a_wrong_one_is_not(running: Running) -> None:
    running.counters.write_text("DCGM_FI_DEV_GPU_TEMP, gauge, Temperature.\n")
    wait_until(lambda: "DCGM_FI_DEV_GPU_UTIL" not in running.get("/metrics")[1])
    running.counters.write_text("DCGM_FI_DEV_GPU_TMEP, gauge, typo\n")
    incidents.tick(running.control)
    assert len(values(running.get("/metrics")[1], "DCGM_FI_DEV_GPU_TEMP")) == 8


def test_process_ends_when_it_is_told(running: Running) -> None:
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(timeout=PATIENCE) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("DCGM_FI_DEV_GPU_TMEP, gauge, typo\n", "could not find DCGM field"),
        (None, "Could not read metrics file"),
    ],
)
def test_wrong_counters_file_ends_the_process(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str | None, message: str
) -> None:
    file = tmp_path / "counters.csv"
    if text is not None:
        file.write_text(text)
    assert exporter.main(["-f", str(file)]) == 1
    assert message in caplog.text
