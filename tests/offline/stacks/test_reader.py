"""Lists, Secrets and schemas, as they are read from an API server before a change."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from components.errors import DeployError
from signals.yamltext import dump
from stacks.bundle import plan
from stacks.cluster import ForbiddenError
from stacks.secrets import check_secrets
from tests.offline.stacks.api_server import reader
from tests.offline.stacks.examples import settings

if TYPE_CHECKING:
    from pathlib import Path

    from tests.offline.stacks.api_server import Server

SECRET = "/api/v1/namespaces/plumbline/secrets/alert-receivers"  # noqa: S105  # a path of the API
DAEMON_SETS = "/apis/apps/v1/daemonsets"
OPERATOR = "monitoring.coreos.com/v1"
CANARY = "canary-d41d8cd9"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def secret(*keys: str, content: str = CANARY) -> dict[str, Any]:
    return {"metadata": {"name": "alert-receivers"}, "data": {key: encoded(content) for key in keys}}


def test_keys_of_a_secret_are_read_and_nothing_else_of_it(tmp_path: Path, server: Server) -> None:
    server.answers[SECRET] = (200, secret("p0", "p1"))
    assert reader(tmp_path, server.url).secret_keys("plumbline", "alert-receivers") == frozenset({"p0", "p1"})


def test_secret_without_data_has_no_keys(tmp_path: Path, server: Server) -> None:
    server.answers[SECRET] = (200, {"metadata": {"name": "alert-receivers"}})
    assert reader(tmp_path, server.url).secret_keys("plumbline", "alert-receivers") == frozenset()


def test_missing_secret_or_namespace_is_none(tmp_path: Path, server: Server) -> None:
    assert reader(tmp_path, server.url).secret_keys("plumbline", "alert-receivers") is None


def test_secret_that_may_not_be_read_is_an_error(tmp_path: Path, server: Server) -> None:
    server.answers[SECRET] = (403, {})
    with pytest.raises(ForbiddenError, match=r"may not read it \(403\)"):
        reader(tmp_path, server.url).secret_keys("plumbline", "alert-receivers")


def test_content_of_a_secret_reaches_nothing_that_is_deployed_or_said(tmp_path: Path, server: Server) -> None:
    """Once with every key, and once with one missing, so that there is a message."""
    found = settings("staging", grafana={"mode": "off"})
    server.answers[SECRET] = (200, secret("p0", "p1", "p2", "p3", "watchdog"))
    check_secrets(reader(tmp_path, server.url), found)
    decided = plan(found)
    text = decided.contract.model_dump_json() + "".join(dump(manifest) for manifest in decided.manifests())
    assert "alert-receivers" in text
    server.answers[SECRET] = (200, secret("p0"))
    with pytest.raises(DeployError) as caught:
        check_secrets(reader(tmp_path, server.url), found)
    for leaked in (CANARY, encoded(CANARY)):
        assert leaked not in text
        assert leaked not in str(caught.value)


def test_list_gives_its_objects(tmp_path: Path, server: Server) -> None:
    items = [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]
    server.answers[DAEMON_SETS] = (200, {"kind": "DaemonSetList", "items": items})
    assert reader(tmp_path, server.url).listing(DAEMON_SETS) == items


def test_list_is_asked_for_with_its_selection(tmp_path: Path, server: Server) -> None:
    server.answers["/api/v1/namespaces"] = (200, {"items": []})
    path = "/api/v1/namespaces?fieldSelector=metadata.name%3Dplumbline"
    assert reader(tmp_path, server.url).listing(path) == []
    assert server.asked == ["/api/v1/namespaces?fieldSelector=metadata.name=plumbline"]


def test_list_of_something_unknown_is_empty(tmp_path: Path, server: Server) -> None:
    assert reader(tmp_path, server.url).listing(DAEMON_SETS) == []


@pytest.mark.parametrize(("status", "kind"), [(403, ForbiddenError), (401, DeployError), (500, DeployError)])
def test_list_that_is_refused_says_how(tmp_path: Path, server: Server, status: int, kind: type[DeployError]) -> None:
    """An account without a right is told apart: who asks may go on without the answer."""
    server.answers[DAEMON_SETS] = (status, {})
    with pytest.raises(DeployError) as caught:
        reader(tmp_path, server.url).listing(DAEMON_SETS)
    assert type(caught.value) is kind


def test_list_is_asked_with_the_credentials_of_the_context(tmp_path: Path, server: Server) -> None:
    server.answers[DAEMON_SETS] = (200, {"items": []})
    reader(tmp_path, server.url).listing(DAEMON_SETS)
    assert server.authorizations == ["Bearer t"]


def test_server_that_is_gone_is_named(tmp_path: Path, server: Server) -> None:
    with pytest.raises(DeployError, match=r"API server http://127\.0\.0\.1:1 .* cannot be reached"):
        reader(tmp_path, server.url, "other").listing(DAEMON_SETS)


def test_schemas_of_a_served_version_are_read(tmp_path: Path, server: Server) -> None:
    schemas = {"com.coreos.monitoring.v1.PodMonitor": {"type": "object"}}
    server.answers[f"/openapi/v3/apis/{OPERATOR}"] = (200, {"openapi": "3.0.0", "components": {"schemas": schemas}})
    assert reader(tmp_path, server.url).schemas(OPERATOR) == schemas


def test_schemas_of_a_version_that_is_not_served_are_none(tmp_path: Path, server: Server) -> None:
    assert reader(tmp_path, server.url).schemas(OPERATOR) is None


@pytest.mark.parametrize("status", [200, 403])
def test_clock_of_an_api_server_is_the_date_of_its_answer_even_of_a_refusal(
    tmp_path: Path, server: Server, status: int
) -> None:
    server.answers["/version"] = (status, {})
    before = datetime.now(UTC).replace(microsecond=0)
    told = reader(tmp_path, server.url).clock()
    assert told is not None
    assert before <= told <= datetime.now(UTC)
    assert server.asked == ["/version"]


def test_clock_of_a_server_that_is_gone_is_an_error(tmp_path: Path, server: Server) -> None:
    with pytest.raises(DeployError, match="cannot be reached"):
        reader(tmp_path, server.url, "other").clock()
