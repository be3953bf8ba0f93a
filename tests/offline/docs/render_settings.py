"""The reference page of the settings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import AfterValidator, BaseModel, SecretStr

from stacks import fields
from stacks.settings import Settings
from tests.offline.docs.names import PREFIX, section_of
from tests.offline.docs.table import code, either, number, table
from tests.offline.stacks.examples import STACKS, stack_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic.fields import FieldInfo

HEAD = """# Settings

Every key that a stack file may hold, as `stacks/settings.py` reads it. An unknown key is an error. Rules between
settings are in [operate](../operate.md#rules-between-settings), how to set one in
[operate](../operate.md#change-a-setting).
Stack `local` needs nothing of you: `make up` fills in `plumbline:cluster.context`, `plumbline:cluster.uid`,
`plumbline:cluster.kubeconfig` and `plumbline:images.path`. Every other stack must name its context and its uid.

"""


def settings() -> str:
    """The page."""
    parts = [HEAD, "## The stack\n\n", _table("", Settings)]
    parts += [f"## {code(PREFIX + key)}\n\n{_doc(model)}\n\n{_table(key, model)}" for key, model in _sections()]
    return "".join([*parts, _types(), _committed()])


def _sections() -> Iterator[tuple[str, type[BaseModel]]]:
    def below(model: type[BaseModel], above: str) -> Iterator[tuple[str, type[BaseModel]]]:
        for name, info in model.model_fields.items():
            inner = section_of(info.annotation)
            if inner is not None:
                key = f"{above}{name}" + ("[]" if inner[1] else "")
                yield key, inner[0]
                yield from below(inner[0], f"{key}.")

    yield from below(Settings, "")


def _doc(model: type[BaseModel]) -> str:
    return (model.__doc__ or "").strip()


def _table(above: str, model: type[BaseModel]) -> str:
    shown = {name: info for name, info in model.model_fields.items() if not info.exclude}
    prefix = f"{PREFIX}{above}." if above else PREFIX
    rows = [(code(prefix + name), _type(info), _default(info), info.description or "") for name, info in shown.items()]
    return table(("Key", "Type", "Default", "Meaning"), rows)


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    if section_of(info.annotation):
        return "-"
    default = info.get_default(call_default_factory=True)
    if isinstance(default, dict) and default:
        return ", ".join(code(f"{key}: {value}") for key, value in default.items())
    return "not set" if default is None else code(_yaml(default))


def _type(info: FieldInfo) -> str:
    inner = section_of(info.annotation)
    if inner is not None:
        return "list of sections" if inner[1] else "section"
    return _of(info.annotation, info.metadata)


def _of(annotation: Any, metadata: list[Any]) -> str:  # noqa: ANN401  # an annotation can be any object
    named = [name for name, check in _validators().items() if any(check is _function(m) for m in metadata)]
    if named:
        return f"[{named[0]}](#types)"
    if get_origin(annotation) is Annotated:
        inner, *rest = get_args(annotation)
        return _of(inner, rest)
    if get_origin(annotation) is Literal:
        return either(get_args(annotation))
    parts = [part for part in get_args(annotation) if part not in (type(None), Ellipsis)]
    if parts:
        head = _CONTAINERS.get(get_origin(annotation), "")
        return head + " or ".join(_of(part, []) for part in (parts[-1:] if head else parts))
    words = {bool: "true or false", int: "whole number", float: "number", str: "text", SecretStr: "text, a secret"}
    return words[annotation] + _bounds(metadata)


_CONTAINERS: dict[Any, str] = {dict: "map of names to ", tuple: "list of "}


_BOUNDS: tuple[tuple[type, str, str], ...] = (
    (Gt, "gt", "above"),
    (Ge, "ge", "from"),
    (Lt, "lt", "below"),
    (Le, "le", "to"),
)


def _bounds(metadata: list[Any]) -> str:
    """` above 0, below 1`; empty without bounds."""
    flat = [part for found in metadata for part in getattr(found, "metadata", [found])]
    said = [f"{word} {number(getattr(m, key))}" for kind, key, word in _BOUNDS for m in flat if isinstance(m, kind)]
    return f" {', '.join(said)}" if said else ""


def _validators() -> dict[str, object]:
    """Name of each small type of stacks/fields.py → its validator."""
    named = {name: value for name, value in vars(fields).items() if get_origin(value) is Annotated}
    return {name: _function(get_args(value)[1]) for name, value in named.items()}


def _function(metadata: object) -> object:
    return metadata.func if isinstance(metadata, AfterValidator) else metadata


def _types() -> str:
    """What each type accepts, in the words of its own refusal."""
    rows = [(name, _accepted(check)) for name, check in sorted(_validators().items()) if callable(check)]
    return "## Types\n\n" + table(("Type", "Accepted"), rows)


def _accepted(check: Callable[[str], str]) -> str:
    try:
        check(" ")
    except ValueError as error:
        return str(error).partition(": ")[2].removeprefix("accepted ").removeprefix("is ").removeprefix("are ") or str(
            error
        )
    raise AssertionError(f"{check} accepts a blank")


def _committed() -> str:
    """The values of the stack files in git, side by side."""
    flat = {stack: dict(_flat(stack_file(stack))) for stack in STACKS}
    keys = dict.fromkeys(key for stack in STACKS for key in flat[stack])
    rows = [(code(key), *(code(flat[s][key]) if key in flat[s] else "" for s in STACKS)) for key in keys]
    text = "## Values of the stacks\n\nAs committed. What is empty has its default, or must be set by you.\n\n"
    return text + table(("Key", *STACKS), rows)


def _flat(values: dict[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{name}.")
        elif not name.startswith("pulumi:"):
            yield f"{above}{name}", _yaml(value)


def _yaml(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
