"""Silences of an Alertmanager: what somebody decided not to be told of, until when, and why.

An Alertmanager cannot hold a second set of silences beside the first, and they act the moment they are posted. So
the copy is a file in the working directory, but for a scratch Alertmanager, which is given them at once. `promote` adds
those that are not there; it replaces none. When a silence began is not compared once it has begun: Alertmanager puts
the moment of posting there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable  # noqa: TC003  # pydantic reads annotations of this module when it runs
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

import requests
from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError

from recovery.errors import DamagedError, RecoveryError
from recovery.model import Part, Record
from recovery.stores.configured import InWork, put
from recovery.stores.differ import Differences, Found

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pydantic import JsonValue

    from recovery.model import Mode
    from recovery.ports import Compared, Reader, Tell, Writer

SILENCES_FILE: Final = "silences.json"
LEFT_OUT: Final = "silences that have expired, and what was notified: a restored Alertmanager may notify again"
_SECONDS: Final = 30


class Settings(Record):
    """url: of the Alertmanager, without `/api`. scratch: it lives for a verification only, and is given silences."""

    kind: Literal["alertmanager"] = "alertmanager"
    name: str = Field(min_length=1)
    url: str = Field(pattern=r"^https?://[^@]+$")
    scratch: bool = False


class Matcher(Record):
    """Of labels, in the API's own words."""

    name: str
    value: str
    isRegex: bool
    isEqual: bool = True


class Silence(Record):
    """One silence, in the API's own words; its id is not kept, the next Alertmanager gives another."""

    matchers: tuple[Matcher, ...] = Field(min_length=1)
    startsAt: AwareDatetime
    endsAt: AwareDatetime
    createdBy: str
    comment: str

    @property
    def identity(self) -> str:
        """Everything but its beginning, spelt one way."""
        matchers = sorted([one.name, one.value, one.isRegex, one.isEqual] for one in self.matchers)
        return json.dumps([matchers, _ms(self.endsAt), self.createdBy, self.comment], sort_keys=True)


_LIST: Final = TypeAdapter(tuple[Silence, ...])


