"""Reads what people made, as a whole: what a list names is read, or is gone from the list as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recovery.errors import RecoveryError
from recovery.stores.grafana.answers import (
    Belongs,
    Board,
    FoundAnnotation,
    FoundElement,
    FoundFolder,
    FoundMember,
    FoundPlaylist,
    FoundPreferences,
    FoundTeam,
    FoundUser,
    Hit,
    Listed,
    Permission,
    grant_of,
)
from recovery.stores.grafana.api import within
from recovery.stores.grafana.content import (
    Annotation,
    Content,
    Dashboard,
    Element,
    Entry,
    Folder,
    Grant,
    Item,
    Kind,
    Member,
    Playlist,
    Preferences,
    Team,
    User,
    gathered,
)
from recovery.stores.grafana.live import Live, known, places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from recovery.stores.grafana.api import Api, Query
    from recovery.stores.grafana.settings import Settings

ANNOTATIONS: Final = 10_000
"""Most annotations that are kept, the newest ones: the API has no pages for them."""
PLAYLISTS: Final = 1000
"""Most that Grafana lists, whatever is asked for; it keeps one more."""
GENERAL: Final = "general"
"""What the top is called where an answer does not leave it empty."""
_BOARDS_A_PAGE: Final = 5000
_PEOPLE_A_PAGE: Final = 1000
_ELEMENTS_A_PAGE: Final = 100
_ATTEMPTS: Final = 3
_ROLES: Final = ("Viewer", "Editor")
"""To which something can be granted. Admins may do everything."""
NUMBERED: Final = ("id", "version")
"""Keys of a board's content that its database gives."""


def read(api: Api, settings: Settings, without: frozenset[str] = frozenset()) -> Live:
    """All that people made. without: uids of boards that are not asked for.

    Raises RecoveryError: an answer is none, the list of boards is not whole, or everything changes all the time.
    """
    for _ in range(_ATTEMPTS):
        found = _Reading(api, settings, without).all()
        if found is not None:
            return found
    raise RecoveryError(f"{api.name}: folders were moved or deleted each time it was read; run again")


