"""Bring a point back into stores: beside what they hold, compared, and only then in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recovery.errors import HeldError, RecoveryError
from recovery.within import within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recovery.model import Part, Point
    from recovery.ports import Reader, Store, Tell


def chosen(stores: tuple[Store, ...], names: tuple[str, ...]) -> tuple[Store, ...]:
    """The stores of these names, all without one. Raises RecoveryError for a name that there is not."""
    known = {store.name for store in stores}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise RecoveryError(f"--store {', '.join(unknown)}: no such store here; accepted: {', '.join(sorted(known))}")
    return tuple(store for store in stores if not names or store.name in names)


def restore(point: Point, stores: tuple[Store, ...], reader: Reader, tell: Tell) -> tuple[str, ...]:
    """Make each copy beside and compare it → differences. What the stores hold is not touched."""
    pairs = list(_pairs(point, stores))
    for number, (store, part) in enumerate(pairs, 1):
        tell(f"{number} of {len(pairs)}: {store.name} ({store.kind})")
        with within(store.name):
            store.restore(part, reader, tell)
    return compare(point, stores, reader)


def compare(point: Point, stores: tuple[Store, ...], reader: Reader) -> tuple[str, ...]:
    """What the copies beside have else than the point, one sentence each."""
    return tuple(line for store, part in _pairs(point, stores) for line in _compared(store, part, reader))


def _compared(store: Store, part: Part, reader: Reader) -> list[str]:
    with within(store.name):
        return [f"{store.name}: {line}" for line in store.compare(part, reader).differences]


def _unequal(store: Store, part: Part, reader: Reader) -> list[str]:
    """Of what shall be live, or is already: a run that was killed had given some stores their copies."""
    with within(store.name):
        compared = store.promoted(part, reader)
    if compared is None:
        return _compared(store, part, reader)
    return [
        f"{store.name}: it was promoted before, and {line}; `demote` puts back what that replaced, `confirm` deletes it"
        for line in compared.differences
    ]


def live(point: Point, stores: tuple[Store, ...]) -> bool:
    """Whether every store holds this point already, promoted to the end, whatever was written since.

    A store whose copy goes with its pod is not asked: it only adds what is missing.
    """
    told = [store.live(part) for store, part in _pairs(point, stores) if not store.copy_in_work]
    return bool(told) and all(told)


def once_more(point: Point, stores: tuple[Store, ...], reader: Reader, tell: Tell) -> tuple[str, ...]:
    """What is left to do where a point is live already, while everybody writes → what was changed since.

    Stores whose copy goes with its pod get what they lack: a run that was killed may not have come to them.
    """
    changed = list[str]()
    for store, part in _pairs(point, stores):
        with within(store.name):
            if store.copy_in_work:
                store.restore(part, reader, tell)
                try:
                    tell(store.promote(force=False))
                except HeldError as held:
                    changed.append(f"{store.name}: {_why(store, held)}")
            elif compared := store.promoted(part, reader):
                changed += [f"{store.name}: {line.removeprefix(f'{store.name}: ')}" for line in compared.differences]
    return tuple(changed)


def promote(point: Point, stores: tuple[Store, ...], reader: Reader, tell: Tell, *, force: bool) -> None:
    """Compare all copies, then give each the place of what its store holds. All of them, or none.

    Raises RecoveryError: a copy is not equal to the point, a store refuses, and what was promoted before is put back.
    """
    for store, part in _pairs(point, stores):
        if store.copy_in_work:  # it may have been made in another pod, whose files are gone
            with within(store.name):
                store.restore(part, reader, tell)
    differences = [line for store, part in _pairs(point, stores) for line in _unequal(store, part, reader)]
    if differences:
        raise RecoveryError(
            "nothing was promoted: the copies are not equal to the point; run `restore` with the same point again.\n- "
            + "\n- ".join(differences)
        )
    done: list[Store] = []
    for store, _ in _pairs(point, stores):
        try:
            with within(store.name):
                tell(store.promote(force=force))
        except RecoveryError as error:
            undone = _undo(done, tell)
            raise RecoveryError(f"{store.name} was not promoted: {_why(store, error)}\n{undone}") from error
        done.append(store)


def _undo(done: list[Store], tell: Tell) -> str:
    failed = []
    for store in reversed(done):
        try:
            with within(store.name):
                tell(store.demote())
        except RecoveryError as error:
            failed.append(f"{store.name} still holds the copy: {_why(store, error)}")
    return "\n".join(failed) or "what was promoted before it was put back: every store holds what it held"


def each(stores: tuple[Store, ...], step: Callable[[Store], str], tell: Tell) -> None:
    """One step on every store; all are tried. Raises RecoveryError with every failure."""
    failed = []
    for store in stores:
        try:
            with within(store.name):
                tell(step(store))
        except RecoveryError as error:
            failed.append(f"{store.name}: {_why(store, error)}")
    if failed:
        raise RecoveryError("\n".join(failed))


def _why(store: Store, error: RecoveryError) -> str:
    return str(error).removeprefix(f"{store.name}: ")


def _pairs(point: Point, stores: tuple[Store, ...]) -> Iterator[tuple[Store, Part]]:
    """Raises RecoveryError for a store that the point has nothing for, or something of another kind."""
    for store in stores:
        part = point.part(store.name)
        if part is None or part.kind != store.kind:
            there = ", ".join(f"{one.store} ({one.kind})" for one in point.parts)
            raise RecoveryError(
                f"point {point.id} has no part {store.name} of kind {store.kind}; it has {there}; name what you want "
                "with --store, or another point"
            )
        yield store, part
