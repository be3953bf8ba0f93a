"""What a database says about itself: its objects without what belongs to an extension or to the server."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from psycopg import sql

from recovery.stores.postgres.connection import major, one, rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recovery.stores.postgres.connection import Connection

_USERS: Final = "n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"


def _member(catalogue: str, oid: str) -> str:
    return (
        "EXISTS (SELECT FROM pg_depend d "
        f"WHERE d.classid = '{catalogue}'::regclass AND d.objid = {oid} AND d.deptype = 'e')"
    )


_RELATIONS: Final = f"""
SELECT c.oid::bigint, n.nspname::text, c.relname::text, c.relkind::text, pg_get_userbyid(c.relowner)::text,
       format('%I.%I', n.nspname, c.relname), {_member("pg_class", "c.oid")},
       (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = c.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm', 'S') AND {_USERS}
ORDER BY n.nspname, c.relname
"""  # noqa: S608  # made of constants of this module
_KEYS: Final = """
SELECT a.attname::text FROM pg_attribute a
WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped
  AND a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype)
  AND (a.attidentity <> '' OR EXISTS (
    SELECT FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary AND a.attnum = ANY (i.indkey::int2[])))
ORDER BY a.attname
"""
_COLUMNS: Final = """
SELECT a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity::text, a.attgenerated::text,
       a.atthasdef
FROM pg_attribute a WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attname
"""
_CONSTRAINTS: Final = """
SELECT conname::text, contype::text, condeferrable, condeferred, convalidated,
       CASE WHEN contype IN ('p', 'u', 'f') THEN pg_get_constraintdef(oid) END
FROM pg_constraint WHERE conrelid = %s AND contype IN ('p', 'u', 'f', 'c', 'x')
  AND NOT (contype = 'f' AND conparentid <> 0)
