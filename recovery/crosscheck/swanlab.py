"""The schema that is known: what the SwanLab of the sandbox writes, see sandbox/swanlab_server.

The vendor publishes no schema. A copy of the vendor's own therefore fits no profile until one is written here, from
what a licensed installation shows, and a check of it says that it was not done.

Points belong to `<cuid>.<number>` of a run, so that those of a deleted run never show in one that is made anew under
its cuid. Objects of a run lie below `<project>/<run>/` in the private bucket: media under the names that their rows
have, saved files under `files/`. Of what lies below `exports/` no store knows. Columns are announced before their
first point, objects are sent before the rows that name them. Columns that an SDK announced with an error have no
points. In a project with multi-view boards, columns belong to the project, and no store says which run has which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recovery.crosscheck.model import (
    PRIVATE,
    PUBLIC,
    Bucket,
    Comparison,
    Fault,
    Nested,
    Profile,
    Query,
    Relation,
    Row,
    Tolerance,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recovery.crosscheck.model import Circumstances

_SCALAR: Final = "('FLOAT')"
_MEDIA: Final = "('IMAGE', 'AUDIO', 'VIDEO', 'TEXT', 'ECHARTS', 'OBJECT3D', 'MOLECULE', 'HTML')"
_RUN: Final = "(e.cuid || '.' || e.id)"
_ARRIVAL: Final = "18446744073709551615 - {}(precedence)"
"""Rows count down from there with the nanosecond in which they reached the delivery buffer."""
_HASH_OF_NOTHING: Final = "e3b0c442"
"""SDKs name an object after the beginning of its SHA-256: one that says so is meant to be empty."""
_NANOSECONDS: Final = 1_000_000_000


def _columns(condition: str) -> Query:
    return Query(
        "postgres",
        f"SELECT {_RUN} AS uid, c.key, extract(epoch FROM c.created_at)::float8 AS announced"  # noqa: S608  # constants
        f" FROM columns c JOIN experiments e ON e.id = c.experiment_id WHERE c.error IS NULL AND {condition}"
        f' ORDER BY {_RUN} COLLATE "C", c.key COLLATE "C"',
        ("uid", "key"),
    )


def _series(table: str) -> Query:
    text = f"SELECT uid, key FROM {table} GROUP BY uid, key ORDER BY uid, key"  # noqa: S608  # constants
    return Query("clickhouse", text, ("uid", "key"))


_RUNS: Final = Query(
    "postgres",
    f"SELECT {_RUN} AS uid, p.cuid || '/' || e.cuid || '/' AS prefix"  # noqa: S608  # constants
    f' FROM experiments e JOIN projects p ON p.id = e.project_id ORDER BY {_RUN} COLLATE "C"',
    ("uid",),
)
_LOGGED: Final = Query(
    "clickhouse",
    f"SELECT uid, count() AS rows, {_ARRIVAL.format('max')} AS first_arrival, {_ARRIVAL.format('min')} AS last_arrival"  # noqa: S608  # constants
    " FROM (SELECT uid, precedence FROM scalar UNION ALL SELECT uid, precedence FROM media"
    " UNION ALL SELECT uid, precedence FROM log) GROUP BY uid ORDER BY uid",
    ("uid",),
)
_MEDIA_ROWS: Final = Query(
    "clickhouse",
    f"SELECT uid, key, step, data, {_ARRIVAL.format('')} AS arrival FROM media FINAL ORDER BY uid",  # noqa: S608  # constants
    ("uid",),
)
_FILES: Final = Query(
    "postgres",
    "SELECT p.cuid || '/' || e.cuid || '/files/' || f.path AS object, f.size,"
    " extract(epoch FROM f.updated_at)::float8 AS updated FROM files f"
    " JOIN experiments e ON e.id = f.experiment_id JOIN projects p ON p.id = e.project_id WHERE f.state = 'UPLOADED'"
    " ORDER BY (p.cuid || '/' || e.cuid || '/files/' || f.path) COLLATE \"C\"",
    ("object",),
)


def _expand(run: Row, media: Row) -> Iterator[Row]:
    fields = {name: media.fields[name] for name in ("uid", "key", "step", "arrival")}
    return (Row((run.fields["prefix"] + path,), fields) for path in media.fields["data"])


def _absent(_: Row, target: Row | None) -> bool:
    return target is None


def _empty(reference: Row, target: Row | None) -> bool:
    meant = _HASH_OF_NOTHING in reference.key[0].rpartition("/")[2]
    return target is not None and target.fields["size"] == 0 and not meant


def _other_size(reference: Row, target: Row | None) -> bool:
    return target is not None and target.fields["size"] != reference.fields["size"]


def _since(field: str, unit: int = 1) -> Tolerance:
    """Online: what changed within the window. field: a moment by a server's clock; unit: how many are a second."""

    def applies(row: Row, under: Circumstances) -> bool:
        return under.mode == "online" and float(row.fields[field]) / unit >= under.since.timestamp()

    return Tolerance(
        "recent",
        "taken online, and announced or changed from {since} on: the rest may still have been on its way",
        applies,
    )


def _newer(row: Row, under: Circumstances) -> bool:
    return under.mode == "online" and row.fields["first_arrival"] >= under.taken.timestamp() * _NANOSECONDS


