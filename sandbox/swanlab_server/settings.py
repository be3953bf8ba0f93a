"""The environment of every process, parsed once. Passwords never show in a `repr`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_VERSION: Final = "3.1.1"
_HIGHEST_PORT: Final = 65535
_VERSION: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)")

Version = tuple[int, int, int]


class SettingsError(ValueError):
    """The environment is wrong. Says which variable, what is accepted, and never its value where it may be secret."""


@dataclass(frozen=True, kw_only=True)
class Postgres:
    """Addresses of the metadata, `postgresql://user:password@host/database`. replica may be the primary again."""

    primary: str = field(repr=False)
    replica: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class ClickHouse:
    """HTTP interface of the points. url: `http://host:8123`."""

    url: str
    database: str
    user: str
    password: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """The object store. endpoint: `http://host:port` as the server reaches it.

    public_url: what signed addresses begin with; empty = scheme and host by which the caller came.
    """

    endpoint: str
    region: str
    private: str
    public: str
    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)
    public_url: str


@dataclass(frozen=True, kw_only=True)
class ApiSettings:
    """Of `server` and `house`. abort_after: seconds of silence after which a run counts as aborted."""

    port: int
    version: Version
    postgres: Postgres
    redis: str = field(repr=False)
    clickhouse: ClickHouse
    s3: Bucket
    vector_url: str
    abort_after: int


@dataclass(frozen=True, kw_only=True)
class AuthSettings:
    """Of `auth`."""

    port: int
    redis: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class VectorSettings:
    """Of the delivery buffer. data_dir: on a claim. flush_seconds and flush_events: what comes first ends a batch."""

    port: int
    metrics_port: int
    data_dir: str
    buffer_max_bytes: int
    flush_seconds: float
    flush_events: int
    clickhouse: ClickHouse


@dataclass(frozen=True, kw_only=True)
class PagesSettings:
    """Of the front end. public_host: where people find the installation, may be empty."""

    port: int
    public_host: str


@dataclass(frozen=True)
class _Reader:
    """Reads variables of one environment. Every method raises SettingsError."""

    environment: Mapping[str, str]

    def text(self, name: str, default: str | None = None) -> str:
        value = self.environment.get(name, "").strip() or default
        if value is None:
            raise SettingsError(f"{name} is not set; set it in the environment of the container")
        return value

    def number(self, name: str, default: int, *, least: int = 1, most: int | None = None) -> int:
        text = self.text(name, str(default))
        value = int(text) if re.fullmatch(r"\d{1,18}", text, re.ASCII) else -1
        if value < least or (most is not None and value > most):
            limits = f"from {least} to {most}" if most is not None else f"of at least {least}"
            raise SettingsError(f"{name} is {text!r}; accepted is a whole number {limits}")
        return value

    def seconds(self, name: str, default: float) -> float:
        text = self.text(name, str(default))
        if not re.fullmatch(r"\d{1,9}(\.\d+)?", text, re.ASCII) or not float(text):
            raise SettingsError(f"{name} is {text!r}; accepted is a number of seconds above 0")
        return float(text)

    def url(self, name: str, *schemes: str, default: str | None = None) -> str:
        value = self.text(name, default)
        if value and not _is_url(value, schemes):
            accepted = " or ".join(f"{scheme}://host[:port]" for scheme in schemes)
            raise SettingsError(f"{name} is no address that is understood; accepted is {accepted}")
        return value.rstrip("/")

    def port(self, default: int, name: str = "PORT") -> int:
        return self.number(name, default, most=_HIGHEST_PORT)


def _is_url(value: str, schemes: tuple[str, ...]) -> bool:
    try:
        parts = urlsplit(value)
        return parts.scheme in schemes and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def version(text: str) -> Version:
    """`3.1.1`, with or without a leading `v`, as numbers. Raises SettingsError."""
    found = _VERSION.fullmatch(text.removeprefix("v"))
    if found is None:
        raise SettingsError(f"STAND_IN_VERSION is {text!r}; accepted is three numbers as in {DEFAULT_VERSION}")
    return int(found[1]), int(found[2]), int(found[3])


def api(environment: Mapping[str, str]) -> ApiSettings:
    """Settings of `server` and `house`. Raises SettingsError."""
    read = _Reader(environment)
    primary = read.url("PRIMARY_URL", "postgresql", "postgres")
    return ApiSettings(
        port=read.port(3000),
        version=version(read.text("STAND_IN_VERSION", DEFAULT_VERSION)),
        postgres=Postgres(primary=primary, replica=read.url("REPLICA_URL", "postgresql", "postgres", default=primary)),
        redis=read.url("REDIS_URL", "redis", "rediss"),
        clickhouse=_clickhouse(read),
        s3=Bucket(
            endpoint=read.url("S3_ENDPOINT", "http", "https"),
            region=read.text("S3_REGION", "us-east-1"),
            private=read.text("S3_PRIVATE_BUCKET", "swanlab-private"),
            public=read.text("S3_PUBLIC_BUCKET", "swanlab-public"),
            access_key=read.text("S3_ACCESS_KEY"),
            secret_key=read.text("S3_SECRET_KEY"),
            public_url=read.url("S3_PUBLIC_URL", "http", "https", default=""),
        ),
        vector_url=read.url("VECTOR_URL", "http", "https", default="http://127.0.0.1:8686"),
        abort_after=read.number("ABORT_AFTER", 1800),
    )


def auth(environment: Mapping[str, str]) -> AuthSettings:
    """Settings of `auth`. Raises SettingsError."""
    read = _Reader(environment)
    return AuthSettings(port=read.port(3000), redis=read.url("REDIS_URL", "redis", "rediss"))


def vector(environment: Mapping[str, str]) -> VectorSettings:
    """Settings of the delivery buffer. Raises SettingsError."""
    read = _Reader(environment)
    return VectorSettings(
        port=read.port(8686),
        metrics_port=read.port(9090, "METRICS_PORT"),
        data_dir=read.text("DATA_DIR", "/data"),
        buffer_max_bytes=read.number("BUFFER_MAX_BYTES", 10 * 1024**3),
        flush_seconds=read.seconds("FLUSH_SECONDS", 5.0),
        flush_events=read.number("FLUSH_EVENTS", 10_000),
        clickhouse=_clickhouse(read),
    )


def pages(environment: Mapping[str, str]) -> PagesSettings:
    """Settings of the front end. Raises SettingsError."""
    read = _Reader(environment)
    return PagesSettings(port=read.port(3000), public_host=read.text("PUBLIC_HOST", ""))


def _clickhouse(read: _Reader) -> ClickHouse:
    return ClickHouse(
        url=read.url("CLICKHOUSE_URL", "http", "https"),
        database=read.text("CLICKHOUSE_DATABASE", "app"),
        user=read.text("CLICKHOUSE_USER", "default"),
        password=read.text("CLICKHOUSE_PASSWORD", ""),
    )
