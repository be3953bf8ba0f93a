"""What values change: stores outside, claims and Secrets that are there already, credentials, looks of pods."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import pytest

from components import policy
from sandbox.swanlab_server import settings
from tests.offline.sandbox.chart.judges import COMPONENTS, STATELESS, STORES, USERS, full_name
from tests.offline.sandbox.chart.render import (
    RELEASE,
    Change,
    environment,
    main_container,
    named,
    pods,
    render,
    workloads,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.offline.sandbox.chart.render import Manifest

KEYS = {
    name: f"{'dependencies.' if name in STORES else '' if name in ('gateway', 'vector') else 'service.'}{name}"
    for name in COMPONENTS
}
SECURE = [f"{key}.securityContext.enabled=true" for key in KEYS.values()]
OUTSIDE = {
    "postgres": ["host=pg.example", "port=6432", "existingSecret=mine"],
    "redis": ["host=redis.example", "port=6380", "existingSecret=mine"],
    "clickhouse": ["host=ch.example", "httpPort=18123", "database=other", "existingSecret=mine"],
    "s3": [
        *("existingSecret=mine", "public.endpoint=10.203.0.1", "public.port=30833", "public.ssl=false"),
        *("public.bucket=open", "private.endpoint=s3.example", "private.bucket=shut", "private.region=eu-1"),
    ],
}
MARK = "vErYsEcReT"
PASSWORDS = [
    *(f"dependencies.{store}.password={MARK}" for store in ("postgres", "clickhouse")),
    f"dependencies.s3.secretKey={MARK}",
]
NODE_RULES = (
    *(policy.image_is_pinned, policy.runs_as_non_root, policy.root_is_read_only, policy.has_no_privileges),
    *(policy.stays_off_the_node, policy.config_holds_no_secret),
)


def outside(*stores: str) -> list[str]:
    """Settings that take these stores from elsewhere."""
    return [f"integrations.{store}.{setting}" for store in stores for setting in ("enabled=true", *OUTSIDE[store])]


def belonging(manifests: list[Manifest], component: str) -> list[str]:
    """Kinds of the objects that carry the component's name."""
    name = full_name(component)
    return [
        m["kind"] for m in manifests if m["metadata"]["name"] == name or m["metadata"]["name"].startswith(f"{name}-")
    ]


def broken_rules(manifests: list[Manifest]) -> list[str]:
    """Complaints of the rules of components/policy.py that a chart of somebody else can keep."""
    return [complaint for m in manifests for rule in NODE_RULES for complaint in rule(m)]


def leaks(manifests: list[Manifest]) -> list[str]:
    """Objects other than Secrets that hold the mark, plain or in base64 at any offset."""
    coded = [base64.b64encode(b"." * pad + MARK.encode())[4:-4].decode() for pad in range(3)]
    forms = (MARK, *coded)
    return [
        m["metadata"]["name"] for m in manifests if m["kind"] != "Secret" and any(f in json.dumps(m) for f in forms)
    ]


@pytest.mark.parametrize("store", STORES)
def test_store_outside_removes_the_one_inside(store: str) -> None:
    assert belonging(render(), store) != []
    assert belonging(render(outside(store)), store) == []


@pytest.mark.parametrize("store", STORES)
def test_store_left_inside_is_seen(store: str, tmp_path: Path) -> None:
    change = Change(f"templates/{store}.yaml", f"if not .Values.integrations.{store}.enabled", "if true")
    assert belonging(render(outside(store), change.applied(tmp_path)), store) != []


def test_processes_reach_stores_outside() -> None:
    manifests = render(outside(*STORES))
    found = environment(manifests, "house")
    assert (found["PRIMARY_URL"], found["REPLICA_URL"]) == ("mine/primaryUrl", "mine/replicaUrl")
    assert (found["REDIS_URL"], found["S3_SECRET_KEY"]) == ("mine/url", "mine/secretKey")
    assert (found["CLICKHOUSE_URL"], found["CLICKHOUSE_DATABASE"]) == ("http://ch.example:18123", "other")
    assert (found["S3_ENDPOINT"], found["S3_REGION"]) == ("https://s3.example", "eu-1")
    assert (found["S3_PUBLIC_URL"], found["S3_PUBLIC_BUCKET"]) == ("http://10.203.0.1:30833", "open")
    assert environment(manifests, "vector")["CLICKHOUSE_DATABASE"] == "app"
    ping = pods(manifests)["server"]["initContainers"][0]["command"][4:]
    assert ping == ["redis.example:6380", "pg.example:6432"]


