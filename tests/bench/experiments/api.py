"""SwanLab as the SDK and the pages ask it, with as little of our own in between as can be."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from smoke.access.errors import AccessError
from smoke.access.swanlab import SwanLab, Target
from tests.bench.errors import BenchError
from tests.bench.experiments.plan import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.bench.experiments.http import Http
    from tests.bench.experiments.site import Site

Json = dict[str, Any]
_PATHS: Final = 100
"""Addresses that one request asks for; the SDK asks for at most 108."""
_NOT_THERE: Final = 404


class Api:
    """One session. Raises BenchError from every method."""

    def __init__(self, http: Http, site: Site) -> None:
        """Log in."""
        self._http, self._base = http, site.gateway
        self._client = SwanLab("SwanLab", lambda: site.gateway, lambda: None, key=lambda: site.api_key)
        try:
            self.user = self._client.user()
            self._headers = {"Cookie": f"sid={self._client.log_in(site.api_key)['sid']}"}
        except (AccessError, KeyError) as error:
            raise BenchError(f"the API key does not let the bench in: {error}") from error

    @property
    def project(self) -> str:
        """`user/name` of the bench's project."""
        return f"{self.user}/{PROJECT}"

    def begin(self, name: str, keys: Sequence[str], media: str) -> Target:
        """Make a run with these columns of numbers and one of images."""
        made = self._client.project(self.project)
        if made is None:
            made = self._post("/api/project", {"name": PROJECT, "visibility": "PRIVATE"})
        now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        found = self._post(f"/api/project/{self.project}/experiment", {"name": name, "createdAt": now, "colors": []})
        columns = [{"key": key, "type": "FLOAT"} for key in keys] + [{"key": media, "type": "IMAGE"}]
        self._http.ask(
            "POST", f"{self._base}/api/experiment/{found['cuid']}/columns", json=columns, headers=self._headers
        )
        return Target(self.project, str(made["cuid"]), str(found["cuid"]))

    def target(self, slug: str) -> Target:
        """A run of the project by the short name that is in addresses."""
        try:
            return self._client.target(self.project, slug)
        except AccessError as error:
            raise BenchError(f"run {slug} of project {self.project} cannot be found: {error}") from error

    def send(self, body: bytes) -> None:
        """One request of records, as it is."""
        headers = {**self._headers, "Content-Type": "application/json"}
        self._http.ask("POST", f"{self._base}/api/house/metrics", data=body, headers=headers)

    def export(self, target: Target, key: str) -> bytes:
        """The CSV file of a series: its address, and what lies there."""
        path = f"/api/experiment/{target.run_id}/column/csv"
        found = self._http.ask("GET", self._base + path, params={"key": key}, headers=self._headers).json()
        return bytes(self._http.ask("GET", found["url"]).content)

    def points(self, target: Target, key: str) -> list[tuple[int, str]]:
        """Every line of that file; none for a series that is not there."""
        try:
            return self._client.series(target, key)
        except AccessError as error:
            if getattr(error, "status", None) == _NOT_THERE:
                return []
            raise BenchError(str(error)) from error

    def summaries(self, target: Target) -> Json:
        """Statistics of every series of a run."""
        body = {"experiments": [{"projectId": target.project_id, "experimentId": target.run_id}]}
        return self._post("/api/house/metrics/summaries", body)

    def places(self, target: Target, paths: Sequence[str]) -> list[str]:
        """Addresses at which objects may be put, in the order of the paths."""
        found = []
        for first in range(0, len(paths), _PATHS):
            body = {"experimentId": target.run_id, "paths": paths[first : first + _PATHS]}
            found += self._post("/api/resources/presigned/put", body)["urls"]
        return found

    def show(self, target: Target, key: str, paths: Sequence[str]) -> None:
        """Say which objects are the media of a series, a step each."""
        metrics = [{"key": key, "index": step, "data": [path], "more": []} for step, path in enumerate(paths)]
        ids = {"projectId": target.project_id, "experimentId": target.run_id}
        self._post("/api/house/metrics", {"type": "media", **ids, "metrics": metrics})

    def media(self, target: Target, path: str) -> bytes:
        """The bytes of an object: its address, and what lies there."""
        body = {"prefix": f"{target.project_id}/{target.run_id}", "paths": [path]}
        urls = self._post("/api/resources/presigned/get", body)["urls"]
        return bytes(self._http.ask("GET", urls[0]).content)

    def runs(self) -> list[str]:
        """Ids of all runs of the project."""
        try:
            if self._client.project(self.project) is None:
                return []
            return [str(run["cuid"]) for run in self._client.runs(self.project)]
        except AccessError as error:
            raise BenchError(f"runs of {self.project} cannot be listed: {error}") from error

    def remove(self, runs: Iterable[str]) -> None:
        """Delete runs with their objects. One that takes long is asked for again."""
        for run in runs:
            for attempt in range(3):
                try:
                    self._client.delete_run(Target(self.project, "", run))
                    break
                except AccessError as error:
                    if attempt == 2:
                        raise BenchError(f"run {run} of {self.project} cannot be deleted: {error}") from error
                    time.sleep(1)

    def _post(self, path: str, body: Json) -> Json:
        answer = self._http.ask("POST", self._base + path, json=body, headers=self._headers)
        found: Json = answer.json()
        return found
