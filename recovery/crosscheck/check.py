"""The check: which schema the copies have, and whether every relation of it holds."""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from recovery.crosscheck import merging, postgres, sorting
from recovery.crosscheck.clickhouse import ClickHouse
from recovery.crosscheck.model import Bucket, Found, Nested, Query, Row
from recovery.crosscheck.swanlab import PROFILES
from recovery.errors import RecoveryError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from pydantic import JsonValue

    from recovery.crosscheck.merging import Match
    from recovery.crosscheck.model import (
        Circumstances,
        ClickHouseCopy,
        Comparison,
        Fault,
        PostgresCopy,
        Profile,
        Relation,
        Source,
        Tolerance,
    )
    from recovery.crosscheck.postgres import Postgres
    from recovery.model import File

NOT_DONE: Final = "no known schema: cross-check not done"
_SHOWN: Final = 3


def crosscheck(
    postgres_copy: PostgresCopy,
    clickhouse_copy: ClickHouseCopy,
    buckets: Mapping[str, Iterable[File]],
    under: Circumstances,
    work: Path,
    profiles: tuple[Profile, ...] = PROFILES,
) -> Found:
    """Hold the copies of one point against each other. Only reads them.

    buckets: PRIVATE, PUBLIC → all objects, each iterable is read once, in any order. work: a directory with room for
    the keys of all objects and the names of all media, some hundred bytes each.
    Raises RecoveryError if a store cannot be read to the end, or cannot be read in order: then nothing is known.
    """
    if under.taken.tzinfo is None:
        raise RecoveryError(f"taken is {under.taken}, without a time zone; give an aware moment")
    known = {
        item.target.name for profile in profiles for item in profile.comparisons if isinstance(item.target, Bucket)
    }
    if unknown := sorted(set(buckets) - known):
        raise RecoveryError(
            f"no profile knows the bucket {', '.join(unknown)}; accepted are {', '.join(sorted(known))}"
        )
    clickhouse = ClickHouse(clickhouse_copy)
    with postgres.opened(postgres_copy) as database:
        profile, missing = _fitting(profiles, database, clickhouse)
        if profile is None:
            return Found((f"{NOT_DONE}; {missing}",), {"profile": None})
        known_to = replace(under, last_number=database.number(profile.last_number))
        return _Check(database, clickhouse, buckets, known_to, work).of(profile)


def _fitting(profiles: tuple[Profile, ...], database: Postgres, clickhouse: ClickHouse) -> tuple[Profile | None, str]:
    """The profile whose tables are all there; or what is missing for each."""
    there = {"PostgreSQL": database.tables(), "ClickHouse": clickhouse.tables()}
    told = []
    for profile in profiles:
        wanted = {"PostgreSQL": profile.postgres, "ClickHouse": profile.clickhouse}
        missing = [
            f"{store} {table} ({', '.join(sorted(lacking))})"
            for store, tables in wanted.items()
            for table, columns in tables.items()
            if (lacking := columns - there[store].get(table, frozenset()))
        ]
        if not missing:
            return profile, ""
        told.append(f"for {profile.name} the copies lack {', '.join(missing)}")
    return None, "; ".join(told) or "there is no profile"


@dataclass
class _Tally:
    """figures: all counts by name. shown: name of a fault → the first references. used: tolerances that applied."""

    figures: Counter[str] = field(default_factory=Counter)
    shown: dict[str, list[str]] = field(default_factory=dict)
    used: dict[str, Tolerance] = field(default_factory=dict)

    def judge(self, relation: Relation, reference: Row, target: Row | None, under: Circumstances) -> None:
        self.figures[relation.name] += 1
        fault = next((fault for fault in relation.faults if fault.wrong(reference, target)), None)
        if fault is None:
            return
        tolerance = next((item for item in fault.tolerances if item.applies(reference, under)), None)
        if tolerance is not None:
            name = f"{fault.name}_{tolerance.name}"
            self.figures[name] += 1
            self.used[name] = tolerance
            return
        self.figures[fault.name] += 1
        shown = self.shown.setdefault(fault.name, [])
        if len(shown) < _SHOWN:
            shown.append(relation.show(reference))


