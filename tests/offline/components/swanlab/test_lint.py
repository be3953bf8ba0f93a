"""Each rule over the chart's values sees its fault; values of all examples have none."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from components.errors import DeployError
from components.swanlab import lint as module
from components.swanlab.chart import ChartFiles
from components.swanlab.finding import Context
from components.swanlab.lint import findings, lint
from components.swanlab.lint_state import disagreements, postgres_mount
from components.swanlab.quantity import size_bytes
from components.swanlab.values import values
from tests.offline.components.swanlab.examples import KNOWN, elsewhere, local, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from components.swanlab.args import SwanlabArgs

GIVEN = frozenset({"postgres", "clickhouse", "s3"})
DURABLE = Context(durable=True, known=KNOWN, credentialed=GIVEN)


def put(values: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """The values with another one at a dotted path."""
    found = copy.deepcopy(values)
    *above, last = path.split(".")
    here = found
    for key in above:
        here = here.setdefault(key, {})
    here[last] = value
    return found


def judged(found: dict[str, Any], context: Context = DURABLE) -> list[tuple[str, str]]:
    return [(finding.code, finding.message) for finding in findings(found, context)]


@pytest.mark.parametrize("args", [whole, elsewhere])
def test_examples_are_right(args: Callable[[], SwanlabArgs]) -> None:
    assert judged(values(args())) == []


def test_example_of_a_stack_to_try_things_on_is_right() -> None:
    assert judged(values(local()), Context(durable=False)) == []


OWN_FAULTS: list[tuple[str, object, str, str]] = [
    ("global.settings.loginHost", "https://x", "renamed-key", "accepted: `global.settings.host`"),
    ("helper.repository", "busybox", "renamed-key", "accepted: `helper.image.repository`"),
    ("service.house.persistence", {"storageSize": "1Gi"}, "renamed-key", "neither side containers nor a claim"),
    ("gateway.servce", {}, "unknown-key", "did you mean `gateway.service`?"),
    ("gateway.replicas", {"count": 1}, "unknown-key", "`gateway.replicas` is an object, and the chart has int there"),
    ("dependencies.postgres.persistence.existingClaim", "", "ephemeral-store", "the data would go with the release"),
    ("vector.persistence.storageSize", "", "ephemeral-store", "acknowledged and not stored"),
    ("dependencies.redis.persistence.aof.enabled", False, "redis-aof", "every session and queue"),
    ("dependencies.s3.secretKey", "hunter2", "secret-in-values", "`dependencies.s3.secretKey` is in clear"),
    ("vector.sinks.bufferMaxSize", 25 * 1024**3, "buffer-size", "less than a third"),
    ("vector.persistence.storageSize", "59Gi", "buffer-size", "at least 60Gi"),
    ("vector.replicas", 1, "replicas", "`vector.replicas` is 1; accepted: 2"),
    ("vector.replicas", 3, "replicas", "`vector.replicas` is 3; accepted: 2"),
    ("dependencies.redis.replicas", 2, "replicas", "two would write one volume"),
    ("service.house.replicas", 0, "replicas", "`service.house.replicas` is 0"),
    ("gateway.identifyImage.repository", "", "image", "`gateway.identifyImage.repository` is empty"),
    ("helper.image.tag", "", "image", "`helper.image.tag` is empty"),
    ("dependencies.s3.mcImage.tag", "latest", "image", "which is another image tomorrow"),
    ("service.auth.securityContext.enabled", False, "runs-as-root", "`service.auth.securityContext.enabled`"),
    ("dependencies.clickhouse.resources", {}, "resources", "lacks requests.cpu, requests.memory, limits.memory"),
    ("global.settings.host", "swanlab.example.org", "host", "accepted: http:// or https://"),
    ("global.settings.host", "https://example.org/swanlab", "host", "no path"),
    ("global.settings.host", "", "host", "accepted: http:// or https://"),
]


@pytest.mark.parametrize(("path", "value", "code", "message"), OWN_FAULTS)
def test_fault_is_seen(path: str, value: object, code: str, message: str) -> None:
    found = judged(put(values(whole()), path, value))
    assert [text for seen, text in found if seen == code and message in text], found


ELSEWHERE_FAULTS: list[tuple[str, object, str, str]] = [
    ("integrations.postgres.existingSecret", "", "external-store", "username, password, primaryUrl, replicaUrl"),
    ("integrations.redis.host", "", "external-store", "`integrations.redis.host` is empty"),
    ("integrations.clickhouse.database", "metrics", "clickhouse-database", "`app`"),
    ("integrations.s3.private.bucket", "", "external-store", "`integrations.s3.private.bucket` is empty"),
    ("integrations.s3.public.domain", "media.example.org", "s3-domain", "begins with https://"),
    ("integrations.s3.public.domain", "http://media.example.org", "s3-domain", "begins with https://"),
]


@pytest.mark.parametrize(("path", "value", "code", "message"), ELSEWHERE_FAULTS)
def test_fault_of_a_store_elsewhere_is_seen(path: str, value: object, code: str, message: str) -> None:
    found = judged(put(values(elsewhere()), path, value))
    assert [text for seen, text in found if seen == code and message in text], found


def test_every_rule_has_a_fault_that_it_sees() -> None:
    seen = {code for *_, code, _ in (*OWN_FAULTS, *ELSEWHERE_FAULTS)} | {"empty-password"}
    broken: dict[str, Any] = {"gateway": {"x": 1}, "imagePullSecrets": []}
    assert {code for code, _ in judged(broken)} <= seen
    assert {"renamed-key", "unknown-key", "ephemeral-store", "image", "replicas", "resources", "host"} <= seen


@pytest.mark.parametrize(
    ("store", "key", "fixed"),
    [
        ("postgres", "password", "swanlab-postgres"),
        ("clickhouse", "password", "swanlab-clickhouse"),
        ("s3", "secretKey", "swanlab-s3"),
    ],
)
def test_empty_password_and_the_charts_own_are_refused(store: str, key: str, fixed: str) -> None:
    nobody = Context(durable=True)
    path = f"dependencies.{store}.{key}"
    for value in ("", fixed):
        found = [text for code, text in judged(put(values(whole()), path, value), nobody) if code == "empty-password"]
        assert [text for text in found if f"`{path}` is empty" in text]
    taken = put(values(whole()), f"dependencies.{store}.existingSecret", "s")
    assert [t for c, t in judged(taken, nobody) if c == "empty-password" and f"`{path}`" in t] == []


def test_domain_without_tls_may_be_http() -> None:
    plain = put(values(elsewhere()), path="integrations.s3.public.ssl", value=False)
    assert judged(put(plain, "integrations.s3.public.domain", "http://media.example.org")) == []


def test_one_buffer_is_enough_to_try_things_on() -> None:
    assert judged(put(values(whole()), "vector.replicas", 1), Context(durable=False, credentialed=GIVEN)) == []


def test_mount_above_the_data_directory_is_seen() -> None:
    shadowed = {"templates/postgres/deployment.yaml": "  - mountPath: /var/lib/postgresql\n    name: data\n"}
    assert [f.code for f in postgres_mount(shadowed, ["postgres"])] == ["postgres-mount"]
    assert list(postgres_mount(shadowed, [])) == []
    right = {"templates/postgres/deployment.yaml": '  - mountPath: "/var/lib/postgresql/data"\n    subPath: data\n'}
    assert list(postgres_mount(right, ["postgres"])) == []


def test_addresses_that_disagree_are_told_without_their_password() -> None:
    integration = {"host": "pg.example.org", "port": 5432, "database": "app"}
    found = disagreements("postgres", integration, "postgresql://u:canary@pg2.example.org:5433/other")
    assert found == [
        "host is `pg.example.org` in the settings and `pg2.example.org` in the Secret of postgres",
        "port is `5432` in the settings and `5433` in the Secret of postgres",
        "database is `app` in the settings and `other` in the Secret of postgres",
    ]
    assert disagreements("postgres", integration, "postgresql://u:p@pg.example.org:5432/app?sslmode=require") == []
    assert disagreements("redis", {"host": "r", "port": 6379, "database": 0}, "redis://default@r") == []
    assert disagreements("redis", {"host": "r", "port": 6380, "database": 0}, "redis://r/0") == [
        "port is `6380` in the settings and `6379` in the Secret of redis"
    ]


def test_lint_tells_every_broken_rule_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    known = copy.deepcopy(KNOWN)
    del known["dependencies"]["clickhouse"]["password"], known["vector"]["sinks"]
    templates = {"templates/pg.yaml": "mountPath: /var/lib/postgresql"}
    monkeypatch.setattr(module, "read", lambda _: ChartFiles(values=known, templates=templates))
    with pytest.raises(DeployError) as caught:
        lint(whole())
    lines = str(caught.value).splitlines()
    assert [line.partition(":")[0] for line in lines[1:]] == ["- unknown-key", "- unknown-key", "- postgres-mount"]
    assert "`dependencies.clickhouse.password` is not known to the chart" in str(caught.value)


def test_lint_accepts_what_the_vendors_chart_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "read", lambda _: ChartFiles(values=KNOWN, templates={}))
    lint(whole())
    lint(elsewhere())


@pytest.mark.parametrize(
    ("text", "expected"),
    [("60Gi", 64_424_509_440), ("1500", 1500), ("1.5Gi", 1_610_612_736), ("2k", 2000), ("1M", 10**6)],
)
def test_sizes(text: str, expected: int) -> None:
    assert size_bytes(text) == expected


def test_size_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="`many` is not a size"):
        size_bytes("many")
