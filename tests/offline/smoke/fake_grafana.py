"""Grafana 11.6 over HTTP, as far as checks ask it, with every way to be wrong.

Shapes of its answers were read in the sources of grafana/grafana: health in pkg/api/http_server.go (apiHealthHandler);
what strangers get in pkg/middleware/auth.go (notAuthorized); wrong passwords, what is counted and under which name in
pkg/services/authn/clients/{basic,password,grafana}.go, and the lock in pkg/services/loginattempt/loginattemptimpl;
settings in pkg/api/frontendsettings.go; datasources and their health in pkg/api/{datasources,plugins}.go and
pkg/plugins/errors.go; dashboards in pkg/api/dashboard.go, with `id` and `version` from
pkg/services/dashboards/models.go; search, the proxy and the body of /api/ds/query in docs/sources/developers/http_api;
its answers in pkg/api/ds_query.go and the golden files of pkg/promlib/testdata; variables in
pkg/promlib/models/query.go.
"""

from __future__ import annotations

import base64
import binascii
import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, urlsplit

from tests.offline.serving import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Json = dict[str, Any]
Answer = tuple[int, Any]

PASSWORD: Final = "correct-horse-7"  # noqa: S105  # of a stand-in
EMAIL: Final = "admin@localhost"
ATTEMPTS: Final = 5
IN_BROWSER: Final = ("alertmanager",)
"""Types whose plugin runs in the browser alone."""


@dataclass
class Dashboard:
    """content: as it was provisioned or saved."""

    content: Json
    folder: str
    provisioned: bool = True


