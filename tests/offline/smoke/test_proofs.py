"""Proofs in stages, and their end: by a run that is interrupted, without a sink, on a Prometheus of somebody else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from smoke.model import DeclaredSkipError
from smoke.proofs.handover import Handover
from smoke.stack import Stack
from stacks.contract import Contract
from tests.offline.smoke import full_stack, objects
from tests.offline.smoke.conftest import EXPECTED, World, check_of
from tests.offline.smoke.full_stack import Platform, gpu_pod
from tests.offline.smoke.full_world import CAPABILITIES, Full

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
Json = dict[str, Any]


@pytest.fixture
def stack(full: Full) -> Iterator[Stack]:
    """The stack under test, as a check has it."""
    made = Stack(Contract.model_validate(full.contract()), full.world.kubeconfig)
    yield made
    made.close()


def test_stages_of_a_page_are_passed_in_order_and_only_once(stack: Stack) -> None:
    proof = stack.page_proof
    assert "not pushed" in str(proof.advance()[0])
    proof.begin(deliver=True)
    proof.begin(deliver=True)
    assert proof.stored() == []
    assert proof.advance() == []
    assert "P0: fired, arrived once at P0" in proof.told
    assert "read back" not in proof.told
    assert stack.pushgateway.groups() == []
    proof.end()


def test_page_that_nobody_reads_back_says_so(full: Full) -> None:
    changed = full.contract(capabilities=[name for name in CAPABILITIES if name != "alert-sink"])
    own = Stack(Contract.model_validate(changed), full.world.kubeconfig)
    own.page_proof.begin(deliver=True)
    assert own.page_proof.advance() == []
    assert own.page_proof.told.startswith("P0, P1, P2, P3: fired and sent; arrival itself was not read back")
    own.close()


def test_handover_ends_once(stack: Stack) -> None:
    proof = stack.handover
    proof.end()
    assert "not created" in str(proof.advance()[0])
    proof.begin()
    proof.begin()
    assert proof.advance() == []
    assert "was named by exactly one GPU, GPU-" in proof.told
    asked = len(stack.kube.items("/api/v1/pods"))
    proof.end()
    assert len(stack.kube.items("/api/v1/pods")) == asked


def test_handover_needs_an_image_with_a_shell(full: Full) -> None:
    document = full.contract()
    del document["components"]["prometheus"]["workloads"]
    own = Stack(Contract.model_validate(document), full.world.kubeconfig)
    with pytest.raises(DeclaredSkipError, match="runs none of prometheus, alertmanager"):
        Handover(own).begin()
    own.close()


def test_prometheus_of_somebody_else_is_judged_by_what_is_ours(world: World) -> None:
    component = objects.contract().components["prometheus"].model_dump(mode="json")
    component |= {"managed": False, "namespace": "monitoring", "workloads": [], "claims": []}
    component["endpoints"]["http"]["url"] = world.prometheus_address
    own = ("reload", "revision", "flags", "storage_fresh")
    expected = [c for c in EXPECTED if c not in {*(f"prometheus.{n}" for n in own), "pod.security", "pod.volume"}]
    world.prometheus.rules.append(("their-group", "TheirRule"))
    code, report = world.run(capabilities=["metrics"], components={"prometheus": component}, expected_checks=expected)
    assert [c["evidence"] for c in report["checks"] if c["status"] in ("fail", "not_run")] == []
    assert code == 0
    assert "1 groups" not in check_of(report, "prometheus.rules_healthy")["evidence"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_removes_what_it_began(
    full: Full,
    number: signal.Signals,
) -> None:
    full.stack.attribution = False
    full.stack.pager.boxes["P0"] = []
    full.world.directory.joinpath("contract.json").write_text(json.dumps(full.contract()))
    limits = "import smoke.limits as l; l.HANDOVER = l.DELIVERY = 60.0"
    command = [sys.executable, "-c", f"{limits}; import runpy; runpy.run_module('smoke', run_name='__main__')"]
    process = subprocess.Popen(
        [*command, *full.world.arguments("--only", "gpu.handover", "alerting.delivery")],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        env=os.environ,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  # no threads here
    )
    deadline = time.monotonic() + 30
    while not (full.proofs() and full.stack.pushes.groups) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert full.proofs()
    process.send_signal(number)
    assert process.wait(60) == 130
    assert full.proofs() == []
    assert full.stack.pushes.groups == {}


def test_stand_ins_know_the_pods_that_hold_gpus(world: World) -> None:
    made = Platform(world.api, world.prometheus)
    world.api.objects["/api/v1/namespaces/team-a/pods"] = [gpu_pod("a", 2)]
    made.refresh()
    named = [s.labels["pod"] for s in world.prometheus.series if s.labels["__name__"] == "DCGM_FI_DEV_FB_FREE"]
    assert named == ["a", "a"]
    assert full_stack.GPUS == ("GPU-0", "GPU-1")
