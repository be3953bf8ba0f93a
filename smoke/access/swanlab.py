"""SwanLab over its gateway: what a run holds, read exactly. A read that fails is an error, never empty data."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from io import StringIO
from typing import Any
from urllib.parse import quote

from smoke.access.errors import RefusedError, UnreachableError
from smoke.access.gateway import NOT_FOUND, PAGES_AT_MOST, Gateway, field

__all__ = ("NOT_FOUND", "MediaItem", "SwanLab", "Target")

Json = dict[str, Any]

LOG_PAGE = 1000
CSV_COLUMNS = 2


@dataclass(frozen=True)
class Target:
    """A run. project: `user/name`. project_id, run_id: the ids by which points and media are asked for."""

    project: str
    project_id: str
    run_id: str


@dataclass(frozen=True)
class MediaItem:
    """One file that was logged. path: as the SDK named it. caption: empty without one."""

    step: int
    path: str
    caption: str


class SwanLab(Gateway):
    """Runs of one installation. Raises UnreachableError and RefusedError from every method."""

    def licence(self) -> Json:
        """`enabled`, `expired`, `root`, `plan`, `seats`, as the installation tells of itself."""
        return self._read("GET", "/api/self_hosted/info", dict)

    def project(self, project: str) -> Json | None:
        """A project by `user/name`, None if there is none."""
        try:
            return self._read("GET", f"/api/project/{_path(project)}", dict)
        except RefusedError as error:
            if error.status == NOT_FOUND:
                return None
            raise

    def runs(self, project: str) -> list[Json]:
        """All runs of a project."""
        return list(self._pages(f"/api/project/{_path(project)}/runs"))

    def run(self, target: Target) -> Json:
        """State, profile and times of a run."""
        return self._read("GET", f"/api/project/{_path(target.project)}/runs/{_path(target.run_id)}", dict)

    def target(self, project: str, run: str) -> Target:
        """Where to read a run, by its id or by the short name that is in addresses."""
        found = self._read("GET", f"/api/project/{_path(project)}", dict)
        own = self._read("GET", f"/api/project/{_path(project)}/runs/{_path(run)}", dict)
        return Target(project, str(field(self.name, found, "cuid")), str(field(self.name, own, "cuid")))

    def columns(self, target: Target) -> dict[str, str]:
        """Key → type (`FLOAT`, `IMAGE`, …) of all columns, those of the system among them."""
        found = self._pages(f"/api/experiment/{_path(target.run_id)}/column")
        return {field(self.name, column, "key"): field(self.name, column, "type") for column in found}

    def series(self, target: Target, key: str) -> list[tuple[int, str]]:
        """Every (step, value) of a scalar, as exported: neither sampled nor rounded by a chart."""
        path = f"/api/experiment/{_path(target.run_id)}/column/csv"
        found = _address(self._read("GET", path, object, params={"key": key}))
        if not found:
            raise UnreachableError(f"{self.name} {path}", f"gives no address of the export of {key!r}")
        text = self.fetch(found, f"export of {key!r}").decode("utf-8-sig", errors="replace")
        try:
            return _rows(text)
        except ValueError as error:
            raise UnreachableError(f"{self.name} export of {key!r}", f"is not its CSV: {error}") from error

    def media(self, target: Target, key: str) -> list[MediaItem]:
        """Every file of a media key, in order of step."""
        path = "/api/house/metrics/f_media"
        body = {"projectId": target.project_id, "columns": [{"experimentId": target.run_id, "key": key}]}
        found = [entry for entry in self._read("POST", path, list, json=body) if entry.get("key") == key]
        try:
            return [item for entry in found for one in entry.get("metrics") or [] for item in _items(one)]
        except (KeyError, TypeError, AttributeError) as error:
            raise UnreachableError(f"{self.name} {path}", f"tells of {key!r} in a shape that is not its own") from error

    def media_bytes(self, target: Target, path: str) -> bytes:
        """The bytes of a file that was logged, by an address that the server signs."""
        body = {"prefix": f"{target.project_id}/{target.run_id}", "paths": [path]}
        urls = self._read("POST", "/api/resources/presigned/get", dict, json=body).get("urls") or []
        if len(urls) != 1:
            raise UnreachableError(f"{self.name} /api/resources/presigned/get", f"{len(urls)} addresses for one file")
        return self.fetch(str(urls[0]), f"file {path}")

    def log_lines(self, target: Target) -> list[str]:
        """What the run has printed, line by line."""
        found: dict[int, str] = {}
        params = {"projectId": target.project_id, "experimentId": target.run_id, "size": str(LOG_PAGE)}
        # Lines are numbered from 1 without holes; a page begins at the number that is asked for.
        for _ in range(PAGES_AT_MOST):
            first = max(found, default=0) + 1 if found else 0
            answer = self._read("GET", "/api/house/metrics/log", dict, params={**params, "epoch": str(first)})
            page = {
                int(field(self.name, line, "epoch")): str(line.get("message", "")) for line in answer.get("logs") or []
            }
            if not set(page) - set(found):
                return [message for _, message in sorted(found.items())]
            found |= page
        raise UnreachableError(f"{self.name} /api/house/metrics/log", f"more than {PAGES_AT_MOST} pages")

    def delete_run(self, target: Target) -> None:
        """Delete a run; one that is gone is fine."""
        self._delete(f"/api/project/{_path(target.project)}/runs/{_path(target.run_id)}")

    def delete_project(self, project: str) -> None:
        """Delete a project with all its runs; one that is gone is fine."""
        self._delete(f"/api/project/{_path(project)}")


def _path(text: str) -> str:
    return quote(text, safe="/")


def _rows(text: str) -> list[tuple[int, str]]:
    """Step and value of each row below the heading. Raises ValueError."""
    rows = [row for row in csv.reader(StringIO(text)) if row]
    short = next((row for row in rows if len(row) < CSV_COLUMNS), None)
    if not rows or short is not None:
        raise ValueError(f"no step and value in {short}" if rows else "no heading")
    return [(int(row[0]), row[1]) for row in rows[1:]]


def _address(answer: object) -> str:
    """The address in an answer: text, or under `url` or `data`, in a list of one or not."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, list) and answer:
        return _address(answer[0])
    if isinstance(answer, dict):
        return _address(answer.get("url")) or _address(answer.get("data"))
    return ""


def _items(metric: Json) -> list[MediaItem]:
    captions = [str((more or {}).get("caption", "")) for more in metric.get("more") or []]
    paths = metric.get("data") or []
    # Only items with a caption are in `more`, so that shorter lists say nothing about which item they mean.
    captions = captions if len(captions) == len(paths) else [""] * len(paths)
    return [MediaItem(int(metric["index"]), path, caption) for path, caption in zip(paths, captions, strict=True)]
