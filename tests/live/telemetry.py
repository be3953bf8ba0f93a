"""Collectors and stores for the live tests: what they hold, and what is done to them behind the engine's back.

Whatever is changed is put back at the end of its block, so that a test that fails leaves the stack whole.
"""

from __future__ import annotations

import json
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import requests

from components.otel_collector import debug
from components.otel_collector.names import (
    AGENT,
    CONFIG_FILE,
    DEBUG_FILE,
    GATEWAY,
    GATEWAY_CONFIG,
    HTTP_PORT,
    REVISION,
    debug_config,
)
from components.otel_collector.parts import LIMITER, limits
from components.otel_collector.sizes import runtime_limit
from sandbox.home import find_home
from smoke.access.errors import AccessError
from smoke.access.exposition import values
from smoke.judge.telemetry import shown_revisions
from smoke.stack import Stack
from stacks.contract import Contract
from tests.live.plumbline import NAMESPACE, OUT, STATE, forwarded, get, kubectl, until
from tests.live.pushes import changed, in_yaml
from tests.live.workloads import NODES
from tests.offline.components.otel_collector.otlp import span, traces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Json = dict[str, Any]
LOWEST: Final = "INFO"
CHANGED: Final = "changed-by-hand"
"""Revision of a configuration that was changed behind the engine's back."""
_NOWHERE: Final = "plumbline.dev/nowhere"
_ENOUGH: Final = 5
"""Refusals after which a flood ends."""
_POD: Final = f"{GATEWAY}-0"


@contextmanager
def opened() -> Iterator[Stack]:
    """The stack as checks see it."""
    contract = Contract.model_validate_json((OUT / "contract.json").read_text())
    found = Stack(contract, find_home().state(STATE) / "kubeconfig")
    try:
        yield found
    finally:
        found.close()


def eventually(what: str, probe: Callable[[], bool], seconds: float) -> None:
    """As `until`, while what is asked may be away."""

    def look() -> bool:
        with suppress(AccessError):
            return probe()
        return False

    until(what, look, seconds)


def total(stack: Stack, metric: str) -> float:
    """Sum of a counter of the gateway's own, 0 before it first counts."""
    pages = stack.telemetry.own_metrics("gateway").values()
    return sum(sum(values(page, metric)) + sum(values(page, f"{metric}_total")) for page in pages)


def killed() -> dict[str, int]:
    """`pod/container` of collectors and stores → how often it was started again; none may be killed unasked."""
    names = (AGENT, GATEWAY, "jaeger", "victoria-logs")
    pods = [pod for space in (NAMESPACE, NODES) for pod in get("pods", "-n", space)["items"]]
    return {
        f"{pod['metadata']['name']}/{status['name']}": int(status["restartCount"])
        for pod in pods
        if pod["metadata"].get("labels", {}).get("app.kubernetes.io/name") in names
        for status in pod["status"].get("containerStatuses", [])
    }


def generation() -> list[tuple[str, int]]:
    """Uid and generation of the gateway and the agents: a change that reached them shows."""
    found = (get(f"statefulset/{GATEWAY}", "-n", NAMESPACE), get(f"daemonset/{AGENT}", "-n", NODES))
    return [(one["metadata"]["uid"], one["metadata"]["generation"]) for one in found]


def windows() -> tuple[debug.Window, ...]:
    """Those of the agents' ConfigMap, also those that have ended."""
    data = get(f"configmap/{debug_config(LOWEST)}", "-n", NODES)["data"]
    return debug.parse(data[DEBUG_FILE], LOWEST)


@contextmanager
def gateway_with(
    stack: Stack,
    change: Callable[[Json], None],
    start: Callable[[], None] | None = None,
    back: Callable[[], None] | None = None,
) -> Iterator[None]:
    """The gateway with another configuration, which it really runs. change: edits it in place.

    start, back: what makes its pod anew, with the other configuration and with its own; deleting it if not given.
    """
    expected = stack.telemetry.collector("gateway").revision

    def edit(document: Json) -> None:
        change(document)
        attributes = document["service"]["telemetry"]["resource"]["attributes"]
        (revision,) = (one for one in attributes if one["name"] == REVISION)
        revision["value"] = CHANGED

    try:
        with changed(GATEWAY_CONFIG, _POD, in_yaml(CONFIG_FILE, edit)):
            _runs(stack, CHANGED, start or _anew)
            yield
    finally:
        _runs(stack, expected, back or _anew)


def _anew() -> None:
    kubectl("delete", "pod", _POD, "-n", NAMESPACE)


def _runs(stack: Stack, revision: str, start: Callable[[], None]) -> None:
    """Start the gateway anew until it runs a revision: the kubelet may hand out a file as it was for a moment."""
    deadline = time.monotonic() + 150
    while True:
        start()
        rolled_out(f"statefulset/{GATEWAY}")
        seen: list[str] = []

        def look(seen: list[str] = seen) -> bool:
            pages = stack.telemetry.own_metrics("gateway").values()
            seen[:] = [one for page in pages for one in shown_revisions(page)]
            return bool(seen)

        eventually("the gateway shows its revision", look, 60)
        if seen == [revision]:
            return
        assert time.monotonic() < deadline, f"the gateway runs revision {seen}, not {revision}"
        start = _anew


