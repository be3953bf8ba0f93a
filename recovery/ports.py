"""What parts of the program know of each other: where bytes go, where they come from, and what a store can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from pydantic import JsonValue

    from recovery.model import File, Mode, Part


class Tell(Protocol):
    """Says how far a long step is, in one line for people."""

    def __call__(self, line: str) -> None: ...


class Writer(Protocol):
    """Adds content to the vault."""

    def put(self, path: str, pieces: Iterable[bytes]) -> File:
        """Store a stream of any length; pieces of any size. What is there already is not sent again.

        Raises RecoveryError when the vault refuses or cannot be reached; whatever `pieces` raises passes through.
        """
        ...


class Reader(Protocol):
    """Gives content back, checked."""

    def read(self, file: File) -> Iterator[bytes]:
        """The stream, chunk by chunk; each is checked before it is handed out, the whole at its end.

        Raises DamagedError naming path and object: one is missing, of another size, or of another hash.
        """
        ...


class Store(Protocol):
    """A store as the program sees it: made from its section of the configuration.

    `take` reads the live store and changes nothing. Everything else works on the store that a restore is for, which
    in a verification is a short-lived one. A restored copy stands beside whatever the store held (another database,
    another number) until `promote` gives it the place of that; what was replaced is kept until `confirm`.
    """

    @property
    def name(self) -> str:
        """In the configuration."""
        ...

    @property
    def kind(self) -> str:
        """Which module reads its parts."""
        ...

    @property
    def copy_in_work(self) -> bool:
        """Whether the copy beside lies in the working directory: it goes with the pod that made it."""
        ...

    def take(self, writer: Writer, mode: Mode, tell: Tell) -> Part:
        """Put everything into the vault. Raises RecoveryError if anything is missing or cannot be read."""
        ...

    def restore(self, part: Part, reader: Reader, tell: Tell) -> None:
        """Make the copy beside. One that an earlier run left behind is made anew: twice gives the same.

        Raises DamagedError, or RecoveryError if there is no room, the server is too old, or a statement fails.
        """
        ...

    def compare(self, part: Part, reader: Reader) -> Compared:
        """Hold the copy beside against the part, figure by figure."""
        ...

    def promoted(self, part: Part, reader: Reader) -> Compared | None:
        """Hold what is live against the part, while a promotion waits to be confirmed or put back; else None.

        None also from a store that cannot tell: its copy stands beside as before.
        """
        ...

    def live(self, part: Part) -> bool:
        """Whether a promotion of this very part came to its end here, whatever was written since, and waits to be
        confirmed or put back. False also from a store that cannot tell."""
        ...

    def promote(self, *, force: bool) -> str:
        """Give the copy beside the place of what the store holds, and keep that. Says what it did.

        A second run changes nothing. Raises RecoveryError if there is no copy; if the store holds data of its own and
        not `force`; if somebody is writing.
        """
        ...

    def demote(self) -> str:
        """Put back what `promote` replaced, and keep the copy beside."""
        ...

    def confirm(self) -> str:
        """Delete what `promote` replaced."""
        ...

    def discard(self) -> str:
        """Delete the copy beside, if there is one."""
        ...


class Compared(Protocol):
    """differences: one sentence each, naming store, figure and both values; none if all is equal. figures: measured."""

    @property
    def differences(self) -> tuple[str, ...]: ...

    @property
    def figures(self) -> Mapping[str, JsonValue]: ...


class Quiet(Protocol):
    """Stops whoever writes, for the length of a block, and starts them again whatever happens."""

    def __call__(self, tell: Tell) -> AbstractContextManager[None]: ...
