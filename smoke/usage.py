"""What every command of smoke is given: the outputs contract of a stack, and a kubeconfig for its cluster."""

from __future__ import annotations

from os import environ
from pathlib import Path

from pydantic import ValidationError

from stacks.contract import Contract


class UsageError(Exception):
    """The command or its contract cannot be used as given."""


def read_contract(path: Path) -> Contract:
    """The contract of the stack. Raises UsageError."""
    try:
        return Contract.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the contract {path} cannot be read ({error}); `make up` writes it") from error
    except ValidationError as error:
        raise UsageError(f"{path} is not a contract of this version: {error}") from error


def default_kubeconfig() -> Path:
    """The user's kubeconfig. Which cluster of it is meant is never left to its current context. Raises UsageError."""
    named = [part for part in environ.get("KUBECONFIG", "").split(":") if part]
    if len(named) > 1:
        raise UsageError("KUBECONFIG names several files; choose one with --kubeconfig")
    return Path(named[0]) if named else Path.home() / ".kube" / "config"
