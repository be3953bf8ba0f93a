"""The alert sink over HTTP: a receiver of webhooks that keeps what it was sent."""

from __future__ import annotations

from typing import Any

from smoke.access.errors import UnreachableError
from smoke.access.http import Client

Json = dict[str, Any]


class Sink(Client):
    """One sink. Raises UnreachableError and RefusedError from every method."""

    def notifications(self, since: float = 0.0, alertname: str = "") -> list[Json]:
        """What was received since a Unix time, with an alert of this name, any if it is empty.

        Each has `receiver` (last part of the address that it was sent to), `receivedAt` and Alertmanager's `payload`.
        """
        params = {"since": f"{since:.3f}"} | ({"alertname": alertname} if alertname else {})
        try:
            found: list[Json] = self.json("/notifications", params)["notifications"]
        except (KeyError, TypeError) as error:
            raise UnreachableError(f"{self.name} /notifications", "the answer is not its JSON") from error
        return found
