"""What was read of a Grafana: its content, and where in it each thing is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from recovery.stores.grafana.content import Dashboard, Folder, Grant, Item, Member, Team

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recovery.stores.grafana.content import Content, Key

_One = TypeVar("_One", Grant, Member)


@dataclass
class Live:
    """paths: thing → where the API deletes it, each of several alike. boards: uids of all that can be shown, those of
    the deployment too. users, teams: login and name → number. left_out: sentences.
    """

    content: Content
    paths: dict[Key, list[str]] = field(default_factory=dict)
    boards: frozenset[str] = frozenset()
    users: dict[str, int] = field(default_factory=dict)
    teams: dict[str, int] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()


def known(one: Item, live: Live) -> tuple[Item, int]:
    """The same without what it grants to nobody that is known, and how many that were.

    They are service accounts, people of another organisation, or were deleted since.
    """
    if isinstance(one, Folder | Dashboard):
        grants, less = _only(one.grants, lambda grant: _is_known(grant, live))
        return one.model_copy(update={"grants": grants}), less
    if isinstance(one, Team):
        members, less = _only(one.members, lambda member: member.login in live.users)
        return one.model_copy(update={"members": members}), less
    return one, 0


def places(content: Content) -> Iterator[str]:
    """uid of the folder that each thing lies in."""
    yield from (one.folder for one in content.dashboards)
    yield from (one.folder for one in content.elements)
    yield from (one.parent for one in content.folders)


def _is_known(grant: Grant, live: Live) -> bool:
    return grant.kind == "role" or grant.to in (live.users if grant.kind == "user" else live.teams)


def _only(found: tuple[_One, ...], wanted: Callable[[_One], bool]) -> tuple[tuple[_One, ...], int]:
    kept = tuple(one for one in found if wanted(one))
    return kept, len(found) - len(kept)
