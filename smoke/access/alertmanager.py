"""Alertmanager over HTTP."""

from __future__ import annotations

from typing import Any

from smoke.access.errors import UnreachableError
from smoke.access.http import Client

Json = dict[str, Any]


class Alertmanager(Client):
    """One Alertmanager, API version 2. Raises UnreachableError and RefusedError from every method."""

    def configuration(self) -> str:
        """The configuration that runs, as YAML with every default filled in and secrets masked."""
        try:
            return str(self.json("/api/v2/status")["config"]["original"])
        except (KeyError, TypeError) as error:
            raise UnreachableError(f"{self.name} /api/v2/status", "the answer is not its JSON") from error

    def alerts(self, matcher: str) -> list[Json]:
        """Alerts that it holds and that match, for example `proof="x"`; each with the receivers that it goes to."""
        found: list[Json] = self.json("/api/v2/alerts", {"filter": matcher})
        return found
