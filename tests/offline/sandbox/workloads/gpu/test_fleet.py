"""Many nodes on one port: found by Prometheus, held by teams, each with incidents of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sandbox.workloads.gpu import fleet
from sandbox.workloads.gpu.fleet import Fleet, Plan, holder
from sandbox.workloads.gpu.web import Request, Response
from tests.offline.sandbox.workloads.gpu.fakes import NOW, values

HOST = "127.0.0.1:9500"


@pytest.fixture
def plan() -> Plan:
    """Ten nodes with eight GPUs and the twenty fields of a bench."""
    return fleet.parse(["--nodes=10", "--port=9500"])[0]


@pytest.fixture
def nodes(plan: Plan) -> Fleet:
    """The fleet."""
    return Fleet(plan, NOW)


def ask(nodes: Fleet, path: str, method: str = "GET", body: object = None) -> Response:
    """Answer to a request."""
    return nodes.answer(Request(method, path, json.dumps(body).encode()), HOST)


def page(nodes: Fleet, name: str) -> str:
    """A node's page."""
    answer = ask(nodes, f"/nodes/{name}/metrics")
    assert answer.status == 200
    return answer.body.decode()


def test_twenty_fields_of_eight_gpus(nodes: Fleet) -> None:
    lines = [line for line in page(nodes, "gpu-node-0000").splitlines() if not line.startswith("#")]
    assert len(lines) == 20 * 8
    assert all('hostname="gpu-node-0000"' in line for line in lines)


def test_discovery_names_every_node_once(nodes: Fleet) -> None:
    groups = json.loads(ask(nodes, "/sd").body)
    assert len(groups) == 10
    assert groups[3] == {
        "targets": [HOST],
        "labels": {"__metrics_path__": "/nodes/gpu-node-0003/metrics", "__meta_plumbline_node": "gpu-node-0003"},
    }


def test_jobs_hold_four_gpus_each_and_every_fifth_node_is_free(nodes: Fleet) -> None:
    util = "DCGM_FI_DEV_GPU_UTIL"
    first = page(nodes, "gpu-node-0000")
    assert len(values(first, util, pod="train-0000-0", namespace="team-research")) == 4
    assert len(values(first, util, pod="train-0000-1", namespace="team-speech")) == 4
    assert 'pod="' not in page(nodes, "gpu-node-0004")
    assert {pod.namespace for n in range(10) if (pod := holder(n, 0))} >= {"team-research", "team-vision"}


def test_uuids_differ_between_nodes(nodes: Fleet) -> None:
    found = {
        line.partition('UUID="')[2].partition('"')[0]
        for name in ("gpu-node-0000", "gpu-node-0001")
        for line in page(nodes, name).splitlines()
        if not line.startswith("#")
    }
    assert len(found) == 16


def test_incident_concerns_its_node_alone(nodes: Fleet) -> None:
    assert ask(nodes, "/nodes/gpu-node-0001/incidents", "POST", {"kind": "down"}).status == 201
    assert ask(nodes, "/nodes/gpu-node-0001/metrics").status == 500
    assert ask(nodes, "/nodes/gpu-node-0002/metrics").status == 200
    assert ask(nodes, "/nodes/gpu-node-0001/incidents", "DELETE").status == 200
    assert ask(nodes, "/nodes/gpu-node-0001/metrics").status == 200


@pytest.mark.parametrize("path", ["/", "/metrics", "/nodes/gpu-node-9999/metrics", "/nodes/gpu-node-0000/else"])
def test_other_paths_are_not_found(nodes: Fleet, path: str) -> None:
    assert ask(nodes, path).status == 404


def test_counters_file_decides_the_fields(tmp_path: Path) -> None:
    file = tmp_path / "c.csv"
    file.write_text("DCGM_FI_DEV_GPU_TEMP, gauge, Temperature.\n")
    plan, advertised = fleet.parse(["--nodes=1", "--gpus=2", "--port=1", f"-f={file}", "--advertise=gpu-fleet:80"])
    assert advertised == "gpu-fleet:80"
    body = Fleet(plan, NOW).answer(Request("GET", "/nodes/gpu-node-0000/metrics"), HOST).body.decode()
    assert len(values(body, "DCGM_FI_DEV_GPU_TEMP")) == 2
    assert body.count("# TYPE") == 1


@pytest.mark.parametrize("arguments", [["--nodes=0"], ["--gpus=17"], ["--interval=0"], [f"-f={Path('/none.csv')}"]])
def test_wrong_arguments_are_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        fleet.parse(["--port=1", *arguments])
