"""Collectors and stores for the live tests: what they hold, and what is done to them behind the engine's back.

Whatever is changed is put back at the end of its block, so that a test that fails leaves the stack whole.
"""

from __future__ import annotations

import json
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import requests
import yaml

from components.fixed_config import fixed_name
from components.otel_collector import debug
from components.otel_collector.names import (
    AGENT,
    CONFIG_FILE,
    CONFIG_PATH,
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
_BY_HAND: Final = f"{GATEWAY_CONFIG}-by-hand"
_PATH: Final = "/etc/by-hand"


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
def gateway_with(stack: Stack, change: Callable[[Json], None], container: Json | None = None) -> Iterator[None]:
    """The gateway with another configuration, which it really runs. change: edits it in place.

    Its own stays mounted beside the other one, and is not read. container: fields of its container that change with it.
    """
    revision = stack.telemetry.collector("gateway").revision
    spec = get(f"statefulset/{GATEWAY}", "-n", NAMESPACE)["spec"]["template"]["spec"]
    try:
        _create(_config(revision, change), _BY_HAND)
        _runs(stack, CHANGED, _reading_another(spec, container or {}))
        yield
    finally:
        _runs(stack, revision, spec)
        kubectl("delete", "configmap", _BY_HAND, "-n", NAMESPACE, "--ignore-not-found")


def make_again(stack: Stack, change: Callable[[Json], None]) -> None:
    """Delete the gateway's ConfigMap, and make another of the same name, which says that it is of the same revision."""
    revision = stack.telemetry.collector("gateway").revision
    made = _config(revision, change, says=revision)
    name = fixed_name(GATEWAY_CONFIG, revision)
    kubectl("delete", "configmap", name, "-n", NAMESPACE)
    _create(made, name)


def drop_lines_of(namespace: str) -> None:
    """Agents that drop what a namespace logs: somebody adds it to the file that stands beside theirs."""
    name = debug_config(LOWEST)
    document = yaml.safe_load(get(f"configmap/{name}", "-n", NODES)["data"][DEBUG_FILE])
    conditions = document["processors"][debug.FILTER]["logs"]["log_record"]
    conditions.append(f'resource.attributes["k8s.namespace.name"] == "{namespace}"')
    patch = json.dumps({"data": {DEBUG_FILE: yaml.safe_dump(document, sort_keys=False)}})
    kubectl("patch", "configmap", name, "-n", NODES, "--type=merge", "-p", patch)
    kubectl("delete", "pods", "-n", NODES, "-l", f"app.kubernetes.io/name={AGENT}")
    rolled_out(f"daemonset/{AGENT}", NODES)


def _config(revision: str, change: Callable[[Json], None], says: str = CHANGED) -> str:
    """Text of the gateway's configuration, changed. says: the revision that it is to show."""
    found = get(f"configmap/{fixed_name(GATEWAY_CONFIG, revision)}", "-n", NAMESPACE)
    document = yaml.safe_load(found["data"][CONFIG_FILE])
    change(document)
    attributes = document["service"]["telemetry"]["resource"]["attributes"]
    (own,) = (one for one in attributes if one["name"] == REVISION)
    own["value"] = says
    return yaml.safe_dump(document, sort_keys=False)


def _create(text: str, name: str) -> None:
    """By standard input: it is too long for an argument. Immutable, as the stack's own is."""
    meta = {"name": name, "namespace": NAMESPACE}
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "immutable": True, "data": {CONFIG_FILE: text}}
    kubectl("create", "-f", "-", stdin=json.dumps(made))


def _reading_another(spec: Json, container: Json) -> Json:
    """The pod of the gateway, which reads the other file."""
    (own,) = spec["containers"]
    first, *others = own["args"]
    assert first == f"--config={CONFIG_PATH}/{CONFIG_FILE}"
    mounts = [*own["volumeMounts"], {"name": "by-hand", "mountPath": _PATH, "readOnly": True}]
    variables = {one["name"] for one in container.get("env", ())}
    environment = [one for one in own["env"] if one["name"] not in variables] + [*container.get("env", ())]
    changed = {**own, **container, "env": environment, "args": [f"--config={_PATH}/{CONFIG_FILE}", *others]}
    volumes = [*spec["volumes"], {"name": "by-hand", "configMap": {"name": _BY_HAND}}]
    return {**spec, "volumes": volumes, "containers": [{**changed, "volumeMounts": mounts}]}


def _runs(stack: Stack, revision: str, spec: Json) -> None:
    """Give the gateway another pod, and wait until it shows a revision."""
    patch = json.dumps([{"op": "replace", "path": "/spec/template/spec", "value": spec}])
    kubectl("patch", "statefulset", GATEWAY, "-n", NAMESPACE, "--type=json", "-p", patch)
    rolled_out(f"statefulset/{GATEWAY}")

    def shown() -> bool:
        pages = stack.telemetry.own_metrics("gateway").values()
        return [one for page in pages for one in shown_revisions(page)] == [revision]

    eventually(f"the gateway shows revision {revision}", shown, 60)


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
    sizes = {"requests": {"memory": "64Mi"}, "limits": {"memory": str(memory)}}

    def edit(document: Json) -> None:
        document["processors"][LIMITER] |= limits(memory)
        waits = dict.fromkeys(("decision_wait", "decision_wait_after_root_received"), f"{wait}s")
        document["processors"]["tail_sampling"] |= waits

    with gateway_with(stack, edit, {"resources": sizes, "env": [runtime_limit(memory)]}):
        yield


@contextmanager
def away(*workloads: str) -> Iterator[None]:
    """No pod of these StatefulSets of the stack while the block lasts."""
    try:
        for workload in workloads:
            kubectl("scale", workload, "-n", NAMESPACE, "--replicas=0")
        for workload in workloads:
            name = workload.rpartition("/")[2]
            until(f"{name} has stopped", lambda name=name: not pods(NAMESPACE, name), 90)  # type: ignore[misc]  # a default binds the name
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
        until("agents have stopped", lambda: not pods(NODES, AGENT), 90)
        yield
    finally:
        _only_on({_NOWHERE: None})
        rolled_out(f"daemonset/{AGENT}", NODES)
        until("an agent runs", lambda: bool(pods(NODES, AGENT)), 90)


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


def pods(namespace: str, name: str) -> list[Json]:
    """Pods by the name of what runs in them."""
    return list(get("pods", "-n", namespace, "-l", f"app.kubernetes.io/name={name}")["items"])


def collectors() -> list[Json]:
    """Pods of gateway and agents."""
    return [*pods(NAMESPACE, GATEWAY), *pods(NODES, AGENT)]


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
