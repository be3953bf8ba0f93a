"""What is used of the answers of Grafana's API, version 11.6."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, JsonValue

from recovery.stores.grafana.content import Grant, Preferences

_LEVELS: Final = (1, 2, 4)


class Answer(BaseModel):
    """Grafana says more; that is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Hit(Answer):
    """Of a search: a board or a folder."""

    uid: str


class Meta(Answer):
    """Beside a board's content. provisioned: its deployment brings it."""

    provisioned: bool
    folderUid: str = ""


class Board(Answer):
    """A board with what its database says of it."""

    meta: Meta
    dashboard: dict[str, JsonValue]


class FoundFolder(Answer):
    """A folder; without a parent it lies at the top."""

    uid: str
    title: str
    parentUid: str = ""


class Permission(Answer):
    """Of a role, an account or a team. inherited: granted to a folder above."""

    role: str | None = None
    userLogin: str = ""
    team: str = ""
    permission: int
    inherited: bool = False


class Where(Answer):
    """Older answers say here where an element lies."""

    folderUid: str = ""


class FoundElement(Answer):
    """A panel or variable of the library."""

    uid: str
    name: str
    kind: int
    folderUid: str = ""
    meta: Where = Where()
    model: dict[str, JsonValue]


class FoundUser(Answer):
    """An account of the server, in whichever organisation."""

    id: int
    login: str
    name: str
    email: str
    isAdmin: bool
    isDisabled: bool


class Belongs(Answer):
    """An account's role in the main organisation."""

    userId: int
    role: str


class FoundTeam(Answer):
    """A team of the main organisation."""

    id: int
    name: str
    email: str


class FoundMember(Answer):
    """permission: 0 member, 4 administrator."""

    login: str
    permission: int = 0


class Listed(Answer):
    """Of a list whose entries are asked for one by one."""

    uid: str


class FoundEntry(Answer):
    """Of a playlist."""

    type: str
    value: str


class FoundPlaylist(Answer):
    """A playlist with its entries."""

    name: str
    interval: str
    items: list[FoundEntry] | None = None


class FoundAnnotation(Answer):
    """A mark in time; without an end it is a moment."""

    id: int
    dashboardUID: str | None = None
    panelId: int = 0
    time: int
    timeEnd: int = 0
    text: str
    tags: list[str] | None = None


class FoundPreferences(Answer):
    """Of the organisation; empty is Grafana's default."""

    theme: str = ""
    timezone: str = ""
    weekStart: str = ""
    language: str = ""
    homeDashboardUID: str = ""

    @property
    def kept(self) -> Preferences:
        """As they are kept."""
        return Preferences(
            theme=self.theme,
            timezone=self.timezone,
            week_start=self.weekStart,
            language=self.language,
            home=self.homeDashboardUID,
        )


def grant_of(one: Permission) -> Grant | None:
    """None for what no API could grant again."""
    if one.permission not in _LEVELS:
        return None
    if one.role:
        return Grant(kind="role", to=one.role, permission=one.permission)
    if one.team:
        return Grant(kind="team", to=one.team, permission=one.permission)
    return Grant(kind="user", to=one.userLogin, permission=one.permission) if one.userLogin else None
