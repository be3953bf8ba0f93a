"""Gives the copy beside the place of what a bucket holds, and takes it back.

Before anything is written, a plan lies in the bucket: every key, what will be done, and what the key held. A run that
was killed goes on from it; `demote` undoes it; `confirm` deletes it with what was replaced.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from recovery.errors import RecoveryError
from recovery.model import Record
from recovery.stores.objects.beside import Beside, Entry, copied, lines, measured, name_of, say, word
from recovery.stores.objects.bucket import THREADS, Meta, MissingError
from recovery.stores.objects.ledger import Ledger, Row, batches, ledger
from recovery.stores.objects.settings import REPLACED_PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_PLAN: Final = REPLACED_PREFIX + "plan.jsonl"
_LIVE: Final = REPLACED_PREFIX + "live"
"""Says of which part a promotion came to its end."""
_NAMED: Final = 5


class Step(Record):
    """One key. size, sha256: of what is put there. old_size, old_sha256: of what it held, None if there was nothing."""

    key: str
    size: int
    sha256: str
    old_size: int | None = None
    old_sha256: str | None = None

    @property
    def kept(self) -> str:
        """Where what it held lies."""
        return REPLACED_PREFIX + name_of(self.key)


@dataclass(frozen=True)
class Place:
    """Promotion of a copy and its undoing."""

    beside: Beside

    def promote(self, *, force: bool) -> str:
        """See Store.promote. Keys that the point does not have stay as they are."""
        self.beside.bucket.delete([_LIVE])
        with ledger(self._file("promote")) as steps:
            left = self._classify(steps)
            if not force:
                self._refuse_taken(steps)
            self._join_plan(steps)
            count = sum(1 for _ in steps.rows())
            if count:
                self._write_plan(steps)
                self._each(steps, self._do)
        if of := self.beside.identity():
            say(self.beside.bucket, _LIVE, of)
        return (
            f"{self._where}: {count} objects put in their place by this promotion, {left} were there already; keys "
            "that the "
            "restore point does not have were left alone"
        )

    def live(self, of: str) -> bool:
        """Whether a promotion of the part of this identity came to its end and was neither confirmed nor put back."""
        return word(self.beside.bucket, _LIVE) == of

    def _classify(self, steps: Ledger) -> int:
        """Note what must be written. Returns the number of keys that hold the right content already."""
        left = 0
        for batch in batches(self.beside.entries()):
            with ThreadPoolExecutor(THREADS) as pool:
                for step in pool.map(self._step, batch):
                    if step is None:
                        left += 1
                    else:
                        _note(steps, step)
        return left

    def _step(self, entry: Entry) -> Step | None:
        held = self._held(entry.meta.key)
        if held == (entry.size, entry.sha256):
            return None
        old = (None, None) if held is None else held
        return Step(key=entry.meta.key, size=entry.size, sha256=entry.sha256, old_size=old[0], old_sha256=old[1])

    def _refuse_taken(self, steps: Ledger) -> None:
        taken = (step.key for step in _steps(steps) if step.old_sha256 is not None)
        first = list(islice(taken, _NAMED))
        if first:
            count = len(first) + sum(1 for _ in taken)
            raise RecoveryError(
                f"{self._where}: {count} objects hold something else than the restore point, first {first}; nothing "
                "was "
                "written; restore into a bucket without them, or run again with force: what they hold is kept"
            )

    def _join_plan(self, steps: Ledger) -> None:
        """Add the plan of an earlier run. Raises RecoveryError if a key was written since."""
        with ledger(self._file("plan")) as planned:
            for step in self._plan():
                _note(planned, step)
            for step in _steps(steps):
                row = planned.get(step.key)
                if row is not None and step.old_sha256 != _step_of(row).old_sha256:
                    raise RecoveryError(
                        f"{self._where}: {step.key!r} was written after an earlier promotion; nothing was written "
                        "now; run "
                        "demote or confirm first, and stop the writers"
                    )
            for step in _steps(planned):
                if not steps.has(step.key):
                    _note(steps, step)

    def _do(self, step: Step) -> None:
        held, source = self._held(step.key), self.beside.prefix + name_of(step.key)
        if held == (step.size, step.sha256):
            return
        if (held[1] if held else None) != step.old_sha256:
            raise RecoveryError(
                f"{self._where}: {step.key!r} is being written; what was promoted so far can be undone with demote; "
                "stop the "
                "writers and run again"
            )
        if step.old_size is not None and step.old_sha256 is not None:
            copied(self.beside.bucket, step.key, step.kept, step.old_size, step.old_sha256)
        copied(self.beside.bucket, source, step.key, step.size, step.sha256)

    def demote(self) -> str:
        """See Store.demote. What somebody wrote since the promotion stays."""
        self.beside.bucket.delete([_LIVE])
        with ledger(self._file("demote")) as steps:
            for step in self._plan():
                _note(steps, step)
            count = sum(1 for _ in steps.rows())
            if not count:
                return f"{self._where}: nothing was promoted, or it was put back already"
            newer = self._each(steps, self._undo)
        if newer:
            named = ", ".join(repr(key) for key in newer[:_NAMED])
            return (
                f"{self._where}: put back, but for {len(newer)} objects that were written after the promotion and stay "
                f"(first: {named}); what they held before it lies under {REPLACED_PREFIX} until confirm"
            )
        self._drop()
        return f"{self._where}: {count} objects are as they were before the promotion; the copy stands beside"

    def _undo(self, step: Step) -> str | None:
        """Returns the key if what it holds came from somebody else."""
        held = self._held(step.key)
        if (held[1] if held else None) == step.old_sha256:
            return None
        if held != (step.size, step.sha256):
            return step.key
        if step.old_size is None or step.old_sha256 is None:
            self.beside.bucket.delete([step.key])
        else:
            copied(self.beside.bucket, step.kept, step.key, step.old_size, step.old_sha256)
        return None

    def confirm(self) -> str:
        """See Store.confirm."""
        return f"{self._where}: {self._drop()} objects that a promotion replaced were deleted"

    def _drop(self) -> int:
        # The plan first: without it nothing would be put back from a half of what was kept.
        self.beside.bucket.delete([_PLAN])
        return self.beside.bucket.delete(found.key for found in self.beside.bucket.listed(REPLACED_PREFIX))

    def refuse_if_promoted(self) -> None:
        """Raises RecoveryError while a plan lies in the bucket."""
        if self.beside.bucket.etag(_PLAN) is not None:
            raise RecoveryError(
                f"{self._where}: a promotion was neither confirmed nor put back, and both need the copy beside; run "
                "confirm "
                "or demote first"
            )

    def _plan(self) -> Iterator[Step]:
        try:
            with self.beside.bucket.opened(_PLAN) as source:
                for line in lines(source.pieces):
                    yield Step.model_validate_json(line)
        except MissingError:
            return
        except ValueError as error:
            raise RecoveryError(f"{self._where}: {_PLAN} cannot be read; somebody wrote it: look at it") from error

    def _write_plan(self, steps: Ledger) -> None:
        meta = Meta(key=_PLAN, type="application/x-ndjson", headers={})
        self.beside.bucket.put(_PLAN, -1, meta, (f"{step.model_dump_json()}\n".encode() for step in _steps(steps)))

    def _each(self, steps: Ledger, work: Callable[[Step], str | None]) -> list[str]:
        said = list[str]()
        for batch in batches(_steps(steps)):
            with ThreadPoolExecutor(THREADS // 2) as pool:
                said += [key for key in pool.map(work, batch) if key is not None]
        return said

    def _held(self, key: str) -> tuple[int, str] | None:
        try:
            file, _ = measured(self.beside.bucket, key, key)
        except MissingError:
            return None
        return file.size, file.sha256

    @property
    def _where(self) -> str:
        return f"{self.beside.settings.name} ({self.beside.bucket.where})"

    def _file(self, purpose: str) -> Path:
        return self.beside.work / f"{self.beside.settings.name}.{purpose}.sqlite"


def _note(steps: Ledger, step: Step) -> None:
    steps.read(Row(step.key, step.size, "", step.model_dump_json(), None))


def _steps(steps: Ledger) -> Iterator[Step]:
    return (_step_of(row) for row in steps.rows())


def _step_of(row: Row) -> Step:
    return Step.model_validate_json(row.file or "")
