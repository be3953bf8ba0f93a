"""Grafana 11.6 over HTTP as far as restore points ask it: it keeps what is posted, and has every way to be wrong.

What it does was read in docs/sources/developers/http_api and the sources of grafana/grafana: whoever makes a team, a
folder or a board at the top is granted its administration; a board's number and version are its database's; elements
get `type` and `description` (syncFieldsWithModel); an account without an address has its login there; playlists have
uids of their own; deleting a folder deletes what is in it; an element that boards use is not deleted.
"""

from __future__ import annotations

import base64
import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, unquote, urlsplit

from tests.offline.recovery.grafana_people import DONE, MISSING, Answer, Json, People
from tests.offline.serving import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PASSWORD: Final = "päss-word-7"  # noqa: S105  # of a stand-in
FOLDER: Final = "plumbline"
OURS: Final = "plumbline-platform"


@dataclass
class FakeGrafana(People):
    """Its state. before: called with method and path of each request that is let in.

    bare: path → answer in place of its own. cut: paths whose answers break off. asked: method and path of each request.
    provisioned: whether a deployment filled it. current: number of the organisation that its administrator is in; all
    but the first are empty.
    """

    provisioned: bool = True
    current: str = "1"
    bare: dict[str, Answer] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    before: Callable[[str, str], None] = lambda _method, _path: None
    asked: list[tuple[str, str]] = field(default_factory=list)
    folders: dict[str, Json] = field(default_factory=dict)
    boards: dict[str, Json] = field(default_factory=dict)
    grants: dict[str, list[Json]] = field(default_factory=dict)
    elements: dict[str, Json] = field(default_factory=dict)
    playlists: dict[str, Json] = field(default_factory=dict)
    annotations: dict[int, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.provisioned:
            self.folders[FOLDER] = {"uid": FOLDER, "title": "Plumbline"}
            content = {"uid": OURS, "title": "Platform", "id": 1, "version": 1}
            self.boards[OURS] = {"content": content, "folder": FOLDER, "provisioned": True}

    def answer(self, method: str, path: str, query: dict[str, str], body: Json) -> Answer:
        """Status and JSON or text."""
        self.asked.append((method, path))
        self.before(method, path)
        if path in self.bare:
            return self.bare[path]
        parts = [unquote(part) for part in path.split("/")[2:]]
        known: dict[str, Callable[[str, list[str], dict[str, str], Json], Answer]] = {
            "health": lambda *_: (200, {"database": "ok", "version": "11.6.4"}),
            "search": self._search,
            "dashboards": self._dashboards,
            "folders": self._folders,
            "library-elements": self._elements,
            "playlists": self._playlists,
            "annotations": self._annotations,
            "teams": self.of_teams,
            "users": lambda _m, _p, asked, _b: (200, self.paged(list(self.users.values()), asked, "perpage")),
            "org": self.of_org,
            "admin": self.of_admin,
        }
        return known[parts[0]](method, parts[1:], query, body) if parts[0] in known else MISSING

    def _search(self, _method: str, _parts: list[str], query: dict[str, str], _body: Json) -> Answer:
        titles = {uid: one["title"] for uid, one in self.folders.items()}
        if query["type"] == "dash-db":
            titles = {uid: one["content"]["title"] for uid, one in self.boards.items()}
        hits = [{"uid": uid, "title": title, "type": query["type"]} for uid, title in titles.items()]
        return 200, self.paged(sorted(hits, key=lambda hit: str(hit["title"])), query, "limit")

    def _dashboards(self, method: str, parts: list[str], _query: dict[str, str], body: Json) -> Answer:
        if parts == ["db"]:
            return self._save(body)
        uid = parts[1]
        if uid not in self.boards:
            return 404, {"message": "Dashboard not found"}
        if parts[2:] == ["permissions"]:
            return self._permissions(method, uid, body)
        one = self.boards[uid]
        if method == "DELETE":
            self._forget(uid)
            return DONE
        return 200, {
            "meta": {"provisioned": one["provisioned"], "folderUid": one["folder"]},
            "dashboard": one["content"],
        }

    def _forget(self, uid: str) -> None:
        """A board takes its annotations along."""
        del self.boards[uid]
        self.grants.pop(uid, None)
        self.annotations = {n: one for n, one in self.annotations.items() if one["dashboardUID"] != uid}

    def _save(self, body: Json) -> Answer:
        content, folder = body["dashboard"], body["folderUid"]
        uid = content["uid"]
        if folder and folder not in self.folders:
            return 400, {"message": "folder not found"}
        if uid in self.boards and not body["overwrite"]:
            return 412, {"message": "A dashboard with the same uid already exists"}
        number = next(self.numbers)
        self.boards[uid] = {"content": {**content, "id": number, "version": 1}, "folder": folder, "provisioned": False}
        self.grants[uid] = [] if folder else self._usual()
        return 200, {"uid": uid, "id": number}

    def _usual(self) -> list[Json]:
        of_roles = [{"role": role, "permission": level} for role, level in (("Editor", 2), ("Viewer", 1))]
        return [{"userId": 1, "permission": 4}, *of_roles]

    def _permissions(self, method: str, uid: str, body: Json) -> Answer:
        if method == "POST":
            self.grants[uid] = body["items"]
            return DONE
        return 200, [self.told(one) for one in self.grants.get(uid, [])]

    def told(self, one: Json) -> Json:
        user, team = self.users.get(one.get("userId", 0), {}), self.teams.get(one.get("teamId", 0), {})
        login = one.get("login", user.get("login", ""))
        found = {"userLogin": login, "team": team.get("name", ""), "permission": one["permission"], "inherited": False}
        return {**found, **({"role": one["role"]} if "role" in one else {}), **one.get("told", {})}

    def _made_folder(self, body: Json) -> Answer:
        if body.get("parentUid", "") and body["parentUid"] not in self.folders:
            return 400, {"message": "parent folder not found"}
        if body["uid"] in self.folders:
            return 409, {"message": "a folder with the same uid already exists"}
        self.folders[body["uid"]] = dict(body)
        self.grants[body["uid"]] = [{"userId": 1, "permission": 4}] if "parentUid" in body else self._usual()
        return 200, body

    def _folders(self, method: str, parts: list[str], _query: dict[str, str], body: Json) -> Answer:
        if method == "POST" and not parts:
            return self._made_folder(body)
        uid = parts[0]
        if uid not in self.folders:
            return 404, {"message": "folder not found"}
        if parts[1:] == ["permissions"]:
            return self._permissions(method, uid, body)
        if method == "DELETE":
            for board in [name for name, one in self.boards.items() if one["folder"] == uid]:
                self._forget(board)
            del self.folders[uid], self.grants[uid]
            return DONE
        return 200, self.folders[uid]

    def _elements(self, method: str, parts: list[str], query: dict[str, str], body: Json) -> Answer:
        if method == "POST":
            model = {"type": "", "description": "", **body["model"]}
            made = {key: body[key] for key in ("uid", "name", "kind")}
            self.elements[body["uid"]] = {**made, "model": model, "meta": {"folderUid": body["folderUid"]}}
            return 200, {"result": self.elements[body["uid"]]}
        if not parts:
            found = self.paged(list(self.elements.values()), query, "perPage")
            return 200, {"result": {"totalCount": len(self.elements), "elements": found}}
        if parts[1:] == ["connections"]:
            return 200, {"result": [{"connectionUid": uid} for uid in self._users_of(parts[0])]}
        if self._users_of(parts[0]):
            return 403, {"message": "the library element has connections"}
        return DONE if self.elements.pop(parts[0], None) else MISSING

    def _users_of(self, element: str) -> list[str]:
        return [uid for uid, one in self.boards.items() if f'"{element}"' in json.dumps(one["content"])]

    def _playlists(self, method: str, parts: list[str], query: dict[str, str], body: Json) -> Answer:
        if method == "POST":
            uid = f"playlist{next(self.numbers)}"
            entries = [{"type": one["type"], "value": one["value"]} for one in body["items"]]
            self.playlists[uid] = {"uid": uid, "name": body["name"], "interval": body["interval"], "items": entries}
            return 200, {"uid": uid}
        if not parts:
            found = [{key: one[key] for key in ("uid", "name", "interval")} for one in self.playlists.values()]
            return 200, found[: min(int(query["limit"]), 1000)]
        if parts[0] not in self.playlists:
            return 404, {"message": "Playlist not found"}
        if method == "DELETE":
            del self.playlists[parts[0]]
            return 200, {}
        return 200, self.playlists[parts[0]]

    def _annotations(self, method: str, parts: list[str], query: dict[str, str], body: Json) -> Answer:
        if method == "POST":
            uid = body.get("dashboardUID", "")
            if uid and uid not in self.boards:
                return 404, {"message": "Dashboard not found"}
            number = next(self.numbers)
            kept = {"id": number, "alertId": 0, "panelId": 0, "dashboardUID": uid, **body}
            self.annotations[number] = kept
            return 200, {"id": number}
        if parts:
            self.annotations.pop(int(parts[0]), None)
            return DONE
        found = [one for one in self.annotations.values() if not one["alertId"]]
        newest = sorted(found, key=lambda one: int(one["time"]), reverse=True)
        return 200, newest[: int(query["limit"])]


@contextmanager
def served(state: FakeGrafana) -> Iterator[str]:
    """Serve it on loopback; gives the base address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _reply(self) -> None:
            parts = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            sent = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
            login = base64.b64decode((self.headers.get("Authorization") or "").removeprefix("Basic ")).decode()
            right = login == f"admin:{PASSWORD}"
            main = self.headers.get("X-Grafana-Org-Id", state.current) == "1"
            try:
                code, body = (200, []) if not main else (401, {"message": "no"})
                if main and right:
                    code, body = state.answer(self.command, parts.path, query, sent)
            except ConnectionAbortedError:
                self.close_connection = True
                return
            data = (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_response(code)
            if code == 302:
                self.send_header("Location", "/login")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            broken = parts.path in state.cut
            self.wfile.write(data[: len(data) // 2] if broken else data)
            self.close_connection = self.close_connection or broken

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _reply

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with serving(server) as address:
        yield address
