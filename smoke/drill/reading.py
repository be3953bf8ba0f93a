"""Reads the drill's two runs of a restored SwanLab. What it definitely refuses is a finding; no answer is none."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, TypeVar

from smoke import poll
from smoke.access.errors import RefusedError
from smoke.access.swanlab import NOT_FOUND, Target
from smoke.drill import keys
from smoke.drill.model import Read, Restored, ids
from smoke.redact import bounded
from smoke.sdk.model import ReadBack
from smoke.sdk.reading import FILES, SYSTEM, TEXT, SwanLabReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from smoke.access.swanlab import MediaItem, SwanLab
    from smoke.drill.model import Journal
    from smoke.sdk.model import LoggedRun

Answer = TypeVar("Answer")
NUMBER: Final = "FLOAT"
_REFUSED: Final = frozenset({401, 403})
_SHOWN: Final = 300
ABSENT: Final = "absent"
"""In place of the sha256 of a file that is not there."""


class Restoration:
    """The restored SwanLab, asked with one key. Raises CheckFailedError where it gives no answer for a while."""

    def __init__(self, client: SwanLab, key: str) -> None:
        """client: logs in with the same key."""
        self._client, self._key = client, key
        self._refused: list[str] = []

    def read(self, journal: Journal) -> Restored:
        """All that the journal speaks of."""
        begin = journal.begin
        if not self._logs_in():
            return Restored(login=False)
        if begin is None:
            return Restored(login=True)
        whole = f"{begin.workspace}/{begin.project}"
        found = self._given(f"project {whole}", lambda: self._client.project(whole))
        listed = self._runs(whole, journal) if found else {}
        project_id = str((found or {}).get("cuid"))
        targets = {name: Target(whole, project_id, run_id) for name, run_id in listed.items()}
        timed, sdk = targets.get(begin.run), targets.get(begin.sdk_run)
        read = self._read(sdk) if sdk else None
        return Restored(
            login=True,
            old_key=keys.same(self._key, begin.key),
            runs=listed,
            timed=self._read(timed) if timed else None,
            sdk=read,
            whole=self._whole(journal.sdk.run, sdk, read) if journal.sdk and sdk and read else None,
            refused=tuple(self._refused),
        )

    def _logs_in(self) -> bool:
        try:
            poll.fetch(lambda: self._client.log_in(self._key))
        except RefusedError as error:
            if error.status not in _REFUSED:
                self._refused.append(bounded(f"login: {error}", _SHOWN))
            return False
        return True

    def _runs(self, project: str, journal: Journal) -> dict[str, str]:
        """Name → id of the drill's runs, those of the list that have both."""
        found = self._given(f"runs of {project}", lambda: self._client.runs(project)) or []
        listed = [(str(run.get("name")), str(run.get("cuid"))) for run in found]
        return dict(pair for pair in ids(journal).items() if pair in listed)

    def _read(self, target: Target) -> Read:
        """Every number and every file of a run."""
        columns = self._given(f"columns of run {target.run_id}", lambda: self._client.columns(target)) or {}
        own = {key: kind for key, kind in columns.items() if not key.startswith(SYSTEM)}
        numbers = {key for key, kind in own.items() if kind == NUMBER}
        return Read(
            series={key: self._series(target, key) for key in sorted(numbers)},
            files={key: self._files(target, key, own[key]) for key in sorted(set(own) - numbers)},
        )

    def _series(self, target: Target, key: str) -> tuple[tuple[int, str], ...]:
        """None for a column without points: the server has no export of it."""
        found = self._given(f"key {key}", lambda: self._client.series(target, key), {NOT_FOUND})
        return tuple(found or ())

    def _files(self, target: Target, key: str, kind: str) -> tuple[tuple[int, str | None], ...]:
        """One after the other, so that no more than one is in memory."""
        found = self._given(f"files of key {key}", lambda: self._client.media(target, key)) or []
        items = sorted(found, key=lambda item: item.step)
        return tuple((item.step, self._digest(target, item, kind)) for item in items)

    def _digest(self, target: Target, item: MediaItem, kind: str) -> str | None:
        """None for a file that the server names and nobody can get."""
        if kind == TEXT and not item.path.startswith(FILES):
            return hashlib.sha256(item.path.encode()).hexdigest()
        try:
            content = poll.fetch(lambda: self._client.media_bytes(target, item.path))
        except RefusedError:
            return None
        return hashlib.sha256(content).hexdigest()

    def _whole(self, logged: LoggedRun, target: Target, read: Read) -> ReadBack | None:
        """The SDK's run as smoke compares it, of what was read already and what a run has beside."""
        reader = SwanLabReader(self._client)
        details = self._given(f"run {target.run_id}", lambda: (reader.state(logged), reader.config(logged)))
        lines = self._given(f"lines of run {target.run_id}", lambda: reader.logs(logged))
        if details is None or lines is None:
            return None
        state, config = details
        return ReadBack(
            state=state,
            keys=frozenset({*read.series, *read.files}),
            series={key: tuple(sorted(points)) for key, points in read.series.items() if points},
            media={key: tuple(digest or ABSENT for _, digest in files) for key, files in read.files.items()},
            config=config,
            lines=tuple(lines),
        )

    def _given(self, what: str, ask: Callable[[], Answer], silent: set[int] | None = None) -> Answer | None:
        """An answer, or None with a finding; without one for a status of `silent`."""
        try:
            return poll.fetch(ask)
        except RefusedError as error:
            if error.status not in (silent or ()):
                self._refused.append(bounded(f"{what}: {error}", _SHOWN))
            return None