class _Reading:
    """One pass. Accounts come last: whom a permission names that was read before is then known, or gone."""

    def __init__(self, api: Api, settings: Settings, without: frozenset[str]) -> None:
        self.api, self.settings, self.without = api, settings, without
        self.items = list[tuple[Kind, Item]]()
        self.live = Live(Content())
        self.gone = dict[str, set[object]]()
        self.nobodys = 0

    def all(self) -> Live | None:
        """None if something lies in a folder that is gone by now."""
        self._boards()
        self._elements()
        self._folders()
        self._playlists()
        self._annotations()
        self._preferences()
        self._teams()
        self._users()
        self._vanished()
        kept = [(kind, *known(one, self.live)) for kind, one in self.items]
        self.live.content = gathered((kind, one) for kind, one, _ in kept)
        self.nobodys += sum(less for _, _, less in kept)
        if self.nobodys:
            self.live.left_out += (
                f"{self.nobodys} permissions and memberships of service accounts, or of accounts of another "
                "organisation",
            )
        return self.live if self._placed() else None

    def _add(self, kind: Kind, one: Item, path: str) -> None:
        self.items.append((kind, one))
        self.live.paths.setdefault((kind, one.key), []).append(path)

    def _missed(self, what: str, name: object) -> None:
        self.gone.setdefault(what, set()).add(name)

    def _search(self, kind: str) -> list[str]:
        query: Query = {"type": kind, "limit": _BOARDS_A_PAGE}
        hits = self.api.everything("/api/search", query, (), lambda one: one.get("uid"))
        return [one.uid for one in self.api.listed(Hit, hits, "what is searched for")]

    def _boards(self) -> None:
        uids, ours = self._search("dash-db"), 0
        for uid in uids:
            path = f"/api/dashboards/uid/{within(uid)}"
            answer = self.api.find(path)
            if answer is None:
                self._missed("board", uid)
                continue
            found = self.api.shaped(Board, answer, f"board {uid}")
            ours += found.meta.provisioned
            if found.meta.provisioned or uid in self.without:
                continue
            grants = self._grants(f"{path}/permissions")
            if grants is None:
                self._missed("board", uid)
                continue
            content = {key: value for key, value in found.dashboard.items() if key not in NUMBERED}
            made = Dashboard(uid=uid, folder=_folder(found.meta.folderUid), content=content, grants=grants)
            self._add("dashboards", made, path)
        self.live.boards = frozenset(uids) - self.gone.get("board", set())
        if not ours and not self.settings.scratch:
            raise RecoveryError(
                f"{self.api.name}: it shows none of the boards that its deployment brings, so what it lists is not "
                "all; nothing was taken: look whether it has come up, and whether its database is the right one"
            )

    def _folders(self) -> None:
        for uid in self._search("dash-folder"):
            path = f"/api/folders/{within(uid)}"
            if uid in ("", GENERAL, self.settings.folder):
                continue
            answer, grants = self.api.find(path), self._grants(f"{path}/permissions")
            if answer is None or grants is None:
                self._missed("folder", uid)
                continue
            found = self.api.shaped(FoundFolder, answer, f"folder {uid}")
            self._add("folders", Folder(uid=uid, title=found.title, parent=found.parentUid, grants=grants), path)

    def _grants(self, path: str) -> tuple[Grant, ...] | None:
        """What was granted at this very place, None if that is gone."""
        answer = self.api.find(path)
        if answer is None:
            return None
        found = [one for one in self.api.listed(Permission, answer, path) if not one.inherited]
        grants = [grant_of(one) for one in found if one.role is None or one.role in ("", *_ROLES)]
        self.nobodys += grants.count(None)
        return tuple(sorted((one for one in grants if one is not None), key=lambda one: (one.kind, one.to)))

    def _elements(self) -> None:
        under = ("result", "elements")
        pages = self.api.everything(
            "/api/library-elements", {"perPage": _ELEMENTS_A_PAGE}, under, lambda one: one.get("uid")
        )
        for one in self.api.listed(FoundElement, pages, "an element of the library"):
            made = Element(
                uid=one.uid,
                name=one.name,
                folder=_folder(one.folderUid or one.meta.folderUid),
                element=one.kind,
                model=one.model,
            )
            self._add("elements", made, f"/api/library-elements/{within(one.uid)}")

    def _playlists(self) -> None:
        for uid in self._playlist_uids():
            path = f"/api/playlists/{within(uid)}"
            answer = self.api.find(path)
            if answer is None:
                self._missed("playlist", uid)
                continue
            one = self.api.shaped(FoundPlaylist, answer, f"playlist {uid}")
            entries = tuple(Entry(type=entry.type, value=entry.value) for entry in one.items or ())
            self._add("playlists", Playlist(name=one.name, interval=one.interval, entries=entries), path)

    def _playlist_uids(self) -> list[str]:
        """The API has no pages for them."""
        found = self.api.listed(Listed, self.api.get("/api/playlists", {"limit": PLAYLISTS}), "a playlist")
        if len(found) >= PLAYLISTS:
            raise RecoveryError(f"{self.api.name}: it has {PLAYLISTS} playlists or more; accepted are fewer")
        return [one.uid for one in found]

    def _annotations(self) -> None:
        """Of people alone: those of alerts are made again by alerts."""
        query: Query = {"type": "annotation", "limit": ANNOTATIONS + 1}
        found = self.api.listed(FoundAnnotation, self.api.get("/api/annotations", query), "an annotation")
        newest = sorted(found, key=lambda one: (one.time, one.id), reverse=True)
        if len(found) > ANNOTATIONS:
            self.live.left_out += (f"annotations older than the newest {ANNOTATIONS}",)
        for one in newest[:ANNOTATIONS]:
            made = Annotation(
                board=one.dashboardUID or "",
                panel=one.panelId,
                time=one.time,
                until=one.timeEnd or one.time,
                text=one.text,
                tags=tuple(one.tags or ()),
            )
            self._add("annotations", made, f"/api/annotations/{one.id}")

    def _preferences(self) -> None:
        path = "/api/org/preferences"
        made = self.api.shaped(FoundPreferences, self.api.get(path), "the organisation's preferences").kept
        if made != Preferences():
            self._add("preferences", made, path)

    def _teams(self) -> None:
        for one in self._team_list():
            where = f"/api/teams/{one.id}"
            answer = self.api.find(f"{where}/members")
            if answer is None:
                self._missed("team", one.id)
                continue
            members = self.api.listed(FoundMember, answer, f"team {one.name}")
            known = tuple(Member(login=each.login, permission=each.permission) for each in members)
            made = Team(name=one.name, email=one.email, members=tuple(sorted(known, key=lambda each: each.login)))
            self._add("teams", made, where)
            self.live.teams[one.name] = one.id

    def _team_list(self) -> list[FoundTeam]:
        path = "/api/teams/search"
        pages = self.api.everything(path, {"perpage": _PEOPLE_A_PAGE}, ("teams",), lambda one: one.get("id"))
        return self.api.listed(FoundTeam, pages, "a team")

    def _users(self) -> None:
        """People of the main organisation, without the account that the deployment makes."""
        pages = self.api.everything("/api/users", {"perpage": _PEOPLE_A_PAGE}, (), lambda one: one.get("id"))
        belongs = self.api.listed(Belongs, self.api.get("/api/org/users"), "a user of the organisation")
        roles = {one.userId: one.role for one in belongs}
        others = 0
        for one in self.api.listed(FoundUser, pages, "a user"):
            if one.id not in roles:
                others += 1
                continue
            self.live.users[one.login] = one.id
            if one.login == self.settings.login:
                continue
            made = User(
                login=one.login,
                name=one.name,
                email=one.email,
                role=roles[one.id],
                administrator=one.isAdmin,
                disabled=one.isDisabled,
            )
            self._add("users", made, f"/api/admin/users/{one.id}")
        if others:
            self.live.left_out += (f"{others} accounts that belong to no or to another organisation",)

    def _placed(self) -> bool:
        """Whether every folder that something lies in is there."""
        content = self.live.content
        there = {"", self.settings.folder, *(one.uid for one in content.folders)}
        return all(where in there for where in places(content))

    def _vanished(self) -> None:
        """Raises RecoveryError if something is listed still that could not be read: it was not deleted meanwhile."""
        lists: dict[str, Callable[[], Iterable[object]]] = {
            "board": lambda: self._search("dash-db"),
            "folder": lambda: self._search("dash-folder"),
            "playlist": self._playlist_uids,
            "team": lambda: [one.id for one in self._team_list()],
        }
        for what, names in self.gone.items():
            still = names & set(lists[what]())
            if still:
                raise RecoveryError(
                    f"{self.api.name}: it lists {what} {', '.join(sorted(map(str, still))[:5])} and says that there is "
                    "none such; nothing was taken: look at its log"
                )


def _folder(uid: str) -> str:
    return "" if uid == GENERAL else uid
