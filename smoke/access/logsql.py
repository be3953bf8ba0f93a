"""VictoriaLogs over HTTP: rows by LogsQL, and what the running program was told."""

from __future__ import annotations

import json
import re
from typing import Any

from smoke.access.errors import UnreachableError
from smoke.access.http import Client

FLAG = re.compile(r'^-(?P<name>[\w.]+)="(?P<value>.*)"$', re.MULTILINE)

Row = dict[str, str]


class VictoriaLogs(Client):
    """One VictoriaLogs. Raises UnreachableError and RefusedError from every method."""

    def rows(self, query: str, limit: int) -> list[Row]:
        """Rows that a query in LogsQL finds, field → text, as many as `limit` at most."""
        path = "/select/logsql/query"
        lines = self.ask("GET", path, {"query": query, "limit": str(limit)}).text.splitlines()
        try:
            return [_row(json.loads(line)) for line in lines if line]
        except ValueError as error:
            raise UnreachableError(f"{self.name} {path}", "the answer is not JSON lines") from error

    def flags(self) -> dict[str, str]:
        """Command-line flags that were set, and their values."""
        found = {flag["name"]: flag["value"] for flag in FLAG.finditer(self.ask("GET", "/flags").text)}
        if not found:
            raise UnreachableError(f"{self.name} /flags", "the answer names no flags")
        return found


def exactly(field: str, text: str) -> str:
    """A query for rows whose field is exactly this text."""
    return f"{json.dumps(field)}:={json.dumps(text)}"


def anywhere(word: str) -> str:
    """A query for rows that have this word, or a word that begins so, in any field."""
    return f"*:{json.dumps(word)}*"


def _row(found: Any) -> Row:  # noqa: ANN401  # whatever the line held
    if not isinstance(found, dict):
        raise ValueError("a line is no object")  # noqa: TRY004  # as any other line that cannot be read
    return {str(key): str(value) for key, value in found.items()}