def _remains(row: Row, under: Circumstances) -> bool:
    number = row.key[0].rpartition(".")[2]
    known = number.isascii() and number.isdigit() and int(number) <= under.last_number
    length = (row.fields["last_arrival"] - row.fields["first_arrival"]) / _NANOSECONDS
    return known and length <= under.window.total_seconds()


_ORPHAN: Final = Fault(
    "orphans",
    "runs have rows in ClickHouse and none in PostgreSQL",
    _absent,
    (
        Tolerance("newer", "taken online, and the first row came after PostgreSQL's snapshot, at {taken}", _newer),
        # A buffer delivers what it holds after a run was deleted, too. Nobody refers to such rows, and a number is
        # given out once. A PostgreSQL that is older than ClickHouse has not given out the number.
        Tolerance(
            "remains",
            "PostgreSQL has given out the number of the run and all rows came within {window}: "
            "what was on its way when the run was deleted",
            _remains,
        ),
    ),
)


def _column(row: Row) -> str:
    return f"run {row.key[0]} key {row.key[1]!r}"


def _logged(name: str, condition: str, table: str, says: str, unreferenced: str | None) -> Comparison:
    fault = Fault(
        f"{name}_without_points", f"{says} in PostgreSQL have nothing in ClickHouse", _absent, (_since("announced"),)
    )
    relation = Relation(name=name, source=_columns(condition), faults=(fault,), show=_column)
    return Comparison(
        relations=(relation,),
        target=_series(table),
        referenced=f"{name}_with_points",
        unreferenced=unreferenced,
    )


_OBJECTS: Final = Comparison(
    relations=(
        Relation(
            name="media_names",
            source=Nested(_RUNS, _MEDIA_ROWS, _expand),
            faults=(
                Fault(
                    "media_without_object",
                    "names in rows of media have no object in the private bucket",
                    _absent,
                    (_since("arrival", _NANOSECONDS),),
                ),
                Fault("media_empty", "objects of media in the private bucket are empty", _empty),
            ),
            show=lambda row: f"run {row.fields['uid']} key {row.fields['key']!r} object {row.key[0]!r}",
        ),
        Relation(
            name="files_uploaded",
            source=_FILES,
            faults=(
                Fault(
                    "files_without_object",
                    "uploaded files have no object in the private bucket",
                    _absent,
                    (_since("updated"),),
                ),
                Fault(
                    "files_of_other_size",
                    "uploaded files have an object of another size in the private bucket",
                    _other_size,
                    (_since("updated"),),
                ),
            ),
            show=lambda row: f"object {row.key[0]!r} of {row.fields['size']} bytes",
        ),
    ),
    target=Bucket(PRIVATE),
    referenced="objects_referenced",
    unreferenced="objects_unreferenced",
)
_PUBLIC: Final = Comparison(
    relations=(),
    target=Bucket(PUBLIC),
    referenced=None,
    unreferenced="public_objects",
)


def _count(store: str, text: str) -> Query:
    return Query("postgres" if store == "postgres" else "clickhouse", f"SELECT {text}", ())


SANDBOX: Final = Profile(
    name="swanlab-sandbox",
    postgres={
        "projects": frozenset({"id", "cuid"}),
        "experiments": frozenset({"id", "cuid", "project_id"}),
        "columns": frozenset({"experiment_id", "key", "type", "error", "created_at"}),
        "series": frozenset({"project_id", "key"}),
        "files": frozenset({"experiment_id", "path", "size", "state", "updated_at"}),
    },
    clickhouse={
        "scalar": frozenset({"uid", "key", "precedence"}),
        "media": frozenset({"uid", "key", "step", "data", "precedence"}),
        "log": frozenset({"uid", "precedence"}),
    },
    last_number=(
        "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('experiments', 'id')::regclass), 0) AS number"
    ),
    counts={
        "runs": _count("postgres", "count(*) FROM experiments"),
        "columns_with_error": _count("postgres", "count(*) FROM columns WHERE error IS NOT NULL"),
        "series": _count("postgres", "count(*) FROM series"),
        "files": _count("postgres", "count(*) FROM files"),
        "media_rows": _count("clickhouse", "count() FROM media FINAL"),
    },
    comparisons=(
        Comparison(
            relations=(
                Relation(
                    name="runs_logged",
                    source=_LOGGED,
                    faults=(_ORPHAN,),
                    show=lambda row: f"run {row.key[0]} with {row.fields['rows']} rows",
                ),
            ),
            target=_RUNS,
            referenced="runs_with_points",
            unreferenced="runs_without_points",
        ),
        _logged("scalar_columns", f"c.type IN {_SCALAR}", "scalar", "scalar columns", "scalar_keys_without_column"),
        _logged("media_columns", f"c.type IN {_MEDIA}", "media", "media columns", "media_keys_without_column"),
        _logged(
            "other_columns",
            f"c.type NOT IN {_SCALAR} AND c.type NOT IN {_MEDIA}",
            "(SELECT uid, key FROM scalar UNION ALL SELECT uid, key FROM media)",
            "columns of types that are not known",
            None,
        ),
        _OBJECTS,
        _PUBLIC,
    ),
)
PROFILES: Final = (SANDBOX,)
