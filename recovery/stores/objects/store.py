"""A bucket as a Store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recovery.stores.configured import Configured, identity
from recovery.stores.objects.beside import Beside
from recovery.stores.objects.bucket import Bucket
from recovery.stores.objects.place import Place
from recovery.stores.objects.take import take

if TYPE_CHECKING:
    from pathlib import Path

    from recovery.model import Mode, Part
    from recovery.ports import Compared, Reader, Tell, Writer
    from recovery.stores.objects.settings import Settings


@dataclass(frozen=True)
class Objects(Configured):
    """Store of recovery/ports.py. work: directory for what is too large for memory."""

    settings: Settings
    work: Path

    def take(self, writer: Writer, mode: Mode, tell: Tell) -> Part:
        """See Store. `writer` is used from several threads."""
        return take(self.settings, self.work, writer, mode, tell)

    def restore(self, part: Part, reader: Reader, tell: Tell) -> None:
        """See Store. Raises RecoveryError while a promotion is neither confirmed nor put back."""
        place = self._place()
        place.refuse_if_promoted()
        place.beside.make(part, reader, tell)

    def compare(self, part: Part, reader: Reader) -> Compared:
        """See Store."""
        return self._place().beside.compare(part, reader)

    def live(self, part: Part) -> bool:
        """See Store."""
        return self._place().live(identity(part))

    def promote(self, *, force: bool) -> str:
        """See Store."""
        return self._place().promote(force=force)

    def demote(self) -> str:
        """See Store."""
        return self._place().demote()

    def confirm(self) -> str:
        """See Store."""
        return self._place().confirm()

    def discard(self) -> str:
        """See Store. Raises RecoveryError while a promotion is neither confirmed nor put back."""
        place = self._place()
        place.refuse_if_promoted()
        return f"{self.name}: {place.beside.discard()} objects of the copy beside deleted"

    def _place(self) -> Place:
        return Place(Beside(self.settings, Bucket(self.settings), self.work))


def open_store(settings: Settings, work: Path) -> Objects:
    """The store of a section; nothing is asked and no key is read yet."""
    return Objects(settings, work)