@dataclass(frozen=True)
class Silences(InWork):
    """Store of recovery/ports.py."""

    settings: Settings
    ending = "silences.json"

    def take(self, writer: Writer, mode: Mode, tell: Tell) -> Part:
        """See Store."""
        del mode  # one answer of the API is one moment
        found = sorted(self._live().values(), key=lambda one: (one.identity, one.startsAt))
        file = writer.put(SILENCES_FILE, [_LIST.dump_json(tuple(found))])
        tell(f"{self.name}: {len(found)} silences")
        version = self._ask("GET", "status").get("versionInfo", {}).get("version", "unknown")
        return Part(
            store=self.name,
            kind=self.kind,
            version=str(version),
            files=(file,),
            figures=_figures(found),
            left_out=(LEFT_OUT,),
        )

    def restore(self, part: Part, reader: Reader, tell: Tell) -> None:
        """Keep the silences in the working directory; a scratch Alertmanager gets them, and only them."""
        found = _of(part, reader)
        self.keep(_LIST.dump_json(found))
        if self.settings.scratch:
            self._delete(self._live())
            self._post(_lasting(found))
        tell(f"{self.name}: {len(found)} silences kept")

    def compare(self, part: Part, reader: Reader) -> Compared:
        """Hold the copy against the point: what a scratch Alertmanager says it has, or else the file that was kept."""
        found, expected = Differences(part.store), _of(part, reader)
        found.figures(part.figures, _figures(expected))
        if self.settings.scratch:
            expected, held = _lasting(expected), tuple(self._live().values())
        else:
            held = self._kept() if self.copy.is_file() else ()
        _differ(found, {one.identity: one for one in expected}, {one.identity: one for one in held})
        return Found(found.all, {**_figures(held), "expired": len(_of(part, reader)) - len(expected)})

    def promote(self, *, force: bool) -> str:
        """Post what is not there and has not ended. What is there stays, with and without `force`."""
        del force
        kept, live = _lasting(self._kept()), {one.identity for one in self._live().values()}
        missing = tuple(one for one in kept if one.identity not in live)
        if missing:
            # Before they are posted: what a killed run had posted is still known as ours.
            planned = {*self._planned(), *(one.identity for one in missing)}
            put(self._plan, json.dumps(sorted(planned)).encode())
            self._post(missing)
        now = {one.identity for one in self._live().values()}
        lost = [one for one in _lasting(kept) if one.identity not in now]
        if lost:
            raise RecoveryError(
                f"{self.name}: {len(lost)} silences were posted and are not there; look at its log, run again"
            )
        return f"{self.name}: {len(missing)} silences posted, {len(kept) - len(missing)} were there; none was replaced"

    def demote(self) -> str:
        """Expire the silences that `promote` posted."""
        planned = self._planned()
        ours = {name: one for name, one in self._live().items() if one.identity in planned}
        self._delete(ours)
        self._plan.unlink(missing_ok=True)
        return f"{self.name}: {len(ours)} silences that were posted are expired"

    def confirm(self) -> str:
        """Nothing was replaced; forget which silences were posted."""
        self._plan.unlink(missing_ok=True)
        return f"{self.name}: nothing was replaced, nothing to delete"

    def discard(self) -> str:
        """Delete the copy in the working directory; a scratch Alertmanager loses its silences."""
        if self.settings.scratch:
            self._delete(self._live())
        self.copy.unlink(missing_ok=True)
        return f"{self.name}: the copy was deleted from {self.work}"

    @property
    def _plan(self) -> Path:
        return self.work / f"{self.name}.posted.json"

    def _planned(self) -> set[str]:
        return set(json.loads(self._plan.read_text(encoding="utf-8"))) if self._plan.is_file() else set()

    def _kept(self) -> tuple[Silence, ...]:
        try:
            return _LIST.validate_json(self.copy.read_bytes())
        except OSError:
            raise RecoveryError(
                f"{self.name}: no copy of silences in {self.work}; run restore first, with the same directory"
            ) from None
        except ValidationError as error:
            raise RecoveryError(f"{self.copy}: cannot be read; run restore again") from error

    def _live(self) -> dict[str, Silence]:
        """Id → silence that acts or will. Raises RecoveryError if one cannot be understood: it would be lost."""
        answer = self._ask("GET", "silences")
        if not isinstance(answer, list):
            raise RecoveryError(f"{self.name}: {self.settings.url} does not answer with silences; name an Alertmanager")
        found = dict[str, Silence]()
        try:
            for one in answer:
                if one["status"]["state"] != "expired":
                    known = {name: one[name] for name in Silence.model_fields}
                    found[one["id"]] = Silence.model_validate_json(json.dumps(known))
        except (KeyError, TypeError, ValidationError) as error:
            raise RecoveryError(
                f"{self.name}: a silence has another shape than API v2 gives it ({type(error).__name__}); nothing "
                "was taken"
            ) from error
        return found

    def _post(self, silences: Iterable[Silence]) -> None:
        for one in silences:
            self._ask("POST", "silences", one.model_dump(mode="json"))

    def _delete(self, ids: Iterable[str]) -> None:
        for name in ids:
            self._ask("DELETE", f"silence/{name}")

    def _ask(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401  # JSON of the API
        url = f"{self.settings.url.rstrip('/')}/api/v2/{path}"
        try:
            answer = requests.request(method, url, json=body, timeout=_SECONDS)
            answer.raise_for_status()
            return answer.json() if answer.content else None
        except (requests.RequestException, ValueError) as error:
            raise RecoveryError(
                f"{self.name}: {method} {url} failed: {type(error).__name__}: {error}; Alertmanager must be reachable"
            ) from error


def open_store(settings: Settings, work: Path) -> Silences:
    """The store of a section; nothing is asked yet."""
    return Silences(settings, work)


def _of(part: Part, reader: Reader) -> tuple[Silence, ...]:
    file = next((file for file in part.files if file.path == SILENCES_FILE), None)
    if file is None:
        raise DamagedError(f"{part.store}: the restore point has no {SILENCES_FILE}; use an earlier one")
    try:
        return _LIST.validate_json(b"".join(reader.read(file)))
    except ValidationError as error:
        raise DamagedError(f"{part.store}: {SILENCES_FILE} cannot be read; use an earlier restore point") from error


def _lasting(silences: Iterable[Silence]) -> tuple[Silence, ...]:
    now = datetime.now(UTC)
    return tuple(one for one in silences if one.endsAt > now)


def _figures(silences: Iterable[Silence]) -> dict[str, JsonValue]:
    found = sorted({one.identity for one in silences})
    return {"silences": len(found), "content": hashlib.sha256("\n".join(found).encode()).hexdigest()}


def _differ(found: Differences, expected: Mapping[str, Silence], held: Mapping[str, Silence]) -> None:
    now = datetime.now(UTC)
    for name, one in expected.items():
        other = held.get(name)
        if other is None and one.endsAt > now:
            found.add(f"silence {name} is missing")
        elif other is not None and one.startsAt > now and _ms(other.startsAt) != _ms(one.startsAt):
            found.add(f"silence {name} begins at {other.startsAt}, the restore point says {one.startsAt}")
    for name in held.keys() - expected.keys():
        found.add(f"silence {name} is in the copy and not in the restore point")


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
