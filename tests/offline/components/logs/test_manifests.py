"""VictoriaLogs: what its arguments decide, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from components.errors import DeployError
from components.images import ImagePin
from components.logs.args import LogsArgs
from components.logs.component import Logs
from components.logs.manifests import manifests
from components.logs.names import ingest_url
from components.logs.options import arguments
from components.policy import violations
from components.prometheus.args import Resources
from tests.offline.components.pulumi_mocks import record

if TYPE_CHECKING:
    from components.objects import Manifest

MIB, GIB = 2**20, 2**30
ARGS = LogsArgs(
    stack="local",
    namespace="plumbline",
    image=ImagePin(reference="plumbline.local/victoria-logs:1.52.1-0123abcd"),
    retention="7d",
    retention_bytes=8 * GIB,
    volume="10Gi",
    volume_bytes=10 * GIB,
    memory_bytes=512 * MIB,
    storage_class=None,
    resources=Resources(cpu_request="50m", memory_request="128Mi", memory_limit="512Mi"),
    network_policies=True,
)


def container(args: LogsArgs = ARGS) -> dict[str, Any]:
    (found,) = manifests(args)["stateful-set"]["spec"]["template"]["spec"]["containers"]
    return dict(found)


def test_no_rule_is_broken() -> None:
    assert violations(manifests(ARGS).values()) == []
    assert "network-policy" not in manifests(replace(ARGS, network_policies=False))


def test_command_line_holds_both_limits_and_shares_of_disk_and_memory() -> None:
    assert arguments(ARGS) == [
        "-storageDataPath=/victoria-logs",
        "-httpListenAddr=:9428",
        "-retentionPeriod=7d",
        "-retention.maxDiskSpaceUsageBytes=8589934592",
        "-storage.minFreeDiskSpaceBytes=536870912",  # a twentieth of 10 GiB
        "-memory.allowedBytes=322122547",  # six tenths of 512 MiB
        "-inmemoryDataFlushInterval=1s",
        "-loggerFormat=json",
    ]
    assert container()["args"] == arguments(ARGS)


def test_data_is_a_claim_of_its_own_and_outlives_the_stack() -> None:
    found = manifests(ARGS)
    meta = found["data"]["metadata"]
    assert (meta["name"], meta["labels"]["plumbline/stack"]) == ("victoria-logs-data", "local")
    assert meta["annotations"]["plumbline/retain"] == "true"
    pod: Manifest = found["stateful-set"]["spec"]["template"]["spec"]
    assert pod["volumes"] == [{"name": "data", "persistentVolumeClaim": {"claimName": "victoria-logs-data"}}]
    assert container()["volumeMounts"] == [{"name": "data", "mountPath": "/victoria-logs"}]


def test_the_own_namespace_alone_gets_in() -> None:
    assert manifests(ARGS)["network-policy"]["spec"]["ingress"] == [
        {"from": [{"podSelector": {}}], "ports": [{"port": 9428, "protocol": "TCP"}]}
    ]
    assert ingest_url("plumbline") == "http://victoria-logs.plumbline.svc:9428/insert/opentelemetry/v1/logs"


@pytest.mark.parametrize("retention", ["1d", "24h", "48h", "2w", "1y"])
def test_whole_days_are_accepted(retention: str) -> None:
    assert manifests(replace(ARGS, retention=retention))


@pytest.mark.parametrize("retention", ["23h", "25h", "0d", "7", "1.5d", "3M", "30m", "-7d", ""])
def test_other_retentions_are_refused(retention: str) -> None:
    with pytest.raises(DeployError, match="accepted are whole days, at least one"):
        manifests(replace(ARGS, retention=retention))


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (replace(ARGS, retention_bytes=8 * GIB + 1), "accepted are at most 8589934592, 80 per cent of it"),
        (replace(ARGS, retention_bytes=0), "retention_bytes: 0; accepted is more than 0"),
        (replace(ARGS, memory_bytes=512 * MIB + 1), "in a container of 512Mi (536870912)"),
        (replace(ARGS, memory_bytes=0), "memory_bytes: 0 in a container"),
        (replace(ARGS, resources=replace(ARGS.resources, memory_limit="much")), "`much` is not a size"),
    ],
)
def test_what_cannot_work_is_refused(args: LogsArgs, said: str) -> None:
    with pytest.raises(DeployError) as found:
        manifests(args)
    assert said in str(found.value)


def test_everything_wrong_is_said_at_once() -> None:
    with pytest.raises(DeployError) as found:
        manifests(replace(ARGS, retention="1h", retention_bytes=0, memory_bytes=0))
    assert str(found.value).count("\n- ") == 3


def test_component_registers_what_the_manifests_say_and_starts_the_pod_last() -> None:
    recorded = record(lambda: Logs("victoria-logs", ARGS))
    registered = {r.name: r.inputs for r in recorded.resources if r.type.startswith("kubernetes:")}
    assert registered == {f"victoria-logs-{role}": m for role, m in manifests(ARGS).items()}
    last = recorded.named("victoria-logs-stateful-set")
    assert {"victoria-logs-data", "victoria-logs-network-policy"} <= set(last.depends_on)
    assert {r.name for r in recorded.resources if r.retained} == {"victoria-logs-data"}
    assert recorded.outputs["victoria-logs"] == {"service_name"}
