"""What the collectors are told and cannot do is refused, with what is accepted, before anything exists."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from components.errors import DeployError
from components.otel_collector.args import Backend
from components.otel_collector.manifests import manifests
from components.otel_collector.validate import complaints, validate
from components.rendered import Rendered
from tests.offline.components.otel_collector.examples import ARGS, MIB, TRACES, args

if TYPE_CHECKING:
    from components.otel_collector.args import OtelCollectorArgs

NOTHING = Rendered(files={}, revision="0")
HTTP = Backend(protocol="http", endpoint="http://store.team.svc:4318/v1/traces")


def gateway(**changes: Any) -> OtelCollectorArgs:  # noqa: ANN401  # any field
    return args(gateway=replace(ARGS.gateway, **changes))


def agent(**changes: Any) -> OtelCollectorArgs:  # noqa: ANN401  # any field
    return args(agent=replace(ARGS.agent, **changes))


def sampling(**changes: Any) -> OtelCollectorArgs:  # noqa: ANN401  # any field
    return args(sampling=replace(ARGS.sampling, **changes))


def traces(backend: Backend = TRACES, **changes: Any) -> OtelCollectorArgs:  # noqa: ANN401  # any field
    return args(traces=replace(backend, **changes))


@pytest.mark.parametrize(
    "given",
    [
        gateway(replicas=2),
        gateway(volume="1Gi", volume_bytes=1000 * MIB, queue_bytes=400 * MIB),  # two of 400 are 80 per cent
        gateway(memory_bytes=512 * MIB),
        agent(disk_bytes=240 * MIB),  # three of 64 are 80 per cent
        sampling(keep_percent=0, tenants={"vision": 100}),
        sampling(slow_ms=9_999),
        sampling(traces_in_memory=100),
        sampling(decision_wait_after_root_seconds=1),
        sampling(decision_wait_after_root_seconds=10),
        *(args(lowest_level=level) for level in ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")),
        traces(HTTP),
        traces(HTTP, endpoint="https://store.example.com/v1/traces", tls=True),
        traces(endpoint="[fd00::1]:4317"),
        traces(headers_secret="vendor", headers_keys=("authorization",)),  # noqa: S106  # a Secret's name
        args(logs=None, traces=None),
    ],
)
def test_what_can_work_is_accepted(given: OtelCollectorArgs) -> None:
    assert complaints(given) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (args(abilities=frozenset(), gateway=replace(ARGS.gateway, replicas=2)), "not known to route by trace id"),
        (gateway(replicas=0), "gateway.replicas: 0"),
        (gateway(memory_bytes=512 * MIB + 1), "gateway.memory_bytes: 536870913 in a container of 512Mi (536870912)"),
        (agent(memory_bytes=513 * MIB), "agent.memory_bytes: 537919488 in a container of 512Mi"),
        (agent(memory_bytes=0), "agent.memory_bytes: 0"),
        (gateway(volume="0", volume_bytes=0), "the queue is on no claim"),
        (gateway(queue_bytes=0), "gateway.queue: 0 bytes"),
        (gateway(volume_bytes=1000 * MIB, queue_bytes=400 * MIB + 1), "accepted are at most 419430400 each"),
        (agent(queue_bytes=0), "agent.queue: 0 bytes"),
        (agent(disk_bytes=240 * MIB - 10), "agent.queue: 3 queues of 67108864 bytes"),
        (agent(directory="var/lib/otel"), "agent.directory: `var/lib/otel`"),
        (agent(directory="/"), "agent.directory: `/`"),
        (agent(directory="/var/lib/../log"), "agent.directory: "),
        (agent(directory="/var/log/pods/"), "below /var/log/pods"),
        (agent(directory="/var/log/pods/queue"), "below /var/log/pods"),
        (sampling(keep_percent=100.5), "sampling.keep_percent: 100.5; accepted are per cent from 0 to 100"),
        (sampling(keep_percent=-1), "sampling.keep_percent: -1"),
        (sampling(keep_percent=float("nan")), "sampling.keep_percent: nan"),
        (sampling(tenants={"vision": 101}), "sampling.tenants.vision: 101"),
        (sampling(slow_ms=0), "sampling.slow: 0 ms"),
        (sampling(slow_ms=10_000), "sampling.decision_wait: 10 s, but a trace is slow at 10000 ms"),
        (
            sampling(decision_wait_after_root_seconds=11),
            "sampling.decision_wait_after_root: 11 s, with a decision_wait of 10 s",
        ),
        (sampling(decision_wait_after_root_seconds=0), "sampling.decision_wait_after_root: 0 s"),
        (sampling(traces_in_memory=99), "sampling.traces_in_memory: 99 for a wait of 10 s; accepted are 100 or more"),
        (sampling(traces_in_memory=262_145), "accepted are at most 262144"),  # half of 512 MiB, a KiB each
        (args(lowest_level="VERBOSE"), "lowest_level: `VERBOSE`"),
        (args(lowest_level="info"), "accepted is one of TRACE, DEBUG, INFO, WARN, ERROR, FATAL"),
        (traces(protocol="udp"), "traces: protocol: `udp`"),
        (traces(endpoint="http://jaeger:4317"), "traces: endpoint: accepted is `host:port`"),
        (traces(endpoint="jaeger"), "traces: endpoint: accepted is `host:port`"),
        (traces(HTTP, endpoint="store:4318"), "traces: endpoint: accepted is http://host/path with tls false"),
        (traces(HTTP, tls=True), "traces: endpoint: accepted is https://host/path with tls true"),
        (traces(HTTP, endpoint="http://[x/"), "traces: endpoint: cannot be parsed"),
        (traces(HTTP, endpoint="http://me:pass@store/v1/traces"), "traces: endpoint: holds a login"),
        (traces(headers_secret="vendor"), "traces: headers_secret: of `vendor` no key is named"),  # noqa: S106  # its name
        (traces(headers_keys=("api-key",)), "traces: headers_keys: named without a Secret"),
        (traces(headers={"Authorization": "x"}), "traces: header `Authorization`: would stand in a ConfigMap"),
        (traces(headers={"bad name": "x"}), "traces: header `bad name`: accepted are letters"),
        (
            traces(headers={"X-Scope": "a"}, headers_secret="vendor", headers_keys=("x-scope",)),  # noqa: S106  # its name
            "traces: header `x-scope`: given more than once",
        ),
    ],
)
def test_what_cannot_work_is_refused_before_anything_exists(given: OtelCollectorArgs, said: str) -> None:
    with pytest.raises(DeployError) as found:
        manifests(given, NOTHING, NOTHING)
    assert said in str(found.value)
    assert len(complaints(given)) == 1, complaints(given)


def test_everything_wrong_is_said_at_once_and_no_login_is_repeated() -> None:
    given = replace(traces(HTTP, endpoint="http://me:pass@store/v1/traces"), lowest_level="LOUD")
    with pytest.raises(DeployError) as found:
        validate(given)
    assert str(found.value).count("\n- ") == 2
    assert "pass" not in str(found.value)
