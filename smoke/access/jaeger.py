"""Jaeger over HTTP: traces by id and by service, in the form of its own interface."""

from __future__ import annotations

import json
from typing import Any

from smoke.access.errors import RefusedError, UnreachableError
from smoke.access.http import Client

Json = dict[str, Any]

NOT_FOUND = 404
LOOKBACK = "1h"
MICRO = 1_000_000


class Jaeger(Client):
    """One Jaeger. Raises UnreachableError and RefusedError from every method.

    A trace: `traceID`, `spans` (spanID, operationName, references, startTime and duration in microseconds, tags, logs,
    processID) and `processes` (id → serviceName, tags).
    """

    def trace(self, trace_id: str) -> Json | None:
        """The trace with this id, None if it is not there."""
        try:
            found = self._data(f"/api/traces/{trace_id}")
        except RefusedError as error:
            if error.status == NOT_FOUND:
                return None
            raise
        return found[0] if found else None

    def search(self, service: str, limit: int) -> list[Json]:
        """Traces of the last hour in which this service has a span, whole, as many as `limit` at most."""
        return self._data("/api/traces", {"service": service, "limit": str(limit), "lookback": LOOKBACK})

    def tagged(self, service: str, tags: dict[str, str], begin: float, end: float, limit: int) -> list[Json]:
        """Traces between two Unix times in which a span of this service has all these tags, at most `limit`."""
        times = {"start": f"{begin * MICRO:.0f}", "end": f"{end * MICRO:.0f}"}
        asked = {"service": service, "tags": json.dumps(tags), "limit": str(limit), **times}
        return self._data("/api/traces", asked)

    def operations(self, service: str) -> list[str]:
        """Names of spans of a service."""
        return [str(name) for name in self._data(f"/api/services/{service}/operations")]

    def services(self) -> list[str]:
        """Names of services."""
        return [str(name) for name in self._data("/api/services")]

    def _data(self, path: str, params: dict[str, str] | None = None) -> list[Any]:
        try:
            found = self.json(path, params)["data"]
        except (KeyError, TypeError) as error:
            raise UnreachableError(f"{self.name} {path}", "the answer is not its JSON") from error
        # "Nothing" is written as null for some questions and as an empty list for others.
        if not isinstance(found, list | None):
            raise UnreachableError(f"{self.name} {path}", "the answer is not its JSON")
        return found or []
