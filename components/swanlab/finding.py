"""What a rule over the chart's values finds, and what it is told besides them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Values = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A broken rule. code: its name, for people to search. message: what, where, what is accepted, what to do."""

    code: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Context:
    """durable: the data must outlive a mistake. known: the chart's own values, None where it could not be asked.

    credentialed: stores whose password the engine adds to the values, as a secret.
    """

    durable: bool
    known: Values | None = None
    credentialed: frozenset[str] = frozenset()


def at(found: Values, path: str) -> Any:  # noqa: ANN401  # values hold anything
    """The value at a dotted path; None if there is none."""
    here: Any = found
    for key in path.split("."):
        here = here.get(key) if isinstance(here, dict) else None
    return here
