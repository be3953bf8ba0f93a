"""The configuration file, parsed once: JSON, with secrets as paths of files and never as values."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, HttpUrl, ValidationError

from recovery.cross import Between
from recovery.errors import RecoveryError
from recovery.model import Record
from recovery.quiet import Settings as Quiesce
from recovery.registry import KINDS
from recovery.vault.retention import Rule
from recovery.vault.settings import Target

if TYPE_CHECKING:
    from recovery.ports import Store


class Periods(Record):
    """How often each job means to succeed, in seconds: what it is watched by."""

    create: int = Field(ge=60)
    verify: int = Field(ge=60)
    prune: int = Field(ge=60)


class Config(Record):
    """The whole file.

    stores: sections of live stores. scratch: of the short-lived ones of a verification, which have the names of the
    live ones. cross_check: scratch stores that belong together, None for none.
    """

    stack: str = Field(min_length=1)
    cluster_uid: str = Field(min_length=1)
    target: Target
    recovery_public_key: str | None = None
    work: Path
    metrics_url: HttpUrl | None = None
    period_seconds: Periods
    retention: Rule
    rpo_seconds: int = Field(ge=1)
    rto_seconds: int = Field(ge=1)
    quiesce: Quiesce | None = None
    cross_check: Between | None = None
    stores: tuple[dict[str, Any], ...] = ()
    scratch: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Opened:
    """The configuration with its stores. One is opened, and its keys are read, by whoever asks for it: no pod has all.

    sections, scratch_sections: of the live stores and of the scratch ones, each of the type of its kind.
    """

    config: Config
    sections: tuple[Any, ...]
    scratch_sections: tuple[Any, ...]

    @cached_property
    def stores(self) -> tuple[Store, ...]:
        """The live stores. Raises RecoveryError if a key cannot be read."""
        return tuple(_open(section, self.config.work) for section in self.sections)

    @cached_property
    def scratch(self) -> tuple[Store, ...]:
        """The short-lived ones. Raises RecoveryError if a key cannot be read."""
        return tuple(_open(section, self.config.work) for section in self.scratch_sections)


def load(path: Path) -> Opened:
    """Raises RecoveryError with every fault of the file, by key; values are not shown, one could be a secret."""
    try:
        config = Config.model_validate_json(path.read_bytes())
    except OSError as error:
        raise RecoveryError(
            f"--config {path} cannot be read ({error.strerror}); name the file that is mounted"
        ) from error
    except ValidationError as error:
        raise RecoveryError(f"{path} is not a configuration: {_faults(error)}") from error
    live, scratch = _sections(path, "stores", config.stores), _sections(path, "scratch", config.scratch)
    for where, sections in (("stores", live), ("scratch", scratch)):
        names = [section.name for section in sections]
        if len(set(names)) < len(names):
            raise RecoveryError(f"{path}: {where} has a name twice: {', '.join(sorted(names))}; give each its own")
    return Opened(config, tuple(live), tuple(scratch))


def _sections(path: Path, where: str, sections: tuple[dict[str, Any], ...]) -> list[Any]:
    found = []
    for number, section in enumerate(sections):
        kind = section.get("kind")
        if kind not in KINDS:
            known = ", ".join(sorted(KINDS))
            raise RecoveryError(f"{path}: {where}[{number}].kind is {kind!r}; accepted: {known}")
        try:
            # Through JSON: lists become tuples and texts become paths, which the strict model takes from JSON alone.
            found.append(KINDS[kind].Settings.model_validate_json(json.dumps(section)))
        except ValidationError as error:
            raise RecoveryError(f"{path}: {where}[{number}] ({kind}) cannot be used: {_faults(error)}") from error
    return found


def _open(section: Any, work: Path) -> Store:  # noqa: ANN401  # a section of whichever kind
    store: Store = KINDS[section.kind].open_store(section, work)
    return store


def _faults(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(
        f"{'.'.join(str(part) for part in fault['loc']) or 'the file'}: {fault['msg']}" for fault in faults
    )
