"""What ends a run of the program."""

from __future__ import annotations


class RecoveryError(Exception):
    """A run cannot go on. str(): what is wrong and where; then what is accepted and what to do next. Never a secret."""


class DamagedError(RecoveryError):
    """What a restore point holds is not what its manifest says: the point is bad, and every other run is not."""


class UnreadableError(RecoveryError):
    """The target has a fault of its own at each attempt: nothing is known of what it holds."""


class HeldError(RecoveryError):
    """A store holds data of its own where a copy should take its place; nothing was changed."""


class RefusedError(RecoveryError):
    """A store says that it did not do what it was asked to."""


class StoreError(RecoveryError):
    """A run ended in a store. store: its name in the configuration."""

    def __init__(self, store: str, why: str) -> None:
        super().__init__(f"{store}: {why}")
        self.store = store
