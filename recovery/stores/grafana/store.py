"""A Grafana as a Store.

A Grafana cannot hold a second set of boards under the same uids beside the first. So the copy is a file in the working
directory, but for a scratch Grafana, which is given everything at once. `promote` makes what is not there. It replaces
nothing: where something of the same name has another content it refuses, and with `force` it leaves that as it is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from recovery.errors import HeldError, RecoveryError, RefusedError
from recovery.model import Part
from recovery.stores.configured import InWork, put
from recovery.stores.differ import Differences, Found
from recovery.stores.grafana.api import Api, within
from recovery.stores.grafana.content import (
    CONTENT_FILE,
    KINDS,
    Annotation,
    Content,
    Preferences,
    called,
    differ,
    figures,
    read_part,
    written,
)
from recovery.stores.grafana.read import read
from recovery.stores.grafana.write import Making, borrowed, ordered, remove

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from recovery.model import Mode
    from recovery.ports import Compared, Reader, Tell, Writer
    from recovery.stores.grafana.content import Item, Key
    from recovery.stores.grafana.live import Live
    from recovery.stores.grafana.settings import Settings

LEFT_OUT: Final = (
    "passwords, sessions, tokens and service accounts: a restored account has a password that nobody knows, until an "
    "administrator gives it another",
    "the administrator's account, and boards, folder and datasources that the deployment brings",
    "preferences, stars and history of each person, preferences of teams, other organisations",
    "datasources and rules that were made by hand, settings of plugins, correlations, snapshots, public boards, "
    "earlier versions of boards",
    "ways to sign in that were set in the browser, contact points and policies of its own alerts, open invitations, "
    "the organisation's name; an account of OAuth or LDAP comes back as one with a password",
    "permissions on the deployment's own folder and boards",
    "who made a board or an annotation and when, the data of an annotation; addresses of playlists, and what they name "
    "by a number; annotations of alerts",
    "a common moment: people save boards while they are read one after another, also where writers are stopped",
)
_SHOWN: Final = 5


@dataclass(frozen=True)
class _Plan:
    """What `promote` made or was about to make, since that was not there. whole: it came to its end."""

    made: frozenset[Key]
    whole: bool


@dataclass(frozen=True)
class Grafana(InWork):
    """Store of recovery/ports.py."""

    settings: Settings
    ending = "grafana.json"

    def take(self, writer: Writer, mode: Mode, tell: Tell) -> Part:
        """See Store. What was deleted while it was read is not in it."""
        del mode  # nobody stops people from saving a board
        live = read(self._api, self.settings)
        file = writer.put(CONTENT_FILE, [written(live.content)])
        tell(f"{self.name}: {_counted(live.content)}")
        return Part(
            store=self.name,
            kind=self.kind,
            version=self._version(),
            files=(file,),
            figures=figures(live.content),
            left_out=(*LEFT_OUT, *live.left_out),
        )

    def restore(self, part: Part, reader: Reader, tell: Tell) -> None:
        """Keep the content in the working directory; a scratch Grafana gets it, and only it."""
        content = read_part(part, reader)
        self.keep(written(content))
        if self.settings.scratch:
            self._fill(content)
        tell(f"{self.name}: {_counted(content)} kept")

    def compare(self, part: Part, reader: Reader) -> Compared:
        """Hold the copy against the point: what a scratch Grafana says it has, or else the file that was kept."""
        found, expected = Differences(part.store), read_part(part, reader)
        if self.settings.scratch:
            held = read(self._api, self.settings, borrowed(expected)).content
        else:
            held = self._kept() if self.copy.is_file() else Content()
        measured = figures(held)
        found.figures(part.figures, measured)
        differ(found, expected, held)
        return Found(found.all, measured)

    def promote(self, *, force: bool) -> str:
        """Make what is not there. What is there stays, with and without `force`.

        Raises HeldError, and changes nothing, if something there has another content and not `force`. If Grafana
        refuses one thing, all that was made before it is taken away again.
        """
        kept, live, plan = self._kept(), read(self._api, self.settings), self._planned()
        wanted, there = ordered(kept), live.content.items()
        half = {key for key in plan.made if not plan.whole and key in there and key in wanted}
        others = [key for key, one in wanted.items() if key in there and there[key] != one and key not in half]
        if others and not force:
            raise HeldError(self._refusal(others))
        homeless = [key for key, one in wanted.items() if key not in there and not _has_board(one, live, kept)]
        missing = {key: one for key, one in wanted.items() if key not in there and key not in homeless}
        # Before anything is made: what a killed run had made is still known as ours.
        if missing or half:
            # What people changed since an earlier run is theirs.
            ours = frozenset(
                key for key in plan.made if not plan.whole or (key in there and there[key] == wanted.get(key))
            )
            self._write_plan(_Plan(ours | missing.keys(), whole=False))
            self._make(live, missing, {key: wanted[key] for key in half}, ours)
            self._check({key: one for key, one in wanted.items() if key not in (*others, *homeless)})
            self._write_plan(_Plan(ours | missing.keys(), whole=True))
        said = f"{self.name}: {len(missing)} made, {len(wanted) - len(missing) - len(homeless)} were there"
        if others:
            said += f", {len(others)} of them with another content, which stays: {_some(others)}"
        if homeless:
            said += f"; {len(homeless)} belong to boards that are not here and were left out"
        return f"{said}; none was replaced"

    def demote(self) -> str:
        """Take away what `promote` made and nobody has changed since. Known is that in this working directory alone."""
        plan = self._planned()
        if not plan.made:
            return f"{self.name}: nothing is known here that was made; what is there stays"
        there, kept = read(self._api, self.settings).content.items(), self._kept().items()
        ours = [key for key in plan.made if key in there and (not plan.whole or there[key] == kept.get(key))]
        changed = [key for key in plan.made if key in there and key not in ours]
        stay = remove(self._api, self.settings, ours)
        self._plan.unlink(missing_ok=True)
        said = f"{self.name}: {len(ours) - len(stay)} that were made are deleted"
        if changed:
            said += f"; {len(changed)} were changed since and stay: {_some(changed)}"
        return "; ".join((said, *stay))

    def confirm(self) -> str:
        """Nothing was replaced; forget what was made."""
        self._plan.unlink(missing_ok=True)
        return f"{self.name}: nothing was replaced, nothing to delete"

    def discard(self) -> str:
        """Delete the copy in the working directory; a scratch Grafana loses everything that people make."""
        if self.settings.scratch:
            self._empty()
        self.copy.unlink(missing_ok=True)
        return f"{self.name}: the copy was deleted from {self.work}"

    @cached_property
    def _api(self) -> Api:
        return Api(self.settings)

    @property
    def _plan(self) -> Path:
        return self.work / f"{self.name}.made.json"

    def _version(self) -> str:
        found = self._api.get("/api/health")
        return str(found.get("version", "unknown")) if isinstance(found, dict) else "unknown"

    def _kept(self) -> Content:
        try:
            return Content.model_validate_json(self.copy.read_bytes())
        except OSError:
            raise RecoveryError(
                f"{self.name}: no copy of its content in {self.work}; run restore first, with the same directory"
            ) from None
        except ValidationError as error:
            raise RecoveryError(f"{self.copy}: cannot be read; run restore again") from error

    def _planned(self) -> _Plan:
        if not self._plan.is_file():
            return _Plan(frozenset(), whole=True)
        found = json.loads(self._plan.read_text(encoding="utf-8"))
        return _Plan(frozenset((kind, name) for kind, name in found["made"]), whole=found["whole"])

    def _write_plan(self, plan: _Plan) -> None:
        put(self._plan, json.dumps({"made": sorted(plan.made), "whole": plan.whole}).encode())

    def _make(self, live: Live, missing: dict[Key, Item], half: dict[Key, Item], ours: frozenset[Key]) -> None:
        making = Making(self._api, live)
        made: set[Key] = set()
        try:
            for key, one in missing.items():
                made.add(key)  # before it is: what was not answered may have been made
                try:
                    making.make(one)
                except RefusedError:
                    made.discard(key)
                    raise
            for one in (*half.values(), *missing.values()):
                making.finish(one)
        except RecoveryError as error:
            # What somebody else made meanwhile under a name of ours is not taken away.
            self._write_plan(_Plan(ours | made, whole=False))
            raise RecoveryError(f"{error}\n{self._undone()}") from error

    def _undone(self) -> str:
        try:
            return self.demote()
        except RecoveryError as error:
            return f"what was made before it could not be taken away again, run promote again: {error}"

    def _check(self, wanted: dict[Key, Item]) -> None:
        now = read(self._api, self.settings).content.items()
        wrong = [key for key, one in wanted.items() if now.get(key) != one]
        if wrong:
            raise RecoveryError(
                f"{self.name}: {len(wrong)} were made and are not there as they were: {_some(wrong)}; look at its log, "
                "run again"
            )

    def _refusal(self, others: list[Key]) -> str:
        return (
            f"{self.name}: it holds {len(others)} things under the same names with another content: {_some(others)}; "
            "nothing was changed; rename or delete them there to have those of the point, or run again with force: it "
            "then makes only what is missing, and replaces nothing"
        )

    def _fill(self, content: Content) -> None:
        self._empty()
        self._folder()
        live = read(self._api, self.settings)
        making = Making(self._api, live)
        for uid in sorted(borrowed(content)):
            making.stand_in(uid)
        items = ordered(content)
        for one in items.values():
            making.make(one)
        for one in items.values():
            making.finish(one)

    def _folder(self) -> None:
        """In a scratch Grafana no deployment has made it."""
        uid = self.settings.folder
        if self._api.find(f"/api/folders/{within(uid)}") is None:
            self._api.send("POST", "/api/folders", {"uid": uid, "title": uid})

    def _empty(self) -> None:
        remove(self._api, self.settings, read(self._api, self.settings).content.items())


def open_store(settings: Settings, work: Path) -> Grafana:
    """The store of a section; nothing is asked and no password is read yet."""
    return Grafana(settings, work)


def _has_board(one: Item, live: Live, kept: Content) -> bool:
    """Whether the board that it belongs to is there, or is made with it."""
    named = {Annotation: "board", Preferences: "home"}.get(type(one))
    uid: Any = getattr(one, named) if named else ""
    return uid == "" or uid in live.boards or any(board.uid == uid for board in kept.dashboards)


def _counted(content: Content) -> str:
    return ", ".join(f"{len(content.of(kind))} {kind}" for kind in KINDS)


def _some(keys: Iterable[Key]) -> str:
    names = sorted(called(key) for key in keys)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