ORDER BY conname
"""
_INDEXES: Final = """
SELECT c.relname::text, m.amname::text, i.indisunique, i.indnkeyatts, i.indpred IS NOT NULL,
       (SELECT array_agg(coalesce(a.attname::text, '(expression)') ORDER BY k.place)
        FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, place)
        LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number)
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
WHERE i.indrelid = %s AND i.indisvalid ORDER BY c.relname
"""
_COUNTS: Final = f"""
SELECT 'functions', count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE {_USERS} AND NOT {_member("pg_proc", "p.oid")}
UNION ALL SELECT 'types', count(*) FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
WHERE t.typtype IN ('e', 'd', 'r') AND {_USERS} AND NOT {_member("pg_type", "t.oid")}
UNION ALL SELECT 'triggers', count(*) FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT 'policies', count(*) FROM pg_policy
UNION ALL SELECT 'rules', count(*) FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {_USERS} AND NOT {_member("pg_class", "c.oid")}
"""  # noqa: S608  # made of constants of this module


@dataclass(frozen=True)
class Relation:
    """A table, view or sequence. kind: relkind. label: schema and name as SQL has them. member: of an extension.

    children: how many partitions or heirs.
    """

    oid: int
    schema: str
    name: str
    kind: str
    owner: str
    label: str
    member: bool
    children: int

    @property
    def identifier(self) -> sql.Identifier:
        """For a statement."""
        return sql.Identifier(self.schema, self.name)


@dataclass(frozen=True)
class Locale:
    """How a database sorts and encodes."""

    encoding: str
    collate: str
    ctype: str
    provider: str
    locale: str | None


def relations(connection: Connection) -> list[Relation]:
    """Every relation of users, sorted by schema and name."""
    return [Relation(*row) for row in rows(connection, _RELATIONS)]  # type: ignore[arg-type]  # the query gives these types


def keys(connection: Connection, oid: int) -> list[str]:
    """Identity columns and columns of an integer primary key."""
    return [str(row[0]) for row in rows(connection, _KEYS, oid)]


def columns(connection: Connection, oid: int) -> list[str]:
    """Names, sorted: children of a table may have theirs in another order once they are restored."""
    return [str(row[0]) for row in rows(connection, _COLUMNS, oid)]


def shape(connection: Connection, oid: int) -> dict[str, str]:
    """Fields of a Shape."""
    queries = {"columns": _COLUMNS, "constraints": _CONSTRAINTS, "indexes": _INDEXES}
    return {name: digest(rows(connection, query, oid)) for name, query in queries.items()}


def digest(found: Sequence[tuple[object, ...]]) -> str:
    """SHA-256 of what a query found, in its order."""
    return hashlib.sha256("\n".join(map(repr, found)).encode()).hexdigest()


def counts(connection: Connection) -> dict[str, int]:
    """How many there are of what has no figures of its own."""
    return {str(name): cast("int", count) for name, count in rows(connection, _COUNTS)}


def locale(connection: Connection) -> Locale:
    """Of the database of this connection."""
    number = major(connection)
    provider = "datlocprovider::text" if number >= 15 else "'c'"  # noqa: PLR2004  # the release that brought it
    name = "datlocale" if number >= 17 else "daticulocale" if number >= 15 else "NULL::text"  # noqa: PLR2004  # the same
    query = f"""
    SELECT pg_encoding_to_char(encoding)::text, datcollate::text, datctype::text, {provider}, {name}
    FROM pg_database WHERE datname = current_database()
    """  # noqa: S608  # constants
    return Locale(*rows(connection, query)[0])  # type: ignore[arg-type]  # the query gives these types


def extensions(connection: Connection) -> dict[str, str]:
    """Name → version."""
    found = rows(connection, "SELECT extname::text, extversion FROM pg_extension ORDER BY extname")
    return {str(name): str(version) for name, version in found}


def schemas(connection: Connection) -> tuple[str, ...]:
    """Schemas of users; those that an extension made are not among them."""
    query = f"""
    SELECT n.nspname::text FROM pg_namespace n WHERE {_USERS} AND NOT {_member("pg_namespace", "n.oid")} ORDER BY 1
    """  # noqa: S608  # constants
    return tuple(str(row[0]) for row in rows(connection, query))


def roles(connection: Connection) -> tuple[str, ...]:
    """Who owns something in this database, or has been granted something."""
    query = """
    SELECT pg_get_userbyid(datdba)::text FROM pg_database WHERE datname = current_database()
    UNION SELECT pg_get_userbyid(s.refobjid)::text FROM pg_shdepend s
    JOIN pg_database d ON d.oid = s.dbid AND d.datname = current_database()
    WHERE s.refclassid = 'pg_authid'::regclass AND s.deptype IN ('o', 'a', 'r') ORDER BY 1
    """
    return tuple(str(row[0]) for row in rows(connection, query))


def settings(connection: Connection) -> tuple[str, ...]:
    """`name=value` of every setting of this database, for all roles."""
    query = """
    SELECT unnest(setconfig) FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
    WHERE d.datname = current_database() AND s.setrole = 0 ORDER BY 1
    """
    return tuple(str(row[0]) for row in rows(connection, query))


def invalid_indexes(connection: Connection) -> tuple[str, ...]:
    """Indexes that PostgreSQL does not use, as one that was made CONCURRENTLY and failed."""
    query = f"""
    SELECT format('%I.%I', n.nspname, c.relname) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE NOT i.indisvalid AND {_USERS} ORDER BY 1
    """  # noqa: S608  # constants
    return tuple(str(row[0]) for row in rows(connection, query))


def foreign_keys(connection: Connection) -> int:
    """How many. Those that partitions inherit are not counted: they come with their parents, under other names."""
    query = "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND conparentid = 0"
    return cast("int", one(connection, query))


def elsewhere(connection: Connection) -> tuple[str, ...]:
    """Publications and subscriptions: they tie a database to others, and are not dumped."""
    query = """
    SELECT 'publication ' || pubname::text FROM pg_publication
    UNION ALL SELECT 'subscription ' || subname::text FROM pg_subscription s
    JOIN pg_database d ON d.oid = s.subdbid AND d.datname = current_database() ORDER BY 1
    """
    return tuple(str(row[0]) for row in rows(connection, query))
