"""Settings, who may ask, and what an error becomes."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from sandbox.clickhouse_engine import access
from sandbox.clickhouse_engine.errors import EngineError
from sandbox.clickhouse_engine.settings import Settings, SettingsError, parse

_SETTINGS = Settings(
    data_dir=Path("/data"),
    user="swanlab",
    password="se:cret",  # noqa: S106  # of this test
    database="app",
    port=8123,
    metrics_port=9363,
)


def _basic(text: str) -> dict[str, str]:
    return {"authorization": "Basic " + base64.b64encode(text.encode()).decode()}


def test_defaults_are_the_servers() -> None:
    found = parse({"CLICKHOUSE_PASSWORD": "x"})
    assert (str(found.data_dir), found.user, found.database) == ("/var/lib/clickhouse", "default", "default")
    assert (found.port, found.metrics_port) == (8123, 9363)
    assert "password" not in repr(found)


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({}, "CLICKHOUSE_PASSWORD"),
        ({"CLICKHOUSE_PASSWORD": ""}, "CLICKHOUSE_PASSWORD"),
        ({"CLICKHOUSE_PASSWORD": "x", "PORT": "0"}, "PORT"),
        ({"CLICKHOUSE_PASSWORD": "x", "METRICS_PORT": "65536"}, "METRICS_PORT"),
        ({"CLICKHOUSE_PASSWORD": "x", "CLICKHOUSE_DB": "a`b"}, "CLICKHOUSE_DB"),
    ],
)
def test_a_wrong_environment_is_refused(environment: dict[str, str], named: str) -> None:
    with pytest.raises(SettingsError, match=named):
        parse(environment)


@pytest.mark.parametrize(
    ("headers", "parameters"),
    [
        ({"x-clickhouse-user": "swanlab", "x-clickhouse-key": "se:cret"}, {}),
        (_basic("swanlab:se:cret"), {}),
        ({}, {"user": "swanlab", "password": "se:cret"}),
    ],
)
def test_three_ways_to_say_who_asks(headers: dict[str, str], parameters: dict[str, str]) -> None:
    access.check(_SETTINGS, headers, parameters)


@pytest.mark.parametrize(
    ("headers", "parameters"),
    [
        ({}, {}),
        ({"x-clickhouse-user": "swanlab"}, {}),
        ({"x-clickhouse-user": "swanlab", "x-clickhouse-key": "secret"}, {}),
        (_basic("default:se:cret"), {}),
        ({"authorization": "Basic §"}, {}),
        ({"authorization": "Bearer x"}, {}),
        (_basic("swanlab:se:cret"), {"user": "swanlab", "password": "se:cret"}),
    ],
)
def test_everybody_else_is_refused(headers: dict[str, str], parameters: dict[str, str]) -> None:
    with pytest.raises(EngineError, match="AUTHENTICATION_FAILED") as refused:
        access.check(_SETTINGS, headers, parameters)
    assert (refused.value.code, refused.value.status) == (516, 403)


@pytest.mark.parametrize(
    ("text", "code", "status"),
    [
        ("Code: 62. DB::Exception: Syntax error. (SYNTAX_ERROR)", 62, 400),
        ("Streaming insert finish failed: Code: 27. DB::Exception: x. (CANNOT_PARSE_INPUT_ASSERTION_FAILED)", 27, 400),
        ("Code: 194. DB::Exception: x. (REQUIRED_PASSWORD)", 194, 401),
        ("Code: 60. DB::Exception: x. (UNKNOWN_TABLE)", 60, 404),
        ("Code: 159. DB::Exception: x. (TIMEOUT_EXCEEDED)", 159, 408),
        ("Code: 48. DB::Exception: x. (NOT_IMPLEMENTED)", 48, 501),
        ("Code: 241. DB::Exception: x. (MEMORY_LIMIT_EXCEEDED)", 241, 500),
        ("the library says something else", 1001, 500),
    ],
)
def test_status_of_an_error(text: str, code: int, status: int) -> None:
    found = EngineError(text)
    assert (found.code, found.status) == (code, status)
    assert str(found).startswith(f"Code: {code}. DB::Exception: ")


def test_the_text_names_the_version_once() -> None:
    assert EngineError("Code: 62. DB::Exception: x. (X)").text("26.9").endswith("(X) (version 26.9)\n")
    assert EngineError("Code: 62. DB::Exception: x. (X) (version 26.9)").text("26.9").count("version") == 1
