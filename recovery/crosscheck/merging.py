"""Two sides in order, held against each other in one pass."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

from recovery.errors import RecoveryError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from recovery.crosscheck.model import Row


class Match(NamedTuple):
    """A reference with its counterpart or None; or a counterpart that nobody refers to, then reference is None.

    relation: number of the relation that the reference is of.
    """

    relation: int
    reference: Row | None
    target: Row | None


def ordered(rows: Iterable[Row], name: str) -> Iterator[Row]:
    """The same rows. Raises RecoveryError where a key is below the one before: no result would mean anything."""
    last: tuple[str, ...] | None = None
    for row in rows:
        if last is not None and row.key < last:
            raise RecoveryError(
                f"{name}: {row.key} comes behind {last}, and the order must ascend; nothing was compared"
            )
        last = row.key
        yield row


def matches(references: Sequence[Iterable[Row]], targets: Iterable[Row]) -> Iterator[Match]:
    """Every reference of every relation once, and every target that has none. All sides in order.

    Several references may share a target.
    """
    tagged = (_tagged(number, rows) for number, rows in enumerate(references))
    remaining = iter(targets)
    target, met = next(remaining, None), False
    for _, number, reference in heapq.merge(*tagged, key=lambda item: item[0]):
        while target is not None and target.key < reference.key:
            if not met:
                yield Match(-1, None, target)
            target, met = next(remaining, None), False
        if target is not None and target.key == reference.key:
            met = True
            yield Match(number, reference, target)
        else:
            yield Match(number, reference, None)
    while target is not None:
        if not met:
            yield Match(-1, None, target)
        target, met = next(remaining, None), False


def owned(owners: Iterable[Row], rows: Iterable[Row]) -> Iterator[tuple[Row, Row]]:
    """Owner and row for each row whose key begins with an owner's. Both in order, owners each once."""
    remaining = iter(owners)
    owner = next(remaining, None)
    for row in rows:
        while owner is not None and owner.key < row.key[: len(owner.key)]:
            owner = next(remaining, None)
        if owner is None:
            return
        if owner.key == row.key[: len(owner.key)]:
            yield owner, row


def _tagged(number: int, rows: Iterable[Row]) -> Iterator[tuple[tuple[str, ...], int, Row]]:
    for row in rows:
        yield row.key, number, row
