"""The environment of the stand-in's processes."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.swanlab_server import __main__ as program
from sandbox.swanlab_server import settings
from sandbox.swanlab_server.settings import SettingsError

CHECKOUT = Path(__file__).parents[4]
API = {
    "PRIMARY_URL": "postgresql://swanlab:hidden-pg@pg:5432/app",
    "REDIS_URL": "redis://:hidden-redis@redis:6379",
    "CLICKHOUSE_URL": "http://clickhouse:8123/",
    "CLICKHOUSE_PASSWORD": "hidden-ch",
    "S3_ENDPOINT": "http://s3:9000",
    "S3_ACCESS_KEY": "hidden-access",
    "S3_SECRET_KEY": "hidden-secret",
    "VECTOR_URL": "http://vector:8686",
}


def test_what_is_not_said_is_the_documented_default() -> None:
    found = settings.api(API)
    assert (found.port, found.version, found.abort_after) == (3000, (3, 1, 1), 1800)
    assert found.postgres.replica == "postgresql://swanlab:hidden-pg@pg:5432/app"
    assert (found.clickhouse.url, found.clickhouse.database) == ("http://clickhouse:8123", "app")
    assert (found.s3.private, found.s3.public, found.s3.public_url) == ("swanlab-private", "swanlab-public", "")
    buffer = settings.vector({"CLICKHOUSE_URL": "http://clickhouse:8123"})
    assert (buffer.port, buffer.metrics_port, buffer.data_dir) == (8686, 9090, "/data")
    assert (buffer.flush_seconds, buffer.flush_events) == (5.0, 10_000)


def test_no_secret_shows_when_settings_are_printed() -> None:
    assert "hidden" not in repr(settings.api(API))
    assert "hidden" not in repr(settings.vector({**API}))
    assert "hidden" not in repr(settings.auth(API))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "0"),
        ("PORT", "65536"),
        ("PORT", "http"),
        ("ABORT_AFTER", "-1"),
        ("STAND_IN_VERSION", "3.1"),
        ("PRIMARY_URL", "mysql://pg/app"),
        ("PRIMARY_URL", "postgresql://"),
        ("REDIS_URL", "redis:6379"),
        ("S3_ENDPOINT", "s3:9000"),
        ("S3_ENDPOINT", "http://s3:port"),
        ("S3_SECRET_KEY", " "),
    ],
)
def test_a_wrong_variable_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        settings.api({**API, name: value})


def test_a_wrong_address_is_not_repeated_since_it_may_hold_a_password() -> None:
    with pytest.raises(SettingsError) as caught:
        settings.api({**API, "PRIMARY_URL": "mysql://swanlab:hidden-pg@pg/app"})
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("value", ["0", "0.0", "-1", "soon", "1e3"])
def test_a_flush_needs_seconds(value: str) -> None:
    with pytest.raises(SettingsError, match="FLUSH_SECONDS"):
        settings.vector({"CLICKHOUSE_URL": "http://clickhouse:8123", "FLUSH_SECONDS": value})


def test_a_version_may_have_its_letter() -> None:
    assert settings.version("v3.2.0") == (3, 2, 0)


def test_the_program_ends_with_one_when_its_environment_is_wrong(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        assert program.main(["server"], {}) == 1
    assert "PRIMARY_URL" in caplog.text


def test_a_word_that_is_none_ends_with_two(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        program.main(["sever"], {})
    assert caught.value.code == 2
    assert "server" in capsys.readouterr().err


@pytest.mark.parametrize(("word", "absent"), [("auth", "psycopg minio"), ("pages", "psycopg minio redis")])
def test_a_process_loads_no_driver_of_a_store_that_it_does_not_use(word: str, absent: str) -> None:
    text = f"import sys, sandbox.swanlab_server.__main__, sandbox.swanlab_server.{word}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True, cwd=CHECKOUT)
    assert set(absent.split()).isdisjoint(loaded.stdout.split())
