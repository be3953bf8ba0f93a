"""The reference page of the outputs contract."""

from __future__ import annotations

import dataclasses
import inspect
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from signals.alertmanager_config import Receiver, Webhook
from signals.rules.inputs import RecoveryAims, RuleInputs, TelemetryPlans
from signals.thresholds import Thresholds
from stacks import contract as source
from stacks.contract import CAPABILITIES, CONTRACT_CONFIGMAP, CONTRACT_KEY, Contract, Part
from tests.offline.docs.table import code, either, slug, table

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

HEAD = f"""# Outputs contract, version {Contract.model_fields["version"].default}

What a deployed stack promises. `make up` writes it to `.out/<stack>/contract.json`; the cluster has it as key
`{CONTRACT_KEY}` of ConfigMap `{CONTRACT_CONFIGMAP}`; Pulumi as output `contract`. The smoke suite knows a stack by this
document alone. It names secrets and never holds their values. An unknown key is an error.

"""
_WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false"}


_RECORDS = (RuleInputs, RecoveryAims, TelemetryPlans, Receiver, Webhook)
"""Parts that signals/ defines, as data classes."""
_LINKS = {Thresholds: f"[settings](settings.md#{slug('plumbline:thresholds')})"}


def contract() -> str:
    """The page: the whole first, then its parts in the order in which it names them."""
    parts = "".join(f"## {part.__name__}\n\n{_doc(part)}\n\n{_table(part)}" for part in (*_parts(), *_RECORDS))
    meanings = [(code(name), meaning) for name, meaning in CAPABILITIES.items()]
    return HEAD + parts + "## Capabilities\n\n" + table(("Capability", "What the stack claims"), meanings)


def _parts() -> list[type[BaseModel]]:
    defined = [m for m in vars(source).values() if inspect.isclass(m) and issubclass(m, Part) and m is not Part]
    return [Contract, *(model for model in defined if model is not Contract)]


def _doc(part: type) -> str:
    return inspect.cleandoc(part.__doc__ or "")


def _table(part: type) -> str:
    return table(("Key", "Type", "Default", "Meaning"), _rows(part))


def _rows(part: type) -> list[tuple[str, ...]]:
    if issubclass(part, BaseModel):
        fields = part.model_fields.items()
        return [(code(name), _type(info.annotation), _of_model(info), info.description or "") for name, info in fields]
    assert dataclasses.is_dataclass(part)
    hints = get_type_hints(part)
    return [(code(f.name), _type(hints[f.name]), _of_record(f), "") for f in dataclasses.fields(part)]


def _of_model(info: FieldInfo) -> str:
    return "required" if info.is_required() else _default(info.default)


def _of_record(field: dataclasses.Field[Any]) -> str:
    if field.default_factory is not dataclasses.MISSING:
        return "as in the settings" if field.default_factory() else "empty"
    return "required" if field.default is dataclasses.MISSING else _default(field.default)


def _default(value: object) -> str:
    return code(value) if value not in (None, (), {}, "") else "empty"


def _type(annotation: Any) -> str:  # noqa: ANN401  # an annotation can be any object
    if annotation in _LINKS:
        return _LINKS[annotation]
    if inspect.isclass(annotation) and (issubclass(annotation, BaseModel) or annotation in _RECORDS):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    parts = [part for part in get_args(annotation) if part not in (type(None), Ellipsis)]
    if get_origin(annotation) is Literal:
        return either(parts)
    if get_origin(annotation) is tuple:
        return f"list of {_type(parts[0])}"
    if get_origin(annotation) is dict:
        return f"map of names to {_type(parts[1])}"
    return " or ".join(_type(part) for part in parts) or _WORDS[annotation]
