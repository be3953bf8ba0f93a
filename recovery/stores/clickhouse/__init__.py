"""ClickHouse as a store: read through SELECT in Native format, one stream for each table and partition.

A stream that breaks is an error, in three ways: the client demands the end of the chunked answer; each block is
followed by a mark that only the server could write (`native`); the rows that came are as many as the server counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recovery.stores.clickhouse import reading, restoring
from recovery.stores.clickhouse.client import Client, connect
from recovery.stores.clickhouse.restoring import Compared
from recovery.stores.clickhouse.settings import Settings
from recovery.stores.clickhouse.swapping import Swap
from recovery.stores.configured import Configured, identity

if TYPE_CHECKING:
    from pathlib import Path

    from recovery.model import Mode, Part
    from recovery.ports import Reader, Tell, Writer

__all__ = ["ClickHouse", "Compared", "Settings", "open_store"]


@dataclass(frozen=True)
class ClickHouse(Configured):
    """See `Store` in recovery/ports.py. Made by open_store."""

    settings: Settings
    client: Client

    def take(self, writer: Writer, mode: Mode, tell: Tell) -> Part:
        """See recovery/ports.py."""
        return reading.take(self.client, self.settings.database, writer, mode, tell)

    def restore(self, part: Part, reader: Reader, tell: Tell) -> None:
        """See recovery/ports.py."""
        restoring.restore(self.client, part, reader, self.settings.restore_as, tell)

    def compare(self, part: Part, reader: Reader) -> Compared:  # noqa: ARG002  # the figures are in the part itself
        """See recovery/ports.py."""
        return restoring.compare(self.client, part, self.settings.restore_as)

    def promoted(self, part: Part, reader: Reader) -> Compared | None:  # noqa: ARG002  # the figures are in the part itself
        """See Store: what is live, held against the part."""
        return restoring.compare(self.client, part, self.settings.database) if self._swap.promoted else None

    def live(self, part: Part) -> bool:
        """See Store."""
        return self._swap.promoted and restoring.copy_of(self.client, self.settings.database) == identity(part)

    def promote(self, *, force: bool) -> str:
        """See recovery/ports.py."""
        return self._swap.promote(force=force)

    def demote(self) -> str:
        """See recovery/ports.py."""
        return self._swap.demote()

    def confirm(self) -> str:
        """See recovery/ports.py."""
        return self._swap.confirm()

    def discard(self) -> str:
        """See recovery/ports.py."""
        return self._swap.discard()

    @property
    def _swap(self) -> Swap:
        return Swap(self.client, self.settings)


def open_store(settings: Settings, work: Path) -> ClickHouse:  # noqa: ARG001  # every store gets one; this one needs no files
    """The store of a section of the configuration. Raises RecoveryError when its secrets cannot be read."""
    return ClickHouse(settings=settings, client=connect(settings))