@dataclass
class FakeGrafana:
    """Its state. wrong: name → wrong passwords that were counted. typed: names under which somebody tried to log in.

    series: expression → labels of each series that it gives, or an error. bare: answers to anything, in place of all.
    """

    version: str = "11.6.4"
    database: str = "ok"
    password: str = PASSWORD
    email: str = EMAIL
    lets_in: bool = False
    anonymous: bool = False
    sign_up: bool = False
    sources: list[Json] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    unwell: dict[str, str] = field(default_factory=dict)
    boards: dict[str, Dashboard] = field(default_factory=dict)
    series: dict[str, list[dict[str, str]] | str] = field(default_factory=dict)
    values: dict[str, float | None] = field(default_factory=dict)
    wrong: dict[str, int] = field(default_factory=dict)
    typed: list[str] = field(default_factory=list)
    before_login: Callable[[], None] = lambda: None
    posted: list[Json] = field(default_factory=list)
    bare: Answer | None = None

    def provision(self, text: str, folder: str) -> str:
        """Read a file as Grafana does; gives the uid."""
        content: Json = json.loads(text)
        self.boards[content["uid"]] = Dashboard(content, folder)
        return str(content["uid"])

    def answer(self, method: str, path: str, query: dict[str, str], login: str | None, body: str) -> Answer:
        """Status and JSON, text, or the address of a redirection."""
        if self.bare is not None:
            return self.bare
        if path == "/api/health":
            told = {"database": self.database, "version": self.version, "commit": "abc"}
            return (200 if self.database == "ok" else 503), told
        refused = self._refused(path, login)
        if refused is not None:
            return refused
        if method == "POST":
            return self._query(json.loads(body)) if path == "/api/ds/query" else (404, {"message": "Not found"})
        return self._get(path, query)

    def _refused(self, path: str, login: str | None) -> Answer | None:
        if login is None:
            if self.anonymous:
                return None
            return (401, {"message": "Unauthorized"}) if path.startswith("/api/") else (302, "/login")
        name, _, password = login.partition(":")
        self.typed.append(name)
        self.before_login()
        return None if self.lets_in else self._checked(name.lower(), password)

    def _checked(self, name: str, password: str) -> Answer | None:
        """Counted is what is wrong for an account that there is, under the name that was typed."""
        if self.wrong.get(name, 0) >= ATTEMPTS:
            return _unauthorized("login-attempt.blocked")
        known = name in ("admin", self.email)
        if known and password == self.password:
            return None
        if known:
            self.wrong[name] = self.wrong.get(name, 0) + 1
        return _unauthorized("password-auth.failed")

    def _get(self, path: str, query: dict[str, str]) -> Answer:
        fixed: dict[str, Any] = {
            "/": "<!DOCTYPE html>",
            "/dashboards": "<!DOCTYPE html>",
            "/api/user": {"id": 1, "login": "admin", "email": self.email, "isGrafanaAdmin": True},
            "/api/frontend/settings": {"disableUserSignUp": not self.sign_up, "anonymousEnabled": self.anonymous},
            "/api/datasources": self.sources,
        }
        if path in fixed:
            return 200, fixed[path]
        if path == "/api/search":
            return 200, self._found(int(query.get("limit", "1000")), int(query.get("page", "1")))
        if path.startswith("/api/dashboards/uid/"):
            return self._board(path.removeprefix("/api/dashboards/uid/"))
        if path.startswith("/api/datasources/proxy/uid/"):
            uid = path.removeprefix("/api/datasources/proxy/uid/").partition("/")[0]
            return (502, "") if uid in self.unwell else (200, {"uptime": "2026-01-01T00:00:00Z"})
        if path.startswith("/api/datasources/uid/") and path.endswith("/health"):
            return self._health(path.split("/")[4])
        return 404, {"message": "Not found"}

    def _found(self, limit: int, page: int) -> list[Json]:
        """One page of the search; its own boards alone are dashboards here."""
        hits = [
            {"uid": uid, "title": one.content["title"], "type": "dash-db", "tags": one.content.get("tags", [])}
            for uid, one in self.boards.items()
        ]
        return hits[(page - 1) * limit : page * limit]

    def _board(self, uid: str) -> Answer:
        if uid not in self.boards:
            return 404, {"message": "Dashboard not found"}
        one = self.boards[uid]
        meta = {"provisioned": one.provisioned, "folderUid": one.folder, "slug": "x", "version": 3}
        return 200, {"meta": meta, "dashboard": {**one.content, "id": 17, "version": 3}}

    def _source(self, uid: str) -> Json | None:
        return next((one for one in self.sources if one["uid"] == uid), None)

    def _health(self, uid: str) -> Answer:
        source = self._source(uid)
        if source is None:
            return 500, {"message": "Unable to load datasource metadata"}
        if source["type"] in self.missing:
            return _error(404, "plugin.notRegistered", "Plugin not registered")
        if source["type"] in IN_BROWSER:
            return _error(500, "plugin.unavailable", "Plugin unavailable")
        if uid in self.unwell:
            return 400, {"status": "ERROR", "message": self.unwell[uid]}
        return 200, {"status": "OK", "message": "Successfully queried the API."}

    def _query(self, body: Json) -> Answer:
        self.posted.append(body)
        uids = {query["datasource"]["uid"] for query in body["queries"]}
        known = [self._source(uid) for uid in uids]
        if None in known:
            return 404, {"message": "Data source not found"}
        if self.missing & {str(one["type"]) for one in known if one}:
            return _error(404, "plugin.notRegistered", "Plugin not registered")
        results = {query["refId"]: self._result(query, body) for query in body["queries"]}
        return (400 if any("error" in one for one in results.values()) else 200), {"results": results}

    def _result(self, query: Json, body: Json) -> Json:
        """Four times a scrape interval of half a minute is what a rate is over."""
        seconds = (int(body["to"]) - int(body["from"])) // 1000
        expr = query["expr"].replace("$__rate_interval", "120s").replace("$__range", f"{seconds}s")
        found = self.series.get(expr, f"parse error in {expr}")
        if isinstance(found, str):
            return {"status": 400, "error": found, "errorSource": "downstream"}
        times = [int(body["to"])] if query["instant"] else [int(body["from"]), int(body["to"])]
        return {"status": 200, "frames": [self._frame(expr, labels, times) for labels in found]}

    def _frame(self, expr: str, labels: dict[str, str], times: list[int]) -> Json:
        fields = [{"name": "Time", "type": "time"}, {"name": "Value", "type": "number", "labels": labels}]
        value = self.values.get(expr, 1.0)
        entities = {} if value is not None else {"entities": [None, {"NaN": list(range(len(times)))}]}
        data = {"values": [times, [value] * len(times)], **entities}
        return {"schema": {"refId": "A", "meta": {"type": "timeseries-multi"}, "fields": fields}, "data": data}


def _unauthorized(word: str) -> Answer:
    return _error(401, word, "Invalid username or password")


def _error(status: int, word: str, message: str) -> Answer:
    return status, {"message": message, "messageId": word, "statusCode": status, "traceID": ""}


@contextmanager
def served(state: FakeGrafana) -> Iterator[str]:
    """Serve it on loopback; gives the base address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._reply("")

        def do_POST(self) -> None:
            self._reply(self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode())

        def _reply(self, sent: str) -> None:
            parts = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            code, body = state.answer(self.command, parts.path, query, _login(self.headers.get("Authorization")), sent)
            data = (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_response(code)
            if code == 302:
                self.send_header("Location", data.decode())
                data = b""
            # A session for whoever comes: a check that carries it on is no stranger any more.
            self.send_header("Set-Cookie", "redirect_to=%2F; Path=/")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with serving(server) as address:
        yield address


def _login(header: str | None) -> str | None:
    try:
        return base64.b64decode(header.removeprefix("Basic ")).decode() if header else None
    except (binascii.Error, UnicodeDecodeError):
        return None
