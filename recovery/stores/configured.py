"""What every store has alike."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from recovery.model import Part
    from recovery.ports import Compared, Reader


class Section(Protocol):
    """What every section of a store says."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...


class Configured:
    """The beginning of a Store of recovery/ports.py that is made from its section; its answers are the usual ones."""

    settings: Section

    @property
    def name(self) -> str:
        """In the configuration."""
        return self.settings.name

    @property
    def kind(self) -> str:
        """Which module reads its parts."""
        return self.settings.kind

    @property
    def copy_in_work(self) -> bool:
        """See Store. Most keep it in the server."""
        return False

    def promoted(self, part: Part, reader: Reader) -> Compared | None:
        """See Store. Nothing is told apart."""
        del part, reader
        return None

    def live(self, part: Part) -> bool:
        """See Store. Nothing is told apart."""
        del part
        return False


@dataclass(frozen=True)
class InWork(Configured):
    """A store whose server holds no second set beside the first: its copy is a file of the working directory.

    work: must be the same for restore and for promote. ending: of the copy's name.
    """

    settings: Section
    work: Path
    ending: ClassVar[str]

    @property
    def copy_in_work(self) -> bool:
        """See Store."""
        return True

    @property
    def copy(self) -> Path:
        """Whole or absent, for its owner alone."""
        return self.work / f"{self.name}.{self.ending}"

    def keep(self, content: bytes) -> None:
        """Make that the copy."""
        put(self.copy, content)


def put(path: Path, content: bytes) -> None:
    """Make a file of that content, which nobody ever sees in part, and nobody but its owner reads."""
    beside = path.with_suffix(".part")
    beside.touch(0o600)
    beside.write_bytes(content)
    beside.replace(path)


def identity(part: Part) -> str:
    """What a copy is marked with, so that it is known which part it is of: SHA-256 of all that the point says of it."""
    return hashlib.sha256(part.model_dump_json().encode()).hexdigest()
