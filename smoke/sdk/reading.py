"""Reads runs through SwanLab's own API, for the regression of SDKs."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from smoke.access.errors import RefusedError
from smoke.access.swanlab import NOT_FOUND, Target
from smoke.sdk.model import ReadBack

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from smoke.access.swanlab import SwanLab
    from smoke.sdk.model import LoggedRun, Reader

SYSTEM = "__swanlab__"
TEXT = "TEXT"
# Where SDKs from 0.8 on put files; before, a text was no file but stood in the point itself.
FILES = "media/"


class SwanLabReader:
    """The Reader over HTTP. Every method raises AccessError."""

    def __init__(self, client: SwanLab) -> None:
        self._client = client
        self._known: dict[str, Target] = {}
        self._types: dict[str, dict[str, str]] = {}

    def keys(self, run: LoggedRun) -> Sequence[str]:
        """Every column but those of the system."""
        self._types[run.path] = self._client.columns(self._target(run))
        return [key for key in self._types[run.path] if not key.startswith(SYSTEM)]

    def series(self, run: LoggedRun, key: str) -> Sequence[tuple[int, str]]:
        """Every point of a key; none for a column that exists without any."""
        try:
            return self._client.series(self._target(run), key)
        except RefusedError as error:
            if error.status == NOT_FOUND:
                return []
            raise

    def media(self, run: LoggedRun, key: str) -> Sequence[bytes]:
        """The bytes of every file of a key, in order of step; of a text that is no file, the text."""
        target = self._target(run)
        text = self._types.get(run.path, {}).get(key) == TEXT
        items = sorted(self._client.media(target, key), key=lambda item: item.step)
        return [
            item.path.encode()
            if text and not item.path.startswith(FILES)
            else self._client.media_bytes(target, item.path)
            for item in items
        ]

    def state(self, run: LoggedRun) -> str:
        """State of the run."""
        return str(self._client.run(self._target(run)).get("state"))

    def config(self, run: LoggedRun) -> Mapping[str, Any]:
        """Settings of the run: `{"lr": {"value": 0.1, "desc": …}}` as `{"lr": 0.1}`."""
        config = (self._client.run(self._target(run)).get("profile") or {}).get("config") or {}
        return {
            name: value["value"] if isinstance(value, dict) and "value" in value else value
            for name, value in config.items()
        }

    def logs(self, run: LoggedRun) -> Sequence[str]:
        """What the run printed."""
        return self._client.log_lines(self._target(run))

    def sweep(self, project: str, doomed: Callable[[str, str], bool]) -> int:
        """Delete every run of a project of the key's owner that is doomed, those without a path among them."""
        whole = f"{self._client.user()}/{project}"
        found = self._client.project(whole)
        if found is None:
            return 0
        runs = [run for run in self._client.runs(whole) if doomed(str(run.get("name")), str(run.get("createdAt")))]
        for run in runs:
            self._client.delete_run(Target(whole, str(found.get("cuid")), str(run.get("cuid"))))
        return len(runs)

    def _target(self, run: LoggedRun) -> Target:
        """Ids by which the run is read. The path ends with a short name, which the server turns into its id."""
        if run.path not in self._known:
            project, _, slug = run.path.rpartition("/")
            named = self._client.target(project, slug)
            found = self._client.run(named)
            self._known[run.path] = Target(project, named.project_id, str(found.get("cuid") or slug))
        return self._known[run.path]


def read_back(reader: Reader, run: LoggedRun) -> ReadBack:
    """All that is compared of a run. Raises AccessError."""
    keys = frozenset(reader.keys(run))
    points = {key: tuple(reader.series(run, key)) for key in sorted(keys - set(run.media))}
    files = {key: tuple(_digests(reader.media(run, key))) for key in run.media}
    return ReadBack(
        state=reader.state(run),
        keys=keys,
        series={key: tuple(sorted(series)) for key, series in points.items() if series},
        media=files,
        config=reader.config(run),
        lines=tuple(reader.logs(run)) if run.lines else (),
    )


def _digests(contents: Sequence[bytes]) -> list[str]:
    return [hashlib.sha256(content).hexdigest() for content in contents]
