"""SwanLab's read side and an object store over HTTP, as far as checks ask them, with every way to be wrong."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from smoke.sdk.driver import MEDIA, MEDIA_STEPS, column
from tests.offline.serving import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Json = dict[str, Any]
Answer = tuple[int, bytes]

KEY = "a1B2c3D4e5F6g7H8i9J0k"
USER = "alice"
PROJECT = f"{USER}/plumbline-sentinel"
CUT = 0
"""Instead of a status: the connection is closed without an answer."""


@dataclass(frozen=True)
class Request:
    """One request. query: the first value of each name. headers: by lower-case name."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


class Answering(Protocol):
    """State that answers requests."""

    def answer(self, request: Request) -> Answer:
        """Status and body."""


@dataclass
class Run:
    """A stored run. points: key → (step, text). files: key → (step, bytes)."""

    cuid: str
    name: str
    created: str
    points: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    files: dict[str, list[tuple[int, bytes]]] = field(default_factory=dict)
    config: Json = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    state: str = "FINISHED"

    @property
    def columns(self) -> list[Json]:
        """As the API lists them."""
        own = [{"key": key, "type": "FLOAT"} for key in self.points]
        return [*own, *({"key": key, "type": "IMAGE"} for key in self.files), {"key": "__swanlab__.x", "type": "FLOAT"}]


