"""The reference page of the outputs contract."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from pydantic import BaseModel

from stacks import contract as source
from stacks.contract import CONTRACT_CONFIGMAP, CONTRACT_KEY, Contract, Part
from tests.offline.docs.table import code, either, table

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

HEAD = f"""# Outputs contract, version {Contract.model_fields["version"].default}

What a deployed stack promises. `make up` writes it to `.out/<stack>/contract.json`; the cluster has it as key
`{CONTRACT_KEY}` of ConfigMap `{CONTRACT_CONFIGMAP}`; Pulumi as output `contract`. The smoke suite knows a stack by this
document alone. It names secrets and never holds their values. An unknown key is an error.

"""
_WORDS = {str: "text", int: "whole number", bool: "true or false"}


def contract() -> str:
    """The page: the whole first, then its parts in the order in which it names them."""
    return HEAD + "".join(f"## {model.__name__}\n\n{_doc(model)}\n\n{_table(model)}" for model in _parts())


def _parts() -> list[type[BaseModel]]:
    defined = [m for m in vars(source).values() if inspect.isclass(m) and issubclass(m, Part) and m is not Part]
    return [Contract, *(model for model in defined if model is not Contract)]


def _doc(model: type[BaseModel]) -> str:
    return inspect.cleandoc(model.__doc__ or "")


def _table(model: type[BaseModel]) -> str:
    rows = [
        (code(name), _type(info.annotation), _default(info), info.description or "")
        for name, info in model.model_fields.items()
    ]
    return table(("Key", "Type", "Default", "Meaning"), rows)


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    return code(info.default) if info.default not in (None, (), {}) else "empty"


def _type(annotation: Any) -> str:  # noqa: ANN401  # an annotation can be any object
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    parts = [part for part in get_args(annotation) if part not in (type(None), Ellipsis)]
    if get_origin(annotation) is Literal:
        return either(parts)
    if get_origin(annotation) is tuple:
        return f"list of {_type(parts[0])}"
    if get_origin(annotation) is dict:
        return f"map of names to {_type(parts[1])}"
    return " or ".join(_type(part) for part in parts) or _WORDS[annotation]
