"""The environment of the engine's server, parsed once."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_HIGHEST_PORT: Final = 65535
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class SettingsError(ValueError):
    """The environment is wrong. Says which variable and what is accepted, never a password."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """data_dir: on a volume. database: made at start if missing. port, metrics_port: listened on at every address."""

    data_dir: Path
    user: str
    password: str = field(repr=False)
    database: str
    port: int
    metrics_port: int


def parse(environment: Mapping[str, str]) -> Settings:
    """DATA_DIR, CLICKHOUSE_USER, CLICKHOUSE_PASSWORD, CLICKHOUSE_DB, PORT, METRICS_PORT. Raises SettingsError."""
    password = environment.get("CLICKHOUSE_PASSWORD", "")
    if not password:
        raise SettingsError(
            "CLICKHOUSE_PASSWORD is not set or empty: everyone in the network could read and drop all data; "
            "set it in the environment of the container"
        )
    database = environment.get("CLICKHOUSE_DB") or "default"
    if not _NAME.fullmatch(database):
        raise SettingsError(f"CLICKHOUSE_DB is {database!r}; accepted are letters, digits and _, no digit first")
    return Settings(
        data_dir=Path(environment.get("DATA_DIR") or "/var/lib/clickhouse"),
        user=environment.get("CLICKHOUSE_USER") or "default",
        password=password,
        database=database,
        port=_port(environment, "PORT", 8123),
        metrics_port=_port(environment, "METRICS_PORT", 9363),
    )


def _port(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= _HIGHEST_PORT):
        raise SettingsError(f"{name} is {text!r}; accepted is a port from 1 to {_HIGHEST_PORT}")
    return int(text)
