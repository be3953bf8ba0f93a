"""What people made in a Grafana, spelt one way: the same state gives the same bytes, whichever Grafana told it.

Numbers by which one database calls its rows are in none of it. People are called by their login, teams by their name,
folders and boards by their uid, everything else by what it holds.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import Field, JsonValue, ValidationError

from recovery.errors import DamagedError
from recovery.model import Part, Record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recovery.ports import Reader
    from recovery.stores.differ import Differences

CONTENT_FILE: Final = "grafana.json"
Kind = Literal["users", "teams", "folders", "elements", "dashboards", "playlists", "annotations", "preferences"]
KINDS: Final[tuple[Kind, ...]] = (
    *("users", "teams", "folders", "elements"),
    *("dashboards", "playlists", "annotations", "preferences"),
)
"""In the order in which they are made: what is named comes before what names it."""
Key = tuple[Kind, str]
"""Of one thing among all."""


class Item(Record):
    """One thing that somebody made."""

    @property
    def key(self) -> str:
        """What tells it from others of its kind, in every Grafana."""
        raise NotImplementedError


class Grant(Record):
    """What somebody may do with a folder or a board: 1 view, 2 edit, 4 administer. to: a role, a login or a name."""

    kind: Literal["role", "user", "team"]
    to: str
    permission: int


class User(Item):
    """A person's account in the main organisation. What it is proven with is in no answer of the API."""

    login: str
    name: str
    email: str
    role: str
    administrator: bool
    disabled: bool

    @property
    def key(self) -> str:
        """See Item."""
        return self.login


class Member(Record):
    """permission: 0 member, 4 administrator of the team."""

    login: str
    permission: int


class Team(Item):
    """People who are given permissions together."""

    name: str
    email: str
    members: tuple[Member, ...]

    @property
    def key(self) -> str:
        """See Item."""
        return self.name


class Folder(Item):
    """parent: uid of the folder that it lies in, empty for none."""

    uid: str
    title: str
    parent: str
    grants: tuple[Grant, ...]

    @property
    def key(self) -> str:
        """See Item."""
        return self.uid


class Element(Item):
    """A panel or variable of the library. element: its kind as a number. folder: a uid, empty for none."""

    uid: str
    name: str
    folder: str
    element: int
    model: dict[str, JsonValue]

    @property
    def key(self) -> str:
        """See Item."""
        return self.uid


class Dashboard(Item):
    """A board. content: as people saved it, without the row's number and the count of its versions."""

    uid: str
    folder: str
    content: dict[str, JsonValue]
    grants: tuple[Grant, ...]

    @property
    def key(self) -> str:
        """See Item."""
        return self.uid


class Entry(Record):
    """Of a playlist: a board's uid, or a tag of boards."""

    type: str
    value: str


class Playlist(Item):
    """Boards that are shown in turn. Its uid is not kept: no answer of the API takes one."""

    name: str
    interval: str
    entries: tuple[Entry, ...]

    @property
    def key(self) -> str:
        """See Item."""
        return _spelt(self.model_dump(mode="json"))


class Annotation(Item):
    """A mark in time. board: a uid, empty for all boards. time, until: in milliseconds since 1970."""

    board: str
    panel: int
    time: int
    until: int
    text: str
    tags: tuple[str, ...]

    @property
    def key(self) -> str:
        """See Item."""
        return _spelt(self.model_dump(mode="json"))


class Preferences(Item):
    """Of the organisation. home: uid of the board that everybody sees first, empty for Grafana's own."""

    theme: str = ""
    timezone: str = ""
    week_start: str = ""
    language: str = ""
    home: str = ""

    @property
    def key(self) -> str:
        """See Item."""
        return "organisation"


class Content(Record):
    """All of it, each kind sorted by its keys. preferences: none where everything is Grafana's default."""

    users: tuple[User, ...] = ()
    teams: tuple[Team, ...] = ()
    folders: tuple[Folder, ...] = ()
    elements: tuple[Element, ...] = ()
    dashboards: tuple[Dashboard, ...] = ()
    playlists: tuple[Playlist, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    preferences: tuple[Preferences, ...] = Field(default=(), max_length=1)

    def items(self) -> dict[Key, Item]:
        """Key → thing, in the order in which they are made."""
        return {(kind, one.key): one for kind in KINDS for one in self.of(kind)}

    def of(self, kind: Kind) -> tuple[Item, ...]:
        """All of a kind."""
        found: tuple[Item, ...] = getattr(self, kind)
        return found


def gathered(items: Iterable[tuple[Kind, Item]]) -> Content:
    """Content of things in any order; what is there twice is there once."""
    kinds = dict[Kind, dict[str, Item]]()
    for kind, one in items:
        kinds.setdefault(kind, {})[one.key] = one
    found: dict[str, Any] = {kind: tuple(one for _, one in sorted(known.items())) for kind, known in kinds.items()}
    return Content(**found)


def written(content: Content) -> bytes:
    """The one spelling of it."""
    return _spelt(content.model_dump(mode="json")).encode()


def read_part(part: Part, reader: Reader) -> Content:
    """What a point holds. Raises DamagedError."""
    file = next((file for file in part.files if file.path == CONTENT_FILE), None)
    if file is None:
        raise DamagedError(f"{part.store}: the restore point has no {CONTENT_FILE}; use an earlier one")
    try:
        return Content.model_validate_json(b"".join(reader.read(file)))
    except ValidationError as error:
        raise DamagedError(f"{part.store}: {CONTENT_FILE} cannot be read; use an earlier restore point") from error


def figures(content: Content) -> dict[str, JsonValue]:
    """How many there are of each kind, and a hash of what they hold."""
    found = dict[str, JsonValue]()
    for kind in KINDS:
        items = content.of(kind)
        text = _spelt([one.model_dump(mode="json") for one in items])
        found |= {kind: len(items), f"{kind}_content": hashlib.sha256(text.encode()).hexdigest()}
    return found


def differ(found: Differences, expected: Content, held: Content) -> None:
    """Add each thing that is missing, another, or of no restore point."""
    wanted, there = expected.items(), held.items()
    for key, one in wanted.items():
        if key not in there:
            found.add(f"{called(key)} is missing")
        elif there[key] != one:
            found.add(f"{called(key)} has another content than in the restore point")
    for key in there.keys() - wanted.keys():
        found.add(f"{called(key)} is in the copy and not in the restore point")


def called(key: Key) -> str:
    """How a thing is told of to people."""
    kind, name = key
    return f"{kind} {name[:120]}"


def _spelt(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