def test_gateway_leads_to_the_store_inside_alone() -> None:
    confs = [
        named(render(chosen), "ConfigMap", f"{RELEASE}-gateway-config")["data"]["nginx.conf"]
        for chosen in ([], outside("s3"))
    ]
    assert ["/swanlab-private" in conf for conf in confs] == [True, False]
    assert ["/swanlab-public" in conf for conf in confs] == [True, False]


@pytest.mark.parametrize("store", STORES)
def test_claim_that_is_there_is_used(store: str) -> None:
    manifests = render([f"dependencies.{store}.persistence.existingClaim=mine"])
    claims = [v["persistentVolumeClaim"] for v in pods(manifests)[store]["volumes"] if "persistentVolumeClaim" in v]
    assert claims == [{"claimName": "mine"}]
    assert f"{full_name(store)}-pvc" not in {m["metadata"]["name"] for m in manifests}


@pytest.mark.parametrize("store", STORES)
def test_secret_that_is_there_is_used(store: str) -> None:
    manifests = render([f"dependencies.{store}.existingSecret=mine"])
    assert f"{full_name(store)}-credentials" not in {m["metadata"]["name"] for m in manifests}
    read = (
        environment(manifests, "server") | environment(manifests, store)
        if store != "redis"
        else environment(manifests, "server")
    )
    expected = {
        "postgres": {"mine/username", "mine/password", "mine/primaryUrl", "mine/replicaUrl"},
        "redis": {"mine/url"},
        "clickhouse": {"mine/username", "mine/password"},
        "s3": {"mine/accessKey", "mine/secretKey"},
    }
    assert {value for value in read.values() if value.startswith("mine/")} == expected[store]


def test_credentials_of_the_values_reach_store_and_server() -> None:
    manifests = render(["dependencies.postgres.username=u", "dependencies.postgres.password=p"])
    assert set("up") <= set(environment(manifests, "postgres").values())
    assert environment(manifests, "server")["PRIMARY_URL"] == f"postgres://u:p@{RELEASE}-postgres:5432/app"


def test_no_password_is_outside_a_secret() -> None:
    manifests = render(PASSWORDS)
    assert leaks(manifests) == []
    assert environment(manifests, "postgres")["POSTGRES_PASSWORD"] == MARK


@pytest.mark.parametrize("written", ["{{ $password }}", "{{ $url | b64enc }}"])
def test_password_outside_a_secret_is_seen(written: str, tmp_path: Path) -> None:
    change = Change("templates/postgres.yaml", "kind: Secret", f"kind: ConfigMap\nimmutable: {written}")
    assert leaks(render(PASSWORDS, change.applied(tmp_path))) != []


def test_secure_pods_keep_the_rules() -> None:
    manifests = render(SECURE)
    assert broken_rules(manifests) == []
    assert {name: pod["securityContext"]["runAsUser"] for name, pod in pods(manifests).items()} == USERS
    assert all(pod["securityContext"]["fsGroup"] == USERS[name] for name, pod in pods(manifests).items())


@pytest.mark.parametrize(
    "change",
    [
        Change("templates/_pods.tpl", "  runAsNonRoot: true\n", ""),
        Change("templates/_pods.tpl", "  readOnlyRootFilesystem: true\n", ""),
        Change("templates/_pods.tpl", '    drop: ["ALL"]', '    drop: ["NET_RAW"]'),
        Change("templates/_pods.tpl", "    type: RuntimeDefault", "    type: Unconfined"),
        Change("templates/s3.yaml", '          {{- include "swanlab.container.security" $init | nindent 10 }}\n', ""),
        Change(
            "templates/gateway.yaml",
            'command: ["/usr/sbin',
            'env: [{name: API_KEY, value: x}]\n          command: ["/usr/sbin',
        ),
        Change("templates/gateway.yaml", "emptyDir: {}", "hostPath: {path: /tmp}"),
    ],
    ids=lambda change: change.old.strip()[:24],
)
def test_pod_that_breaks_a_rule_is_seen(change: Change, tmp_path: Path) -> None:
    assert broken_rules(render(SECURE, change.applied(tmp_path))) != []


def test_default_pods_are_not_secure() -> None:
    assert any("may run as root" in complaint for complaint in broken_rules(render()))


