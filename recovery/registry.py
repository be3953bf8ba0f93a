"""Every kind of store: a new one joins with one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from recovery.stores import clickhouse, grafana, objects, postgres, redis_keys, sealed, silences

if TYPE_CHECKING:
    from pathlib import Path

    from recovery.model import Record
    from recovery.ports import Store


class Kind(Protocol):
    """What a module of a store must have: its section of the configuration, and how it is opened."""

    @property
    def Settings(self) -> type[Record]: ...

    def open_store(self, settings: Record, work: Path) -> Store: ...


KINDS: Final = {
    "postgres": postgres,
    "clickhouse": clickhouse,
    "objects": objects,
    "redis": redis_keys,
    "alertmanager": silences,
    "grafana": grafana,
    "secrets": sealed,
}
"""Value of `kind` in a section → module with `Settings` and `open_store`."""
