"""The machine that runs smoke, where it is the node, through testinfra's local backend."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from smoke import limits, poll
from smoke.access import hosts, machine
from smoke.check import check
from smoke.judge import machine as judge
from smoke.model import CheckFailedError, Problem

if TYPE_CHECKING:
    from smoke.facts import Process
    from smoke.stack import Stack

Json = dict[str, Any]


@check("node.kernel")
def test_kernel(stack: Stack) -> str:
    node = _node(stack)
    seen = machine.kernel(hosts.machine())
    poll.demand(judge.kernel(seen, node))
    return f"kernel {seen.release}, overlay, forwarding"


@check("node.cgroup")
def test_cgroup(stack: Stack) -> str:
    _node(stack)
    stack.settle(lambda: judge.cgroups(machine.cgroups(hosts.machine())), limits.QUICK)
    seen = machine.cgroups(hosts.machine())
    return f"{seen.root_type}; kubepods under {', '.join(seen.pods)}"


@check("node.runtime")
def test_runtime(stack: Stack) -> str:
    node = _node(stack)
    host = hosts.machine()
    socket = machine.runtime_socket(host, _kubelet())
    name, version = judge.runtime_name(node)

    def probe() -> list[Problem]:
        running = machine.processes(host, name, with_version=True)
        return judge.runtime(node, running, socket, socket_exists=machine.is_socket(host, socket))

    stack.settle(probe, limits.QUICK)
    return f"{name} {version} behind {socket}"


@check("node.kubelet")
def test_kubelet(stack: Stack) -> str:
    name = _node(stack)["metadata"]["name"]

    def probe() -> list[Problem]:
        node = stack.kube.get(f"/api/v1/nodes/{name}")
        server = stack.kube.get("/version")["gitVersion"]
        lease = stack.kube.find(f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{name}")
        # The lease is stamped by the kubelet; the API server's clock is the one that judges it in the cluster.
        now = stack.kube.server_time or time.time()
        return judge.kubelet(node, server, machine.processes(hosts.machine(), "kubelet"), lease, now)

    stack.settle(probe, limits.QUICK)
    return f"kubelet of node {name} runs and keeps its lease"


@check("node.disk")
def test_disk(stack: Stack) -> str:
    _node(stack)
    path = machine.kubelet_root(_kubelet())
    space = machine.space(hosts.machine(), path)
    stack.settle(lambda: judge.disk(machine.space(hosts.machine(), path)), limits.QUICK)
    return f"{space.bytes_free / judge.GIB:.1f} of {space.bytes_total / judge.GIB:.1f} GiB free at {path}"


@check("node.clock")
def test_clock(stack: Stack) -> str:
    def probe() -> list[Problem]:
        stack.kube.get("/version")
        # The header has whole seconds only: half of one is the expected rest.
        server = None if stack.kube.server_time is None else stack.kube.server_time + 0.5
        problems = judge.clock(time.time(), {"the API server": server})
        if "metrics" in stack.contract.capabilities:
            told = stack.prometheus.scalar("time()")
            problems += judge.clock(time.time(), {"Prometheus": told})
        return problems

    stack.settle(probe, limits.QUICK)
    return f"less than {limits.CLOCK_SKEW:g} s apart"


def _node(stack: Stack) -> Json:
    """The node that this machine is."""
    nodes = poll.fetch(lambda: stack.kube.items("/api/v1/nodes"))
    node, problems = judge.own_node(nodes, machine.boot_id(hosts.machine()))
    if node is None:
        raise CheckFailedError(problems)
    return node


def _kubelet() -> Process:
    running = machine.processes(hosts.machine(), "kubelet")
    if not running:
        raise CheckFailedError([Problem("process kubelet", "not running", "running")])
    return running[0]
