"""PostgreSQL as the program sees it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psycopg import sql

from recovery.errors import DamagedError, RecoveryError
from recovery.model import Part
from recovery.stores.configured import Configured
from recovery.stores.postgres import difference, dump, figures, programs, snapshot, swap
from recovery.stores.postgres.catalogue import elsewhere, relations
from recovery.stores.postgres.connection import connected, doing, major, one, release, rows
from recovery.stores.postgres.model import figures_of
from recovery.stores.postgres.settings import login

if TYPE_CHECKING:
    from pathlib import Path

    from recovery.model import File, Mode
    from recovery.ports import Compared, Reader, Tell, Writer
    from recovery.stores.postgres.connection import Connection
    from recovery.stores.postgres.model import Figures
    from recovery.stores.postgres.settings import Login, Settings


def open_store(settings: Settings, work: Path) -> Postgres:
    """work: directory of mode 700 for the passfile and the beginning of a dump. Nothing need be reachable yet."""
    return Postgres(settings, work)


@dataclass(frozen=True)
class Postgres(Configured):
    """A Store, see recovery/ports.py."""

    settings: Settings
    work: Path

    def take(self, writer: Writer, mode: Mode, tell: Tell) -> Part:
        """Dump and figures of one snapshot. Both modes read the same: the snapshot is of one moment either way."""
        del mode
        who, database = login(self.settings), self.settings.database
        with snapshot.held(who, database) as held:
            connection = held.connection
            excluded = figures.excluded_labels(connection, self.settings.exclude_tables)
            before = figures.sequences(connection)
            tell(f"{self.name}: snapshot {held.id} of {database}")
            order = dump.Order(who, database, held.id, major(connection), excluded, self.work)
            file, entries = dump.store(order, writer, lambda line: tell(f"{self.name}: {line}"))
            after = figures.sequences(connection)
            tell(f"{self.name}: dump of {file.size} bytes")
            if before.keys() != after.keys():
                raise RecoveryError(f"store {self.name}: sequences came or went while it was dumped; run again")
            positions = {label: (before[label], after[label]) for label in before}
            found = figures.measure(connection, excluded, positions, lambda line: tell(f"{self.name}: {line}"))
            self._all_dumped(connection, found, entries)
            left_out = _left_out(connection, found, who)
        return Part(
            store=self.name,
            kind=self.kind,
            version=found.server,
            files=(file,),
            figures=found.as_json(),
            left_out=left_out,
        )

    def restore(self, part: Part, reader: Reader, tell: Tell) -> None:
        """Make `restore_as`, in one transaction.

        SQL cannot tell how much room the server's volume has: a full one ends as a statement that failed, and nothing
        is left. Raises as Store.restore does.
        """
        wanted, file, who = figures_of(part), _dump_of(part), login(self.settings)
        copy = self.settings.restore_as
        with swap.maintenance(who) as connection:
            swap.refuse_between(swap.names(connection, self.settings), self.settings)
            self._fits(connection, wanted)
            programs.find("pg_restore", major(connection))
            swap.drop(connection, copy, force=True)
            try:
                with doing(f"make {copy}"):
                    _create(connection, copy, wanted)
                self._fill(who, wanted, file, reader)
                tell(f"{self.name}: {file.size} bytes restored as {copy}")
                with doing(f"mark {copy}"):
                    swap.mark(connection, copy, file.sha256)
            except BaseException:
                # What went wrong first is what counts; a copy that stays without its mark is none.
                with suppress(RecoveryError):
                    swap.drop(connection, copy, force=True)
                raise

    def compare(self, part: Part, reader: Reader) -> Compared:
        """Measure the copy and hold it against the part."""
        del reader  # the figures hold all that is compared
        wanted, file, who = figures_of(part), _dump_of(part), login(self.settings)
        copy = self.settings.restore_as
        with swap.maintenance(who) as connection:
            found = swap.names(connection, self.settings)
        if not found.copy or found.copy_of != file.sha256:
            state = "is not there" if not found.copy else "is not complete, or of another point"
            raise RecoveryError(f"store {self.name}: {copy} {state}: nothing to compare; restore this point first")
        with snapshot.held(who, copy) as held:
            now = figures.sequences(held.connection)
            positions = {label: (value, value) for label, value in now.items()}
            measured = figures.measure(held.connection, wanted.excluded, positions, lambda _: None)
        return difference.compare(self.name, wanted, measured)

    def promoted(self, part: Part, reader: Reader) -> Compared | None:
        """See Store: whether it was one of this point."""
        del reader
        with swap.maintenance(login(self.settings)) as connection:
            found = swap.names(connection, self.settings)
        if found.copy or not (found.database and found.replaced):
            return None
        other = found.current_of != _dump_of(part).sha256
        lines = (f"{self.settings.database} is no copy of this point",) if other else ()
        return difference.Comparison(lines, {})

    def live(self, part: Part) -> bool:
        """See Store."""
        with swap.maintenance(login(self.settings)) as connection:
            found = swap.names(connection, self.settings)
        return found.database and not found.copy and found.current_of == _dump_of(part).sha256

    def promote(self, *, force: bool) -> str:
        """Rename `database` to `replaced_as` and `restore_as` to `database`."""
        return f"{self.name}: {swap.promote(login(self.settings), self.settings, force=force)}"

    def demote(self) -> str:
        """Rename both back."""
        return f"{self.name}: {swap.demote(login(self.settings), self.settings)}"

    def confirm(self) -> str:
        """Drop `replaced_as`."""
        return f"{self.name}: {swap.confirm(login(self.settings), self.settings)}"

    def discard(self) -> str:
        """Drop `restore_as`."""
        return f"{self.name}: {swap.discard(login(self.settings), self.settings)}"

    def _all_dumped(self, connection: Connection, found: Figures, entries: frozenset[str]) -> None:
        with doing("tables"):
            tables = [one for one in relations(connection) if one.label in found.tables]
        lost = [one.label for one in tables if dump.entry(one.schema, one.name, one.owner) not in entries]
        if lost:
            raise RecoveryError(
                f"store {self.name}: the dump lists no rows of {', '.join(lost[:10])} ({len(lost)} tables in all); no "
                f"restore "
                "point is made of it; run again, and report this if it comes back"
            )

    def _fits(self, connection: Connection, wanted: Figures) -> None:
        """Raises RecoveryError if this server cannot hold the copy."""
        if major(connection) < wanted.major:
            raise RecoveryError(
                f"store {self.name}: the server is PostgreSQL {release(connection)}, the point is of {wanted.server}; "
                f"accepted "
                f"is {wanted.major} or newer; restore into a newer server"
            )
        with doing("extensions"):
            there = {str(row[0]) for row in rows(connection, "SELECT name::text FROM pg_available_extensions")}
        lost = sorted(wanted.extensions.keys() - there)
        if lost:
            raise RecoveryError(
                f"store {self.name}: the server does not have the extension {', '.join(lost)}, which the point needs; "
                f"use an "
                "image that has it; nothing was restored"
            )

    def _fill(self, who: Login, wanted: Figures, file: File, reader: Reader) -> None:
        copy = self.settings.restore_as
        with connected(who, copy) as inside:
            number = major(inside)
            if "public" not in wanted.schemas:
                inside.execute("DROP SCHEMA public")
        dump.load(who, copy, number, self.work, reader.read(file))
        with connected(who, copy) as inside, doing(f"settings and statistics of {copy}"):
            inside.execute("ANALYZE")
            for setting in wanted.settings:
                _set(inside, copy, setting)


def _create(connection: Connection, database: str, wanted: Figures) -> None:
    options = [
        sql.SQL("TEMPLATE template0 ENCODING {} LC_COLLATE {} LC_CTYPE {}").format(
            sql.Literal(wanted.encoding), sql.Literal(wanted.collate), sql.Literal(wanted.ctype)
        )
    ]
    if wanted.provider == "i":
        options.append(sql.SQL("LOCALE_PROVIDER icu ICU_LOCALE {}").format(sql.Literal(wanted.locale)))
    if wanted.provider == "b":
        options.append(sql.SQL("LOCALE_PROVIDER builtin BUILTIN_LOCALE {}").format(sql.Literal(wanted.locale)))
    name = sql.Identifier(database)
    connection.execute(sql.SQL("CREATE DATABASE {} {}").format(name, sql.SQL(" ").join(options)))


def _set(inside: Connection, database: str, setting: str) -> None:
    """One `name=value` of the database. Through the session, so that PostgreSQL itself quotes lists."""
    name, _, value = setting.partition("=")
    identifier = sql.SQL(".").join(map(sql.Identifier, name.split(".")))
    text = sql.SQL("ALTER DATABASE {} SET {} FROM CURRENT").format(sql.Identifier(database), identifier)
    with inside.transaction():
        inside.execute("SELECT pg_catalog.set_config(%s, %s, true)", (name, value))
        inside.execute(text)


def _dump_of(part: Part) -> File:
    file = next((file for file in part.files if file.path == dump.PATH), None)
    if file is None or file.size == 0:
        state = "has no" if file is None else "has an empty"
        raise DamagedError(
            f"store {part.store}: the point {state} {dump.PATH}; it cannot be restored, use an earlier one"
        )
    return file


def _left_out(connection: Connection, found: Figures, who: Login) -> tuple[str, ...]:
    """What is not in the dump, one sentence each."""
    others = [role for role in found.roles if role != who.username]
    with doing("left out"):
        own = one(
            connection,
            "SELECT count(*) FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase "
            "WHERE d.datname = current_database() AND s.setrole <> 0",
        )
        members = [one.label for one in relations(connection) if one.member and one.kind in "rp"]
        ties = elsewhere(connection)
    return (
        "roles and their passwords, owners and grants: everything belongs to whoever restores",
        *(f"role {role}, which owns something or has been granted something" for role in others),
        *(f"rows of {label}: excluded by the configuration" for label in found.excluded),
        *(f"rows of {label}: they lie on another server" for label in found.foreign_tables),
        *(f"table {label} of an extension: has no figures" for label in members),
        *(f"index {name}: it is invalid in the source" for name in found.invalid_indexes),
        *ties,
        *([f"{own} settings of roles in this database"] if own else []),
        "comment of the database",
    )