def test_ports_below_1024_can_be_bound_without_root() -> None:
    allowed = {"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}
    found = {name for name, pod in pods(render(SECURE)).items() if pod["securityContext"].get("sysctls") == [allowed]}
    assert found == {"gateway", "cloud"}


def test_buffer_size_and_clocks_reach_the_processes() -> None:
    manifests = render(["vector.sinks.bufferMaxSize=268435456", "standIn.flushSeconds=1", "standIn.abortAfter=60"])
    vector = settings.vector(environment(manifests, "vector"))
    assert (vector.buffer_max_bytes, vector.flush_seconds) == (268435456, 1.0)
    assert settings.api(environment(manifests, "server")).abort_after == 60


def test_redis_writes_every_command_when_asked() -> None:
    chosen = [
        "dependencies.redis.persistence.aof.enabled=true",
        "dependencies.redis.persistence.aof.appendFsync=always",
    ]
    arguments = [main_container(pods(render(s))["redis"])["args"] for s in ([], chosen)]
    found = [dict(zip(a[::2], a[1::2], strict=True)) for a in arguments]
    assert [(a["--appendonly"], a["--appendfsync"]) for a in found] == [("no", "everysec"), ("yes", "always")]


@pytest.mark.parametrize("name", COMPONENTS)
def test_looks_of_pods_can_be_chosen(name: str) -> None:
    chosen = [
        *("customLabels.a=1x", "customAnnotations.b=2x", "customPodLabels.c=3x", "customPodAnnotations.d=4x"),
        *("customNodeSelector.e=5x", "customTolerations[0].key=f", "resources.requests.cpu=10m", "image.tag=v9"),
        "image.repository=r.example/x",
    ]
    workload = workloads(render([*(f"{KEYS[name]}.{key}" for key in chosen), "global.imagePullSecrets[0].name=pull"]))[
        name
    ]
    template = workload["spec"]["template"]
    pod, container = template["spec"], main_container(template["spec"])
    assert (workload["metadata"]["labels"]["a"], workload["metadata"]["annotations"]["b"]) == ("1x", "2x")
    assert (template["metadata"]["labels"]["c"], template["metadata"]["annotations"]["d"]) == ("3x", "4x")
    assert (pod["nodeSelector"], pod["tolerations"]) == ({"e": "5x"}, [{"key": "f"}])
    assert (container["resources"], container["image"]) == ({"requests": {"cpu": "10m"}}, "r.example/x:v9")
    assert pod["imagePullSecrets"] == [{"name": "pull"}]
    assert set("acb") & set(workload["spec"]["selector"]["matchLabels"]) == set()


@pytest.mark.parametrize(("preset", "when"), [("soft", "ScheduleAnyway"), ("hard", "DoNotSchedule"), ("none", None)])
def test_replicas_are_spread_as_asked(preset: str, when: str | None) -> None:
    for workload in workloads(render([f"global.podAntiAffinityPreset={preset}"])).values():
        spread = workload["spec"]["template"]["spec"].get("topologySpreadConstraints", [])
        assert [s["whenUnsatisfiable"] for s in spread] == ([when] if when else [])
        assert all(s["labelSelector"] == workload["spec"]["selector"] for s in spread)


def test_empty_tag_is_the_applications_version() -> None:
    images = {name: main_container(pod)["image"] for name, pod in pods(render()).items()}
    assert {images[n].rpartition(":")[2] for n in STATELESS if n != "gateway"} == {"v3.1.1"}
    assert images["gateway"] == "repo.swanlab.cn/public/traefik:3.6"


@pytest.mark.parametrize(
    ("name", "port"),
    [
        *(("server", 3000), ("auth", 3000), ("house", 3000), ("vector", 9090)),
        *(("postgres", 5432), ("redis", 6379), ("clickhouse", 9363)),
    ],
)
def test_monitor_service_is_made_when_asked(name: str, port: int) -> None:
    assert f"{full_name(name)}-monitor" not in {m["metadata"]["name"] for m in render()}
    manifests = render([f"{KEYS[name]}.monitor.enable=true"])
    spec = named(manifests, "Service", f"{full_name(name)}-monitor")["spec"]
    opened = {p["name"]: p["containerPort"] for p in main_container(pods(manifests)[name])["ports"]}
    assert (spec["clusterIP"], [p["port"] for p in spec["ports"]]) == ("None", [port])
    assert [opened[p["targetPort"]] for p in spec["ports"]] == [port]


def test_gateway_restarts_with_its_configuration() -> None:
    annotations = [
        workloads(render(chosen))["gateway"]["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
        for chosen in ([], [], outside("s3"))
    ]
    assert annotations[0] == annotations[1] != annotations[2]


def test_buckets_are_made_by_pods_that_the_stores_service_does_not_find() -> None:
    manifests = render()
    job = named(manifests, "Job", f"{RELEASE}-s3-init-buckets")["spec"]
    selector = named(manifests, "Service", f"{RELEASE}-s3")["spec"]["selector"]
    assert job["ttlSecondsAfterFinished"] == 3600
    assert not selector.items() <= job["template"]["metadata"]["labels"].items()
