"""SwanLab with its write side, as the SDKs ask it: what is acknowledged is there, until a test says otherwise."""

from __future__ import annotations

import copy
import json
import os
import re
import signal
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smoke.drill.model import PROJECT as DRILL
from tests.offline.smoke.fake_swanlab import PROJECT, USER, Answer, FakeSwanLab, Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.offline.smoke.fake_swanlab import Run

Json = dict[str, Any]
METRICS = "/api/house/metrics"


class WrittenSwanLab(FakeSwanLab):
    """Its only project is the drill's.

    stop_after: requests of points after which this process gets SIGTERM. refuses: numbers of those, from 1, that are
    answered so. keeps_refused: they are stored all the same, as behind an answer that got lost. after: called with such
    a request. gone: parts of the paths of files that nobody can get. refused_files: paths that nobody can put.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stop_after = 1 << 30
        self.refuses: dict[int, Answer] = {}
        self.keeps_refused = False
        self.has_project = False
        self.posts = 0
        self.put: dict[str, bytes] = {}
        self.gone: set[str] = set()
        self.refused_files: set[str] = set()
        self.after: dict[int, Callable[[], None]] = {}
        self.finishes = True

    def restored(self) -> WrittenSwanLab:
        """Another installation with all that was stored."""
        made = WrittenSwanLab()
        made.has_project, made.keys = self.has_project, dict(self.keys)
        made.runs = copy.deepcopy(self.runs)
        return made

    def named(self, suffix: str = "") -> Run:
        """The run of the timed series, or with `-sdk` the SDK's."""
        return next(run for run in self.runs.values() if re.fullmatch(rf"drill-[0-9a-f]{{8}}{suffix}", run.name))

    def answer(self, request: Request) -> Answer:
        if request.method == "PUT" and request.path.startswith("/swanlab-private/"):
            if request.path in self.refused_files:
                return 503, b"no"
            self.put[request.path] = request.body
            return 200, b""
        path = request.path.replace(f"{USER}/{DRILL}", PROJECT)
        if path == f"/api/project/{PROJECT}" and not self.has_project:
            return 404, b""
        return super().answer(replace(request, path=path))

    def play(self, plan: Json) -> str:
        self.has_project = True
        return super().play(plan)

    def _session(self, request: Request) -> Answer:
        if request.method in {"POST", "PUT"}:
            for pattern, answer in self._writes.items():
                if found := re.fullmatch(pattern, request.path):
                    return answer(json.loads(request.body or b"{}"), *found.groups())
        return super()._session(request)

    @property
    def _writes(self) -> dict[str, Callable[..., Answer]]:
        return {
            "/api/project": self._made,
            f"/api/project/{PROJECT}/experiment": self._begun,
            r"/api/experiment/(\w+)/columns": self._columns,
            "/api/resources/presigned/put": self._places,
            METRICS: self._metrics_of,
            rf"/api/project/{PROJECT}/runs/(\w+)/state": self._ended,
            r"/api/house/experiments/\w+/heartbeat": lambda _: (200, b"{}"),
        }

    def _made(self, body: Json) -> Answer:
        assert body["name"] == DRILL
        self.has_project = True
        return 201, b'{"cuid": "p1"}'

    def _begun(self, body: Json) -> Answer:
        cuid = f"t{len(self.asked)}"
        self.store(body["name"], cuid).state = "RUNNING"
        return 201, json.dumps({"cuid": cuid}).encode()

    def _columns(self, columns: list[Json], cuid: str) -> Answer:
        for column in columns:
            run = self.runs[cuid]
            held: dict[str, Any] = run.points if column["type"] == "FLOAT" else run.files
            held.setdefault(column["key"], [])
        return 201, b""

    def _places(self, body: Json) -> Answer:
        prefix = f"{self.base}/swanlab-private/p1/{body['experimentId']}"
        return 200, json.dumps({"urls": [f"{prefix}/{name}?X-Amz-S=1" for name in body["paths"]]}).encode()

    def _ended(self, body: Json, cuid: str) -> Answer:
        self.runs[cuid].state = body["state"]
        return (200, b"{}") if self.finishes else (500, b"")

    def _file(self, request: Request) -> Answer:
        return (404, b"NoSuchKey") if any(name in request.path for name in self.gone) else super()._file(request)

    def _metrics_of(self, body: Json) -> Answer:
        self.posts += 1
        if self.posts == self.stop_after:
            os.kill(os.getpid(), signal.SIGTERM)
        self.after.get(self.posts, lambda: None)()
        refused = self.refuses.get(self.posts)
        if refused is None or self.keeps_refused:
            self._store_points(self.runs[body["experimentId"]], body)
        return refused or (200, b"{}")

    def _store_points(self, run: Run, body: Json) -> None:
        for item in body["metrics"]:
            if body["type"] == "scalar":
                run.points[item["key"]].append((item["index"], repr(item["data"])))
            else:
                (where,) = [name for name in self.put if name.endswith(f"/{run.cuid}/{item['data'][0]}")]
                run.files[item["key"]].append((item["index"], self.put[where]))
