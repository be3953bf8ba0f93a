"""Giving a copy the place of the database, by renaming, so that a run that dies in between can be run again.

ClickHouse renames one database atomically and has no exchange of two. So there are two steps with a moment between
them in which there is no database of that name, and what is there always tells where a run was cut short:

    database  replaced_as  restore_as
    yes       no           yes         nothing done yet
    no/empty  yes          yes         between the two steps; "empty" where a server made its tables anew meanwhile
    yes       yes          no          promoted
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from recovery.errors import RecoveryError
from recovery.stores.clickhouse import definitions, restoring, schema
from recovery.stores.clickhouse.definitions import quoted

if TYPE_CHECKING:
    from recovery.stores.clickhouse.client import Client
    from recovery.stores.clickhouse.settings import Settings

_ENGINE: Final = "SELECT engine FROM system.databases WHERE name = {database:String}"
_TABLES: Final = (
    "SELECT name, engine, create_table_query FROM system.tables WHERE database = {database:String} ORDER BY name"
)
_PARTS: Final = "SELECT sum(rows) FROM system.parts WHERE active AND database = {database:String}"
_WRITING: Final = (
    "SELECT count() FROM system.processes WHERE query_kind NOT IN ('Select', 'Explain', 'Show', 'Describe', 'System') "
    "AND (current_database = {database:String} OR position(query, {database:String}) > 0)"
)
_QUEUED: Final = "SELECT count() FROM system.asynchronous_inserts WHERE database = {database:String}"
_LAST: Final = (
    # One block: written by an insert and not by a merge. Parts that were merged away since are still listed a while.
    "SELECT count(), dateDiff('second', max(modification_time), now()) FROM system.parts "
    "WHERE database = {database:String} AND min_block_number = max_block_number AND rows > 0"
)
_BLOCKS: Final = (
    "SELECT table, partition_id, max(max_block_number) FROM system.parts WHERE database = {database:String} "
    "GROUP BY table, partition_id ORDER BY table, partition_id"
)
_WAITS: Final = 2
_LONGEST_WAIT: Final = 60
"""Seconds that are waited out; a longer `quiet` is left to whoever set it."""
_NO_ROWS: Final = schema.ELSEWHERE.keys() - {"Memory", "Buffer"}


@dataclass(frozen=True)
class Swap:
    """Promote, and what undoes or ends it."""

    client: Client
    settings: Settings

    @property
    def promoted(self) -> bool:
        """Whether a copy has the place of the database, and what it replaced is kept."""
        return [schema.exists(self.client, name) for name in self._names()] == [True, False, True]

    def promote(self, *, force: bool) -> str:
        """See recovery/ports.py."""
        live, beside, kept = self._names()
        is_live, is_beside, is_kept = (schema.exists(self.client, name) for name in (live, beside, kept))
        if not is_beside and is_kept and is_live:
            return f"{self._who()}: {live} is the restored copy already; what it replaced is {kept}"
        if not restoring.finished(self.client, beside):
            raise RecoveryError(f"{self._who()}: database {beside} is no whole copy; run restore first")
        self._may_be_renamed(beside)
        if is_live and is_kept:
            self._drop_empty(live, f"{beside} and {kept} are both there")
        elif is_live:
            self._may_be_renamed(live)
            if not force and (table := self._first_with_rows(live)):
                raise RecoveryError(
                    f"{self._who()}: database {live} holds data of its own (table {table}); with force it is kept as "
                    f"{kept} and the copy takes its place"
                )
            self._rename_quiet(live, kept)
        elif not is_kept:
            self.client.execute(f"CREATE DATABASE {quoted(kept)} ENGINE = Atomic")
        self._rename(beside, live)
        return f"{self._who()}: {live} is the restored copy now; what it replaced is {kept}"

    def demote(self) -> str:
        """See recovery/ports.py."""
        live, beside, kept = self._names()
        is_live, is_beside, is_kept = (schema.exists(self.client, name) for name in (live, beside, kept))
        if not is_kept:
            return f"{self._who()}: nothing to put back, there is no {kept}"
        if is_live and is_beside:
            self._drop_empty(live, f"{beside} and {kept} are both there")
        elif is_live:
            self._may_be_renamed(live)
            self._may_be_renamed(kept)
            self._rename_quiet(live, beside)
        self._rename(kept, live)
        return f"{self._who()}: {live} is again what it was; the restored copy is {beside}"

    def confirm(self) -> str:
        """See recovery/ports.py."""
        live, beside, kept = self._names()
        if not schema.exists(self.client, kept):
            return f"{self._who()}: nothing to delete, there is no {kept}"
        self._is_whole(f"delete {kept}")
        if schema.exists(self.client, beside):
            raise RecoveryError(
                f"{self._who()}: {kept} and {beside} are both there, so it is not sure that {live} took the place of "
                f"{kept}; run discard, promote or demote first"
            )
        restoring.drop(self.client, kept)
        return f"{self._who()}: {kept} is deleted"

    def discard(self) -> str:
        """See recovery/ports.py."""
        _, beside, kept = self._names()
        if not schema.exists(self.client, beside):
            return f"{self._who()}: nothing to delete, there is no {beside}"
        if schema.exists(self.client, kept):
            self._is_whole(f"delete {beside}")
        restoring.drop(self.client, beside)
        return f"{self._who()}: {beside} is deleted"

    def _names(self) -> tuple[str, str, str]:
        return self.settings.database, self.settings.restore_as, self.settings.replaced_as

    def _who(self) -> str:
        return self.settings.name

    def _rename(self, old: str, new: str) -> None:
        self.client.execute(f"RENAME DATABASE {quoted(old)} TO {quoted(new)}")

    def _rename_quiet(self, old: str, new: str) -> None:
        """Rename, and undo it if somebody wrote until then. Behind it nobody can: there is no such database.

        Every insert has a number of its own, which merging keeps. An insert that had begun ends in the renamed one.
        """
        before = self.client.rows(_BLOCKS, database=old)
        self._is_quiet(old)
        self._rename(old, new)
        running = int(self.client.rows(_WRITING, database=old)[0][0])
        if running or self.client.rows(_BLOCKS, database=new) != before:
            self._rename(new, old)
            raise RecoveryError(
                f"{self._who()}: somebody wrote to database {old} while it was renamed; it has its name again and "
                "nothing is lost. Stop the writers, then run this again"
            )

    def _is_whole(self, what: str) -> None:
        """Raises RecoveryError when the database is missing or empty: then another one may hold the only data."""
        live, beside, kept = self._names()
        if not schema.exists(self.client, live) or self._first_with_rows(live) is None:
            raise RecoveryError(
                f"{self._who()}: refused to {what}: database {live} is missing or empty, so a promote or a demote was "
                f"cut short and {beside} or {kept} may hold the only data; run promote or demote again first"
            )

    def _drop_empty(self, database: str, why: str) -> None:
        """Delete what a server made between two steps. Raises RecoveryError if it holds anything."""
        self._may_be_renamed(database)
        if table := self._first_with_rows(database):
            raise RecoveryError(
                f"{self._who()}: {why}, and {database} holds data (table {table}); what was replaced before is not "
                "confirmed yet, or somebody wrote while a run was cut short. Run confirm, or rename databases by hand"
            )
        self._is_quiet(database)
        restoring.drop(self.client, database)

    def _first_with_rows(self, database: str) -> str | None:
        for name, engine, _ in self.client.rows(_TABLES, database=database):
            if engine in _NO_ROWS or "View" in engine:
                continue
            if self.client.rows(f"SELECT 1 FROM {quoted(database)}.{quoted(name)} LIMIT 1"):  # noqa: S608  # names are quoted
                return str(name)
        if int(self.client.rows(_PARTS, database=database)[0][0]):
            return "hidden from the account"
        return None

    def _may_be_renamed(self, database: str) -> None:
        """Raises RecoveryError if renaming would break what is in it, or cannot be done in one step."""
        engine = self.client.rows(_ENGINE, database=database)[0][0]
        if engine != "Atomic":
            raise RecoveryError(
                f"{self._who()}: database {database} has engine {engine}; only one of engine Atomic is renamed in one "
                "step. Move its tables to an Atomic database"
            )
        mine = set(self._names())
        for name, kind, statement in self.client.rows(_TABLES, database=database):
            text, texts = statement, set[str]()
            if kind in {"View", "MaterializedView"} or "MergeTree" in kind:
                _, text = definitions.tail(statement, f"{database}.{name}")
            elif kind == "Dictionary":
                text = statement.partition("(")[2]
                texts = {other for other in mine if f"'{other}'" in text}
            if texts or any(definitions.names(text, other) for other in mine):
                raise RecoveryError(
                    f"{self._who()}: {name} in database {database} ({kind}) names a database that would be renamed, "
                    "and would read or write the wrong one; drop it, run this again, and make it anew afterwards"
                )

    def _is_quiet(self, database: str) -> None:
        """Waits out a write of a moment ago. Raises RecoveryError when somebody writes, or did so again meanwhile."""
        seconds = self._since_write(database)
        for _ in range(_WAITS):
            if seconds is None or not 0 < self.settings.quiet - seconds <= _LONGEST_WAIT:
                break
            time.sleep(self.settings.quiet - seconds)
            seconds = self._since_write(database)
        if seconds is not None and seconds < self.settings.quiet:
            raise RecoveryError(
                f"{self._who()}: database {database} was written to {seconds} seconds ago, less than "
                f"{self.settings.quiet} (`quiet`); stop the writers, wait, then run this again"
            )

    def _since_write(self, database: str) -> int | None:
        """Seconds since the last write, None without any. Raises RecoveryError while somebody writes."""
        running = int(self.client.rows(_WRITING, database=database)[0][0])
        queued = int(self.client.rows(_QUEUED, database=database)[0][0])
        if running or queued:
            raise RecoveryError(
                f"{self._who()}: {running + queued} statements are writing to database {database}; stop the writers, "
                "then run this again"
            )
        parts, seconds = self.client.rows(_LAST, database=database)[0]
        return int(seconds) if int(parts) else None
