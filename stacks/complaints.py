"""Turns what pydantic found into sentences for people: what, where, what is accepted, what to do next.

Values are not repeated unless a field's own validator does so: a secret set by mistake must not end up in a log.
"""

from __future__ import annotations

import difflib
import types
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic import ValidationError
    from pydantic.fields import FieldInfo

PREFIX = "plumbline:"
_HIDDEN = "stack"


def explain(error: ValidationError, stack: str, model: type[BaseModel]) -> list[str]:
    """One sentence per fault, in the order of the keys."""
    return [_sentence(dict(found), stack, model) for found in error.errors(include_url=False, include_context=True)]


def misplaced(keys: Iterable[str] | Mapping[str, str], stack: str, model: type[BaseModel]) -> list[str]:
    """Keys that cannot be part of the model at all: dotted ones, set without `--path`, and reserved ones."""
    dotted = [
        f"{PREFIX}{key} in stack {stack} was set without `--path` and is a key of its own, not a part of "
        f"{PREFIX}{key.partition('.')[0]}; fix: pulumi config rm '{PREFIX}{key}' && "
        f"pulumi config set --path '{PREFIX}{key}' <value>"
        for key in keys
        if "." in key
    ]
    return dotted + [_unknown((_HIDDEN,), stack, model) for key in keys if key == _HIDDEN]


def where(location: tuple[int | str, ...]) -> str:
    """`("prometheus", "remote_write", 0, "url")` → `plumbline:prometheus.remote_write[0].url`."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return PREFIX + text.removeprefix(".")


def _sentence(found: dict[str, Any], stack: str, model: type[BaseModel]) -> str:
    location: tuple[int | str, ...] = found["loc"]
    key, kind = where(location), found["type"]
    if kind == "extra_forbidden":
        return _unknown(location, stack, model)
    accepted = _accepted(location, model)
    fix = f"fix: pulumi config set --path '{key}' <value>"
    if kind == "missing":
        return f"missing setting {key} in stack {stack}; accepted: {accepted}; {fix}"
    if kind == "value_error":
        return f"{key} in stack {stack}: {found['ctx']['error']}; {fix}"
    if kind == "literal_error":
        return f"{key} in stack {stack} has a value that is not known; accepted: {found['ctx']['expected']}; {fix}"
    problem = str(found["msg"]).removeprefix("Input ").removeprefix("String ")
    seen = f", not {_kind(found['input'])}" if kind.endswith("_type") else ""
    return f"{key} in stack {stack} {problem}{seen}; accepted: {accepted}; {fix}"


def _kind(value: object) -> str:
    names = {str: "text", bool: "true or false", int: "a number", float: "a number", dict: "an object", list: "a list"}
    return names.get(type(value), "nothing" if value is None else type(value).__name__)


def _unknown(location: tuple[int | str, ...], stack: str, model: type[BaseModel]) -> str:
    key, word = where(location), str(location[-1])
    parent = _model_at(location[:-1], model)
    names = [name for name in parent.model_fields if name != _HIDDEN] if parent else []
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    hint = f"; did you mean `{near[0]}`?" if near else ";"
    fix = f"fix: pulumi config rm --path '{key}'"
    if near:
        fix += f" && pulumi config set --path '{where((*location[:-1], near[0]))}' <value>"
    return f"unknown setting {key} in stack {stack}{hint} accepted: {', '.join(names)}; {fix}"


def _accepted(location: tuple[int | str, ...], model: type[BaseModel]) -> str:
    field = _field_at(location, model)
    return (field.description if field else None) or "see stacks/settings.py"


def _field_at(location: tuple[int | str, ...], model: type[BaseModel]) -> FieldInfo | None:
    names = [part for part in location if isinstance(part, str)]
    parent = _model_at(tuple(names[:-1]), model)
    return parent.model_fields.get(names[-1]) if parent and names else None


def _model_at(location: tuple[int | str, ...], model: type[BaseModel]) -> type[BaseModel] | None:
    found: type[BaseModel] | None = model
    for part in location:
        if isinstance(part, str):
            field = found.model_fields.get(part) if found else None
            found = _model_in(field.annotation) if field else None
    return found


def _model_in(annotation: Any) -> type[BaseModel] | None:  # noqa: ANN401  # an annotation can be any object
    """The section inside `X`, `X | None` or `tuple[X, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (Union, types.UnionType, tuple):
        return next((found for part in get_args(annotation) if (found := _model_in(part))), None)
    return None