class FakeSwanLab:
    """State of an installation. Change it to break it."""

    def __init__(self) -> None:
        self.base = ""
        self.keys = {KEY: USER}
        self.sessions: set[str] = set()
        self.licence = {"enabled": True, "expired": False, "root": True, "plan": "free", "seats": 1}
        self.runs: dict[str, Run] = {}
        self.asked: list[str] = []
        self.answers: dict[str, Answer] = {
            "/api": (200, b"OK"),
            "/api/auth/health": (200, b"{}"),
            "/api/house/health": (200, b"{}"),
            "/": (200, b"<!DOCTYPE html>"),
        }
        self.parts = {"server": 1, "house": 1, "clickhouse": 1}
        self.page = 2
        self.sdk = "0.8.4"
        self.largest = 1 << 40
        self.cuts = False
        self.forgets: Callable[[Json], object] = lambda _: None
        self.damage: Callable[[Run], object] = lambda _: None
        self.printed: Callable[[str], str] = lambda text: text

    def store(self, name: str, cuid: str = "r1", created: str = "") -> Run:
        """A run of the sentinel project."""
        made = Run(cuid, name, created or datetime.now(UTC).isoformat().replace("+00:00", "Z"))
        self.runs[cuid] = made
        return made

    def play(self, plan: Json) -> str:
        """Store a run as the driver would log it, then damage it; gives what the driver prints."""
        cuid = f"r{len(self.runs) + len(self.asked)}"
        run = self.store(plan["run"], cuid)
        points = {
            column(number, plan["width"]): [(step, repr(step / (number + 1))) for step in range(plan["steps"])]
            for number in range(plan["keys"])
        }
        odd = {
            "sentinel/inf": [(0, "inf"), (1, "-inf"), (2, "0.5")],
            "sentinel/nan": [(0, "nan"), (1, "1.0"), (2, "nan")],
        }
        run.points = {key: [(s, "nan" if "n" in t else t) for s, t in found] for key, found in (points | odd).items()}
        run.files = {key: [(step, f"{key} {step}".encode()) for step in range(MEDIA_STEPS)] for key in MEDIA}
        run.config = {"lr": 0.1, "nested": {"layers": [1, 2]}}
        run.lines = ["swanlab: begun", *(f"line {number}" for number in range(plan["lines"])), "swanlab: ended"]
        found = {"label": "first", "project": plan["project"], "name": run.name, "path": f"{PROJECT}/{cuid}"}
        files = {
            key: [{"step": s, "sha256": hashlib.sha256(d).hexdigest(), "bytes": len(d)} for s, d in held]
            for key, held in run.files.items()
        }
        found |= {"logged": points | odd, "media": files, "config": dict(run.config), "lines": run.lines[1:-1]}
        self.forgets(found)
        empty: Json = {"answers": {}, "raised": [], "warnings": [], "printed": []}
        document = {"sdk": self.sdk, "scenario": "roundtrip", "stage": "done", "runs": [found | {"finished": True}]}
        self.damage(run)
        packed = base64.b64encode(zlib.compress(json.dumps(document | empty).encode())).decode()
        return self.printed(f"swanlab: some words\nPLUMBLINE-RESULT 1/1 {packed}\n")

    def answer(self, request: Request) -> Answer:
        """Answer a request."""
        self.asked.append(f"{request.method} {request.path}")
        if len(request.body) > self.largest:
            return (CUT if self.cuts else 413), b"<html>too large"
        if request.path in self.answers:
            return self.answers[request.path]
        if "/internal" in request.path:
            return 403, b"forbidden"
        open_to_all = {
            "/api/login/api_key": self._login,
            "/metrics": self._metrics,
            "/export/": self._csv,
            "/swanlab-private/": self._file,
            "/fake/play": self._play,
        }
        for prefix, answer in open_to_all.items():
            if request.path.startswith(prefix):
                return answer(request)
        if request.headers.get("cookie", "") not in {f"sid={sid}" for sid in self.sessions}:
            return 401, b'{"code":"Unauthorized"}'
        return self._session(request)

    def _play(self, request: Request) -> Answer:
        """Not SwanLab's: a driver without an SDK brings its plan, and is given what it must print."""
        assert request.headers["authorization"] in self.keys
        return 200, self.play(json.loads(request.body)).encode()

    def _login(self, request: Request) -> Answer:
        key = request.headers.get("authorization", "")
        if key not in self.keys:
            return 401, b'{"code":"Unauthorized"}'
        sid = f"sid-{len(self.sessions)}-{len(self.asked)}"
        self.sessions.add(sid)
        return _json({"sid": sid, "expiredAt": "2099-01-01T00:00:00.000Z", "userInfo": {"username": self.keys[key]}})

    def _session(self, request: Request) -> Answer:
        path = request.path
        if path == "/api/self_hosted/info":
            return _json(self.licence)
        if path == f"/api/project/{PROJECT}":
            return _json({"cuid": "p1", "path": f"/{PROJECT}"})
        if path == f"/api/project/{PROJECT}/runs":
            listed = [{"cuid": r.cuid, "name": r.name, "createdAt": r.created} for r in self.runs.values()]
            return self._paged(listed, request)
        found = re.fullmatch(rf"/api/project/{PROJECT}/runs/(\w+)", path)
        if found and request.method == "DELETE":
            return (204, b"") if self.runs.pop(found[1], None) else (404, b"")
        if found and found[1] in self.runs:
            return _json(self._told(self.runs[found[1]]))
        return self._points(request)

    def _points(self, request: Request) -> Answer:
        path = request.path
        found = re.fullmatch(r"/api/experiment/(\w+)/column(/csv)?", path)
        if found and found[2]:
            return _json({"data": [{"url": f"/export/{found[1]}?key={request.query['key']}"}]})
        if found:
            return self._paged(self.runs[found[1]].columns, request)
        body = json.loads(request.body or b"{}")
        if path == "/api/house/metrics/f_media":
            column = body["columns"][0]
            files = self.runs[column["experimentId"]].files.get(column["key"], [])
            metrics = [{"index": step, "data": [_file_path(step, data)], "more": []} for step, data in files]
            return _json([{"key": column["key"], "metrics": metrics}])
        if path == "/api/resources/presigned/get":
            return _json(
                {"urls": [f"{self.base}/swanlab-private/{body['prefix']}/{p}?X-Amz-S=1" for p in body["paths"]]}
            )
        if path == "/api/house/metrics/log":
            lines = self.runs[request.query["experimentId"]].lines
            first = max(int(request.query["epoch"]), 1)
            numbered = [{"epoch": number, "message": line} for number, line in enumerate(lines, 1) if number >= first]
            return _json({"logs": numbered[: self.page], "count": len(lines)})
        return (400, b'{"code":"Invalid_Field"}') if path == "/api/house/metrics" else (404, b"")

    def _paged(self, listed: list[Json], request: Request) -> Answer:
        number, size = int(request.query["page"]), self.page
        pages = -(-len(listed) // size)
        found = listed[(number - 1) * size : number * size]
        return _json({"list": found, "size": size, "pages": pages, "total": len(listed)})

    def _told(self, run: Run) -> Json:
        config = {key: {"value": value, "desc": "", "sort": 0} for key, value in run.config.items()}
        return {"cuid": run.cuid, "name": run.name, "state": run.state, "profile": {"config": config}}

    def _metrics(self, _: Request) -> Answer:
        lines = [f'plumbline_swanlab_up{{part="{part}"}} {value}\n' for part, value in self.parts.items()]
        return 200, f"# TYPE plumbline_swanlab_up gauge\n{''.join(lines)}".encode()

    def _csv(self, request: Request) -> Answer:
        points = self.runs[request.path.rpartition("/")[2]].points.get(request.query["key"], [])
        rows = "".join(f"{step},{text},1767225600000\n" for step, text in points)
        return 200, f"\ufeffstep,value,timestamp\n{rows}".encode()

    def _file(self, request: Request) -> Answer:
        name = request.path.rpartition("/")[2]
        held = {_file_path(s, d): d for run in self.runs.values() for fs in run.files.values() for s, d in fs}
        return next(((200, data) for where, data in held.items() if where.endswith(name)), (404, b""))


class FakeStore:
    """State of an S3 store. anonymous: what a stranger may do, as verb and bucket. owners: bucket → its only key."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.known = {"access", "swanlab", "media"}
        self.anonymous = {"GET swanlab-public"}
        self.owners: dict[str, str] = {}
        self.damage = b""
        self.deletes = True

    def answer(self, request: Request) -> Answer:
        """Answer a request."""
        bucket, _, name = unquote(request.path).lstrip("/").partition("/")
        verb = "LIST" if request.method == "GET" and not name else request.method
        signed = re.search(r"Credential=([^/]+)/", request.headers.get("authorization", ""))
        if not signed and f"{verb} {bucket}" not in self.anonymous:
            return _refusal("AccessDenied")
        if signed and signed[1] not in self.known:
            return _refusal("InvalidAccessKeyId")
        if signed and self.owners.get(bucket, signed[1]) != signed[1]:
            return _refusal("AccessDenied")
        return self._allowed(verb, bucket, name, request)

    def _allowed(self, verb: str, bucket: str, name: str, request: Request) -> Answer:
        where = f"{bucket}/{name}"
        if verb == "PUT":
            self.objects[where] = request.body + self.damage
            return 200, b""
        if verb == "DELETE":
            _ = self.objects.pop(where, None) if self.deletes else None
            return 204, b""
        if verb == "LIST":
            prefix = f"{bucket}/{request.query.get('prefix', '')}"
            found = [key.partition("/")[2] for key in self.objects if key.startswith(prefix)]
            return 200, _listing(bucket, found)
        if where in self.objects:
            return 200, self.objects[where]
        return 404, b"<Error><Code>NoSuchKey</Code><Message>gone</Message></Error>"


def _refusal(code: str) -> Answer:
    return 403, f"<Error><Code>{code}</Code><Message>no</Message></Error>".encode()


def _listing(bucket: str, names: list[str]) -> bytes:
    contents = "".join(
        f"<Contents><Key>{escape(name)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>x</ETag>"
        "<Size>1</Size><StorageClass>STANDARD</StorageClass></Contents>"
        for name in names
    )
    space = "http://s3.amazonaws.com/doc/2006-03-01/"
    head = f"<Name>{bucket}</Name><Prefix></Prefix><KeyCount>{len(names)}</KeyCount><MaxKeys>1000</MaxKeys>"
    body = f"{head}<IsTruncated>false</IsTruncated>{contents}"
    return f'<ListBucketResult xmlns="{space}">{body}</ListBucketResult>'.encode()


def _file_path(step: int, data: bytes) -> str:
    return f"media/image/{step:03d}-{hashlib.sha256(data).hexdigest()[:8]}.png"


def _json(found: object) -> Answer:
    return 200, json.dumps(found).encode()


@contextmanager
def served(state: Answering) -> Iterator[str]:
    """Serve the state on loopback; gives the base address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _any(self) -> None:
            parts = urlsplit(self.path)
            body = self._body()
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            headers = {name.lower(): value for name, value in self.headers.items()}
            code, data = state.answer(Request(self.command, parts.path, query, headers, body))
            if code == CUT:
                self.close_connection = True
                return
            self.send_response(code)
            self.send_header("Content-Length", str(len(data)))
            if data.startswith(b"<Error"):
                self.send_header("Content-Type", "application/xml")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _any  # names that the base class calls

        def _body(self) -> bytes:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("x-amz-content-sha256", "").startswith("STREAMING"):
                raise ValueError("chunked signatures are not played here")
            return data

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with serving(server) as address:
        yield address