def without_rules(document: Json) -> None:
    """A change of the gateway: names of spans are not redacted, and traces that failed are not kept for it."""
    groups = document["processors"]["transform/redaction"]["trace_statements"]
    (spans,) = (group for group in groups if group["context"] == "span")
    # What is clean is put back from a copy, but for long numbers, which are masked in their place.
    for written in ("set(span.name,", "replace_pattern(span.name"):
        kept = [one for one in spans["statements"] if not one.startswith(written)]
        assert len(kept) < len(spans["statements"]), written
        spans["statements"] = kept
    policies = document["processors"]["tail_sampling"]["policies"]
    left = [policy for policy in policies if policy["name"] != "errors"]
    assert len(left) == len(policies) - 1
    document["processors"]["tail_sampling"]["policies"] = left


@contextmanager
def small_gateway(stack: Stack, memory: int, wait: int) -> Iterator[None]:
    """A gateway with so many bytes, all its limits in proportion, that holds traces for `wait` seconds."""
    container = get(f"statefulset/{GATEWAY}", "-n", NAMESPACE)["spec"]["template"]["spec"]["containers"][0]
    was = next(one for one in container["env"] if one["name"] == runtime_limit(memory)["name"])
    sizes = {"requests": {"memory": "64Mi"}, "limits": {"memory": str(memory)}}

    def edit(document: Json) -> None:
        document["processors"][LIMITER] |= limits(memory)
        waits = dict.fromkeys(("decision_wait", "decision_wait_after_root_received"), f"{wait}s")
        document["processors"]["tail_sampling"] |= waits

    def small() -> None:
        _sized(sizes, runtime_limit(memory))

    with gateway_with(stack, edit, small, lambda: _sized(container["resources"], was)):
        yield


def _sized(resources: Json, limit: Json) -> None:
    one = {"name": GATEWAY, "resources": resources, "env": [limit]}
    patch = json.dumps({"spec": {"template": {"spec": {"containers": [one]}}}})
    kubectl("patch", "statefulset", GATEWAY, "-n", NAMESPACE, "--type=strategic", "-p", patch)


@contextmanager
def away(*workloads: str) -> Iterator[None]:
    """No pod of these StatefulSets of the stack while the block lasts."""
    try:
        for workload in workloads:
            kubectl("scale", workload, "-n", NAMESPACE, "--replicas=0")
        for workload in workloads:
            name = workload.rpartition("/")[2]
            until(f"{name} has stopped", lambda name=name: not _pods(NAMESPACE, name), 90)  # type: ignore[misc]  # a default binds the name
        yield
    finally:
        for workload in workloads:
            kubectl("scale", workload, "-n", NAMESPACE, "--replicas=1")
        for workload in workloads:
            rolled_out(workload)


@contextmanager
def no_agents() -> Iterator[None]:
    """No node has an agent while the block lasts."""
    try:
        _only_on({_NOWHERE: "here"})
        until("agents have stopped", lambda: not _pods(NODES, AGENT), 90)
        yield
    finally:
        _only_on({_NOWHERE: None})
        rolled_out(f"daemonset/{AGENT}", NODES)
        until("an agent runs", lambda: bool(_pods(NODES, AGENT)), 90)


def _only_on(selector: dict[str, str | None]) -> None:
    patch = json.dumps({"spec": {"template": {"spec": {"nodeSelector": selector}}}})
    kubectl("patch", "daemonset", AGENT, "-n", NODES, "--type=merge", "-p", patch)


@contextmanager
def retention(other: str) -> Iterator[None]:
    """VictoriaLogs with another retention, by hand."""
    place = "statefulset/victoria-logs"
    arguments = get(place, "-n", NAMESPACE)["spec"]["template"]["spec"]["containers"][0]["args"]
    number = next(i for i, one in enumerate(arguments) if one.startswith("-retentionPeriod="))

    def put(value: str) -> None:
        path = f"/spec/template/spec/containers/0/args/{number}"
        patch = json.dumps([{"op": "replace", "path": path, "value": value}])
        kubectl("patch", place, "-n", NAMESPACE, "--type=json", "-p", patch)
        rolled_out(place)

    try:
        put(f"-retentionPeriod={other}")
        yield
    finally:
        put(arguments[number])


def rolled_out(workload: str, namespace: str = NAMESPACE) -> None:
    """Wait until the pods are those of the template."""
    kubectl("rollout", "status", workload, "-n", namespace, "--timeout=150s")


def _pods(namespace: str, name: str) -> list[Json]:
    return list(get("pods", "-n", namespace, "-l", f"app.kubernetes.io/name={name}")["items"])


def flood(requests_: int) -> list[int]:
    """Status of as many requests of 2 MB, each one trace, sent by HTTP to the gateway itself until some are refused."""
    found: list[int] = []
    with forwarded(f"service/{GATEWAY}", HTTP_PORT) as url, requests.Session() as session:
        session.trust_env = False
        for _ in range(requests_):
            trace = bytes.fromhex(f"{time.time_ns():032x}")
            message = traces([span("flood", trace=trace, values={"text": "x" * 2000}) for _ in range(1000)])
            answer = session.post(
                f"{url}/v1/traces",
                data=message.SerializeToString(),
                headers={"Content-Type": "application/x-protobuf"},
                timeout=60,
            )
            found.append(answer.status_code)
            if found.count(503) >= 5:  # enough to be counted
                break
    return found
