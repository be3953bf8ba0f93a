"""Makes what people had made, one thing at a time, and takes it away again. Nothing that is there is written over."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final

from recovery.errors import RecoveryError
from recovery.stores.grafana.api import within
from recovery.stores.grafana.content import (
    KINDS,
    Annotation,
    Content,
    Dashboard,
    Element,
    Folder,
    Playlist,
    Preferences,
    Team,
    User,
    called,
)
from recovery.stores.grafana.live import places
from recovery.stores.grafana.read import read

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from recovery.stores.grafana.api import Api
    from recovery.stores.grafana.content import Grant, Item, Key
    from recovery.stores.grafana.live import Live
    from recovery.stores.grafana.settings import Settings

_MESSAGE: Final = "put back from a restore point"
_PREFERENCES: Final = "/api/org/preferences"
_PASSWORD_BYTES: Final = 32


class Making:
    """Makes things in a Grafana that `live` was read from, and knows the numbers of accounts that it made."""

    def __init__(self, api: Api, live: Live) -> None:
        self.api, self.users, self.teams = api, dict(live.users), dict(live.teams)

    def make(self, one: Item) -> None:
        """What is not there. Raises RecoveryError."""
        if isinstance(one, User):
            self._user(one)
        elif isinstance(one, Team):
            self.teams[one.name] = self._number("/api/teams", {"name": one.name, "email": one.email}, "teamId")
        elif isinstance(one, Folder):
            body = {"uid": one.uid, "title": one.title, **({"parentUid": one.parent} if one.parent else {})}
            self.api.send("POST", "/api/folders", body)
        elif isinstance(one, Element):
            self._element(one)
        elif isinstance(one, Dashboard):
            self._board({**one.content, "uid": one.uid}, one.folder)
        elif isinstance(one, Playlist):
            self._playlist(one)
        elif isinstance(one, Annotation):
            self._annotation(one)

    def finish(self, one: Item) -> None:
        """What the API takes in requests of their own. Repeated it changes nothing. Raises RecoveryError."""
        if isinstance(one, User):
            self._rights(one)
        elif isinstance(one, Team):
            self._members(one)
        elif isinstance(one, Folder):
            self._grant(f"/api/folders/{within(one.uid)}", one.grants)
        elif isinstance(one, Dashboard):
            self._grant(f"/api/dashboards/uid/{within(one.uid)}", one.grants)
        elif isinstance(one, Preferences):
            self.api.send("PATCH", _PREFERENCES, preferences(one))

    def _user(self, one: User) -> None:
        """With a password that nobody is told: another administrator gives them one."""
        body = {"login": one.login, "name": one.name, "email": one.email}
        password = secrets.token_urlsafe(_PASSWORD_BYTES)
        self.users[one.login] = self._number("/api/admin/users", {**body, "password": password}, "id")

    def _rights(self, one: User) -> None:
        number = self.users[one.login]
        self.api.send("PATCH", f"/api/org/users/{number}", {"role": one.role})
        self.api.send("PUT", f"/api/admin/users/{number}/permissions", {"isGrafanaAdmin": one.administrator})
        if one.disabled:
            self.api.send("POST", f"/api/admin/users/{number}/disable", {})

    def _members(self, one: Team) -> None:
        """Whoever makes a team is a member of it, wanted or not."""
        where = f"/api/teams/{self.teams[one.name]}/members"
        there = {member["login"]: member for member in self.api.get(where)}
        for member in one.members:
            number = self._account(member.login)
            if member.login not in there:
                self.api.send("POST", where, {"userId": number})
            self.api.send("PUT", f"{where}/{number}", {"permission": member.permission})
        wanted = {member.login for member in one.members}
        for login, member in there.items():
            if login not in wanted:
                self.api.delete(f"{where}/{member['userId']}")

    def _grant(self, place: str, grants: tuple[Grant, ...]) -> None:
        """Exactly these: what Grafana grants by itself to whoever makes something is not among them."""
        items = [{**self._whom(grant), "permission": grant.permission} for grant in grants]
        self.api.send("POST", f"{place}/permissions", {"items": items})

    def _whom(self, grant: Grant) -> dict[str, str | int]:
        if grant.kind == "role":
            return {"role": grant.to}
        if grant.kind == "user":
            return {"userId": self._account(grant.to)}
        if grant.to not in self.teams:
            raise RecoveryError(f"{self.api.name}: a permission names team {grant.to}, which is not there")
        return {"teamId": self.teams[grant.to]}

    def _account(self, login: str) -> int:
        if login not in self.users:
            raise RecoveryError(f"{self.api.name}: a permission names account {login}, which is not there")
        return self.users[login]

    def _element(self, one: Element) -> None:
        body = {"uid": one.uid, "name": one.name, "folderUid": one.folder, "kind": one.element, "model": one.model}
        self.api.send("POST", "/api/library-elements", body)

    def _board(self, content: dict[str, Any], folder: str) -> None:
        body = {"dashboard": content, "folderUid": folder, "overwrite": False, "message": _MESSAGE}
        self.api.send("POST", "/api/dashboards/db", body)

    def _playlist(self, one: Playlist) -> None:
        entries = [
            {"type": entry.type, "value": entry.value, "title": entry.value, "order": number}
            for number, entry in enumerate(one.entries, 1)
        ]
        self.api.send("POST", "/api/playlists", {"name": one.name, "interval": one.interval, "items": entries})

    def _annotation(self, one: Annotation) -> None:
        where = {"dashboardUID": one.board, "panelId": one.panel} if one.board else {}
        what = {"time": one.time, "timeEnd": one.until, "text": one.text, "tags": list(one.tags)}
        self.api.send("POST", "/api/annotations", {**where, **what})

    def _number(self, path: str, body: dict[str, str], key: str) -> int:
        found = self.api.send("POST", path, body)
        if not isinstance(found, dict) or not isinstance(found.get(key), int):
            raise RecoveryError(
                f"{self.api.name}: POST {path} does not say which number it gave; nothing more was made"
            )
        return int(found[key])

    def stand_in(self, uid: str) -> None:
        """An empty board for what belongs to one that a deployment brings."""
        self._board({"uid": uid, "title": uid, "panels": []}, "")


def ordered(content: Content) -> dict[Key, Item]:
    """Key → thing, each behind what it lies in or names."""
    parents = {one.uid: one.parent for one in content.folders}

    def depth(uid: str) -> int:
        seen = set[str]()
        while uid in parents and uid not in seen:
            seen.add(uid)
            uid = parents[uid]
        return len(seen)

    def place(found: tuple[Key, Item]) -> tuple[int, int]:
        (kind, name), _ = found
        return KINDS.index(kind), depth(name) if kind == "folders" else 0

    return dict(sorted(content.items().items(), key=place))


def preferences(one: Preferences) -> dict[str, str]:
    """As the API calls them."""
    return {
        "theme": one.theme,
        "timezone": one.timezone,
        "weekStart": one.week_start,
        "language": one.language,
        "homeDashboardUID": one.home,
    }


def borrowed(content: Content) -> frozenset[str]:
    """uids of boards that annotations and preferences name and that are not in it: a deployment brings them."""
    named = {*(one.board for one in content.annotations), *(one.home for one in content.preferences)}
    return frozenset(named - {""} - {one.uid for one in content.dashboards})


def remove(api: Api, settings: Settings, keys: Iterable[Key]) -> tuple[str, ...]:
    """Take away what these keys name → what stays, one sentence each: it holds, or is used by, something of others.

    Deleting a folder deletes what is in it, whoever made that: so one goes only when nothing is, and a board only with
    its own annotations. Raises RecoveryError.
    """
    wanted, live, kept = set(keys), read(api, settings), list[str]()
    order = [key for key in reversed(ordered(live.content)) if key in wanted]
    for key in order:
        if key[0] == "folders":
            continue
        if key[0] == "elements" and _used(api, key[1]):
            kept.append(f"{called(key)} stays: boards of others use it")
        elif key[0] == "dashboards" and _marked(live.content, key[1], wanted):
            kept.append(f"{called(key)} stays: it has annotations of others")
        else:
            _delete(api, live, key)
    folders = [key for key in order if key[0] == "folders"]
    inside = list(places(read(api, settings).content)) if folders else []
    parents = {one.uid: one.parent for one in live.content.folders}
    for key in folders:
        if key[1] in inside:
            kept.append(f"{called(key)} stays: something of others is in it")
        else:
            _delete(api, live, key)
            inside.remove(parents[key[1]])
    return tuple(kept)


def _delete(api: Api, live: Live, key: Key) -> None:
    for path in live.paths[key]:
        if key[0] == "preferences":
            api.send("PATCH", path, preferences(Preferences()))
        else:
            api.delete(path)


def _marked(content: Content, board: str, ours: Collection[Key]) -> bool:
    """Whether it would take along an annotation that is none of ours."""
    return any(one.board == board and ("annotations", one.key) not in ours for one in content.annotations)


def _used(api: Api, uid: str) -> bool:
    found = api.find(f"/api/library-elements/{within(uid)}/connections")
    return bool(found and found.get("result"))
