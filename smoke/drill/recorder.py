"""Writes a run by the same HTTP interface as the SDKs. An answer 2xx of the server itself is the acknowledgement."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin, urlsplit

from smoke.access.errors import UnreachableError
from smoke.access.gateway import field
from smoke.access.swanlab import SwanLab, Target
from smoke.drill.times import stamp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import requests

Json = dict[str, Any]
METRICS: Final = "/api/house/metrics"
_OK: Final = range(200, 300)


class Recorder(SwanLab):
    """A SwanLab that is written to. Raises UnreachableError and RefusedError: then nothing was acknowledged."""

    def start(self, project: str, name: str, numbers: Sequence[str], images: Sequence[str]) -> Target:
        """Make a run with these columns, and its project if need be. project: without its workspace."""
        whole = f"{self.user()}/{project}"
        found = self.project(whole)
        if found is None:
            found = self._read("POST", "/api/project", dict, json={"name": project, "visibility": "PRIVATE"})
        body = {"name": name, "createdAt": stamp(time.time()), "colors": []}
        made = self._read("POST", f"/api/project/{whole}/experiment", dict, json=body)
        target = Target(whole, str(field(self.name, found, "cuid")), str(field(self.name, made, "cuid")))
        columns = [{"key": key, "type": "FLOAT"} for key in numbers] + [{"key": key, "type": "IMAGE"} for key in images]
        self._list("POST", f"/api/experiment/{target.run_id}/columns", columns)
        return target

    def log(self, target: Target, step: int, values: Mapping[str, float]) -> None:
        """Numbers of one step; returns once they are acknowledged."""
        at = stamp(time.time())
        items = [{"key": key, "index": step, "data": value, "create_time": at} for key, value in values.items()]
        self._metrics("scalar", target, items)

    def image(self, target: Target, key: str, step: int, path: str, content: bytes) -> None:
        """An image of one step; returns once its bytes and its point are acknowledged. path: `media/image/…`."""
        body = {"experimentId": target.run_id, "paths": [path]}
        urls = self._read("POST", "/api/resources/presigned/put", dict, json=body).get("urls") or []
        if len(urls) != 1:
            raise UnreachableError(f"{self.name} /api/resources/presigned/put", f"{len(urls)} addresses for one file")
        self._put(str(urls[0]), path, content)
        self._metrics("media", target, [{"key": key, "index": step, "data": [path], "more": [{"caption": path}]}])

    def heartbeat(self, target: Target) -> None:
        """Say that the run is alive."""
        self._call("POST", f"/api/house/experiments/{target.run_id}/heartbeat", json={})

    def finish(self, target: Target) -> None:
        """End the run."""
        body = {"state": "FINISHED", "finishedAt": stamp(time.time()), "from": "sdk"}
        path = f"/api/project/{target.project}/runs/{target.run_id}/state"
        self._acknowledged(path, self._call("PUT", path, json=body))

    def _metrics(self, kind: str, target: Target, items: list[Json]) -> None:
        ids = {"type": kind, "projectId": target.project_id, "experimentId": target.run_id}
        self._acknowledged(METRICS, self._call("POST", METRICS, json={**ids, "metrics": items}))

    def _list(self, method: str, path: str, body: list[Json]) -> None:
        """A request whose body is a list."""
        answer = self._request(method, self._locate() + path, f"{self.name} {path}", session=True, json=body)
        self._acknowledged(path, answer)

    def _put(self, address: str, path: str, content: bytes) -> None:
        """Bytes to an address that the server gave. The address itself is never told, for its query is a key."""
        base = self._locate()
        url = urljoin(f"{base}/", address)
        subject = f"{self.name} file {path} at {urlsplit(url).netloc}"
        headers = {"Content-Type": "image/png"}
        answer = self._request("PUT", url, subject, session=False, data=content, headers=headers)
        self._acknowledged(subject, answer)

    def _acknowledged(self, path: str, answer: requests.Response) -> None:
        """A page that stands in for the server, or a redirection to one, acknowledges nothing."""
        page = "html" in answer.headers.get("Content-Type", "")
        if answer.status_code not in _OK or answer.history or page:
            seen = f"HTTP {answer.status_code}{', redirected' if answer.history else ''}{', a page' if page else ''}"
            raise UnreachableError(f"{self.name} {path}", f"{seen} is no acknowledgement")
