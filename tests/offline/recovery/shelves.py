"""A store of named texts in memory: what the program does with stores is told apart from what a store does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recovery.errors import RecoveryError
from recovery.model import Part

if TYPE_CHECKING:
    from recovery.model import Mode
    from recovery.ports import Reader, Tell, Writer


@dataclass(frozen=True)
class Compared:
    """Outcome of a comparison."""

    differences: tuple[str, ...]
    figures: dict[str, Any]


@dataclass
class Shelf:
    """held: name → text. beside, replaced: the copy and what it took the place of. fails: words that raise."""

    name: str
    held: dict[str, str] = field(default_factory=dict)
    kind: str = "shelf"
    copy_in_work: bool = False
    beside: dict[str, str] | None = None
    replaced: dict[str, str] | None = None
    fails: set[str] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)

    def _called(self, word: str) -> None:
        self.calls.append(word)
        if word in self.fails:
            raise RecoveryError(f"{word} of {self.name} fails on request")

    def take(self, writer: Writer, mode: Mode, tell: Tell) -> Part:
        """One file for each text."""
        tell(f"{len(self.held)} texts")
        self._called(f"take {mode}")
        files = tuple(writer.put(name, [text.encode()]) for name, text in sorted(self.held.items()))
        return Part(store=self.name, kind=self.kind, version="1", files=files, figures={"texts": len(files)})

    def restore(self, part: Part, reader: Reader, tell: Tell) -> None:
        """The texts again."""
        tell(self.name)
        self._called("restore")
        self.beside = {file.path: b"".join(reader.read(file)).decode() for file in part.files}

    def compare(self, part: Part, reader: Reader) -> Compared:
        """The number of texts."""
        self._called("compare")
        del reader
        count = len(self.beside or {})
        wanted = part.figures["texts"]
        return Compared(() if count == wanted else (f"{count} texts instead of {wanted}",), {"texts": count})

    def promoted(self, part: Part, reader: Reader) -> Compared | None:
        """It cannot tell."""
        del part, reader
        return None

    def live(self, part: Part) -> bool:
        """It cannot tell."""
        del part
        return False

    def promote(self, *, force: bool) -> str:
        """Refuses texts of its own."""
        self._called("promote")
        if self.held and not force:
            raise RecoveryError(f"{self.name} holds {len(self.held)} texts")
        self.held, self.replaced = dict(self.beside or {}), self.held
        return f"{self.name} promoted"

    def demote(self) -> str:
        """The replaced ones again."""
        self._called("demote")
        self.held, self.replaced = dict(self.replaced or {}), None
        return f"{self.name} demoted"

    def confirm(self) -> str:
        """The replaced ones are gone."""
        self._called("confirm")
        self.replaced = None
        return f"{self.name} confirmed"

    def discard(self) -> str:
        """The copy is gone."""
        self._called("discard")
        self.beside = None
        return f"{self.name} discarded"