@dataclass(frozen=True)
class _Check:
    """One check of copies that are open."""

    database: Postgres
    clickhouse: ClickHouse
    buckets: Mapping[str, Iterable[File]]
    under: Circumstances
    work: Path

    def of(self, profile: Profile) -> Found:
        tally, differences = _Tally(), []
        counts = {name: self._number(query) for name, query in profile.counts.items()}
        for comparison in profile.comparisons:
            target = comparison.target
            if isinstance(target, Bucket) and target.name not in self.buckets:
                if comparison.relations:
                    differences.append(f"bucket {target.name} is not in the point: what refers to it was not checked")
                continue
            self._compare(comparison, tally)
        faults = [fault for item in profile.comparisons for relation in item.relations for fault in relation.faults]
        differences += [_sentence(fault, tally) for fault in faults if tally.figures[fault.name]]
        told: list[JsonValue] = [
            f"{tally.figures[name]} {name}: {_filled(item.says, self.under)}" for name, item in tally.used.items()
        ]
        figures: dict[str, JsonValue] = {"profile": profile.name, **counts, **tally.figures, "tolerated": told}
        return Found(tuple(differences), figures)

    def _compare(self, comparison: Comparison, tally: _Tally) -> None:
        relations = comparison.relations
        names = [item.name for item in relations]
        figures = [name for name in (*names, comparison.referenced, comparison.unreferenced) if name]
        tally.figures.update(dict.fromkeys(figures, 0))
        with contextlib.ExitStack() as opened:
            references = [self._rows(relation.source, relation.name, opened) for relation in relations]
            target = self._rows(comparison.target, f"counterparts of {', '.join(names) or 'nothing'}", opened)
            last: Row | None = None
            for match in merging.matches(references, target):
                last = _counted(comparison, match, last, tally)
                if match.reference is not None:
                    tally.judge(relations[match.relation], match.reference, match.target, self.under)

    def _rows(self, source: Source, name: str, opened: contextlib.ExitStack) -> Iterator[Row]:
        if isinstance(source, Query):
            rows = self._query(source, opened)
        elif isinstance(source, Bucket):
            found = (Row((file.path,), {"size": file.size}) for file in self.buckets[source.name])
            rows = opened.enter_context(contextlib.closing(sorting.in_order(found, self.work)))
        else:
            rows = opened.enter_context(contextlib.closing(sorting.in_order(self._nested(source, name), self.work)))
        return merging.ordered(rows, name)

    def _nested(self, source: Nested, name: str) -> Iterator[Row]:
        with contextlib.ExitStack() as opened:
            owners = merging.ordered(self._query(source.owners, opened), f"owners of {name}")
            rows = merging.ordered(self._query(source.rows, opened), f"rows of {name}")
            pairs = merging.owned(owners, rows)
            yield from itertools.chain.from_iterable(source.expand(owner, row) for owner, row in pairs)

    def _query(self, query: Query, opened: contextlib.ExitStack) -> Iterator[Row]:
        rows = self.database.rows(query) if query.store == "postgres" else self.clickhouse.rows(query)
        return opened.enter_context(contextlib.closing(rows))

    def _number(self, query: Query) -> int:
        return (self.database if query.store == "postgres" else self.clickhouse).number(query.sql)


def _counted(comparison: Comparison, match: Match, last: Row | None, tally: _Tally) -> Row | None:
    """Count the counterpart, once however many refer to it. last: the one of the match before; this one's."""
    if match.target is not None and match.target is not last:
        name = comparison.unreferenced if match.reference is None else comparison.referenced
        if name is not None:
            tally.figures[name] += 1
    return match.target if match.target is not None else last


def _sentence(fault: Fault, tally: _Tally) -> str:
    count, shown = tally.figures[fault.name], tally.shown[fault.name]
    return f"{count} {fault.says}: {'; '.join(shown)}{'; …' if count > len(shown) else ''}"


def _filled(says: str, under: Circumstances) -> str:
    shown = replace(under, taken=under.taken.replace(microsecond=0))
    return says.format(taken=shown.taken.isoformat(), since=shown.since.isoformat(), window=under.window)
