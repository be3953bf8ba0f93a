"""Judges boards and datasources together before anything is registered: Grafana shows an empty panel, and no error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from components.errors import DeployError
from components.grafana.datasources import datasources

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from components.grafana.datasources import Stores

_OWN: Final = frozenset({"-- Grafana --", "grafana", "-- Mixed --", "-- Dashboard --"})
"""Datasources that are in every Grafana."""
_PLACEHOLDER: Final = "${DS_"
"""Stands in a board that was exported for others: provisioning fills it in with nothing."""


def lint(stores: Stores, boards: Mapping[str, str]) -> None:
    """Raises DeployError with everything that would leave a panel empty, or one board in the place of another."""
    known = frozenset(source.uid for source in datasources(stores))
    found = list(complaints(known, boards))
    if found:
        raise DeployError("boards of Grafana:\n" + "\n".join(f"- {line}" for line in found))


def complaints(known: frozenset[str], boards: Mapping[str, str]) -> Iterator[str]:
    """known: uids of datasources. boards: file name → JSON."""
    seen: dict[tuple[str, str], str] = {}
    for file, text in sorted(boards.items()):
        if _PLACEHOLDER in text:
            yield f"{file} has `{_PLACEHOLDER}…}}`, which nobody fills in; accepted is the uid of a datasource"
        board = json.loads(text)
        if "__inputs" in board:
            yield f"{file} has `__inputs`, which nobody fills in; accepted is a board as it is, not one for sharing"
        for key in ("uid", "title"):
            value = str(board.get(key) or "")
            if not value:
                yield f"{file} has no {key}; accepted is one that never changes"
            elif (key, value) in seen:
                yield f"{file} has the {key} `{value}` of {seen[key, value]}; accepted is each once"
            seen[key, value] = file
        for title, uid in sorted(set(_asked(board, ""))):
            if uid not in known | _OWN:
                where = f"panel `{title}` of {file}" if title else file
                yield f"{where} asks datasource `{uid}`; this stack has {', '.join(sorted(known))}"


def _asked(found: Any, title: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401  # whatever a JSON file may hold
    """(title of the panel, uid) of each datasource that is named anywhere below."""
    if isinstance(found, list):
        for one in found:
            yield from _asked(one, title)
    if isinstance(found, dict):
        title = str(found.get("title") or title) if "targets" in found else title
        source = found.get("datasource")
        if isinstance(source, dict):
            yield title, str(source.get("uid"))
        elif isinstance(source, str):
            yield title, source
        for one in found.values():
            yield from _asked(one, title)
