"""Runs of a project as they are asked for: one, a page, or filtered, sorted and grouped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sandbox.swanlab_server import bodies, projects, runs
from sandbox.swanlab_server.web import Answer, Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sandbox.swanlab_server.context import Context
    from sandbox.swanlab_server.web import Call

Run = dict[str, Any]
OPERATORS: Final = ("EQ", "NEQ", "GTE", "LTE", "IN", "NOT IN", "CONTAIN")
_KINDS: Final = ("STABLE", "CONFIG")
_MOST: Final = 50


@dataclass(frozen=True)
class Field:
    """Where a value of a run is. kind: STABLE = of the run, CONFIG = of its configuration."""

    kind: str
    key: str

    def values(self, run: Run) -> list[str]:
        """The value as texts; several for labels, an empty text where there is none."""
        if self.kind == "CONFIG":
            entry = run["profile"]["config"].get(self.key)
            value = entry.get("value") if isinstance(entry, dict) else entry
        elif self.key == "labels":
            return sorted(str(label.get("name", "")) for label in run["labels"]) or [""]
        elif self.key == "user.username":
            value = run["user"]["username"]
        else:
            value = run.get(self.key)
        return ["" if value is None else str(value)]


@dataclass(frozen=True)
class Filter:
    """A condition. values: compared as numbers where both sides are numbers, as text otherwise."""

    field: Field
    operator: str
    values: tuple[str, ...]

    def takes(self, run: Run) -> bool:
        """Whether the run is wanted."""
        have = self.field.values(run)
        if self.operator in {"EQ", "IN"}:
            return any(value in self.values for value in have)
        if self.operator in {"NEQ", "NOT IN"}:
            return all(value not in self.values for value in have)
        if self.operator == "CONTAIN":
            return any(wanted in value for wanted in self.values for value in have)
        sign = 1 if self.operator == "GTE" else -1
        return all(sign * compared(have[0], wanted) >= 0 for wanted in self.values)


def compared(left: str, right: str) -> int:
    """-1, 0 or 1: as numbers if both are, else as texts."""
    try:
        a, b = float(left), float(right)
    except ValueError:
        return (left > right) - (left < right)
    return (a > b) - (a < b)


def get(context: Context, call: Call) -> Answer:
    """`GET …/runs/{run}`. 404 if it is not in this project."""
    with context.database.write() as connection:
        project = projects.of_call(connection, call)
        run = runs.find(connection, context.database.names, call.path["run"], call.caller)
    if run["project_id"] != project["id"]:
        raise Refusal(404, "Not_Found", f"there is no run {call.path['run']} in this project")
    return Answer(body=runs.record_of(run))


def page(context: Context, call: Call) -> Answer:
    """`GET …/runs?page&size`: newest first."""
    wanted = bodies.page(call.query)
    found = _all(context, call)
    return Answer(body=wanted.of(found[wanted.offset : wanted.offset + wanted.size], len(found)))


def shows(context: Context, call: Call) -> Answer:
    """`POST …/runs/shows` {filters, groups, sorts}: a list, or nested objects when grouped.

    422 for filters by scalars: they are not in this store, and an empty list would look like an answer.
    """
    body = bodies.mapping(call.body or {})
    filters = [_filter(item) for item in _active(body, "filters")]
    orders = [(_field(item), bodies.choice(item, "order", ("ASC", "DESC"), "ASC")) for item in _active(body, "sorts")]
    groups = [_field(item) for item in _active(body, "groups")]
    found = [run for run in _all(context, call) if all(item.takes(run) for item in filters)]
    for field, order in reversed(orders):
        found.sort(key=lambda run, by=field: _sortable(by.values(run)), reverse=order == "DESC")  # type: ignore[misc]  # mypy does not infer the default of a lambda
    return Answer(body=grouped(found, groups))


def grouped(found: Sequence[Run], groups: Sequence[Field]) -> object:
    """The runs in nested objects, one level for each field; labels are joined with a comma."""
    if not groups:
        return list(found)
    parts: dict[str, list[Run]] = {}
    for run in found:
        parts.setdefault(", ".join(groups[0].values(run)), []).append(run)
    return {name: grouped(part, groups[1:]) for name, part in parts.items()}


def _sortable(values: list[str]) -> tuple[int, float, str]:
    text = ", ".join(values)
    try:
        return 0, float(text), ""
    except ValueError:
        return 1, 0.0, text


def _all(context: Context, call: Call) -> list[Run]:
    with context.database.write() as connection:
        project = projects.of_call(connection, call)
        return [runs.record_of(run) for run in runs.in_project(connection, context.database.names, project)]


def _active(body: Mapping[str, Any], field: str) -> list[Mapping[str, Any]]:
    return [item for item in bodies.objects(body.get(field) or [], field, _MOST) if item.get("active", True)]


def _field(item: Mapping[str, Any]) -> Field:
    kind = bodies.text(item, "type")
    if kind not in _KINDS:
        raise Refusal(422, "Unsupported", f"fields of type {kind} are not known here; accepted is STABLE and CONFIG")
    return Field(kind, bodies.text(item, "key"))


def _filter(item: Mapping[str, Any]) -> Filter:
    values = item.get("value")
    if not isinstance(values, list):
        raise bodies.wrong("value", "a list")
    texts = tuple("" if value is None else str(value) for value in values)
    return Filter(_field(item), bodies.choice(item, "op", OPERATORS), texts)
