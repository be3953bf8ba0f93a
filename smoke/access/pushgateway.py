"""Pushgateway over HTTP."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from smoke.access.errors import UnreachableError
from smoke.access.http import Client

Json = dict[str, Any]


class Pushgateway(Client):
    """One Pushgateway. Raises UnreachableError and RefusedError from every method."""

    def groups(self) -> list[dict[str, str]]:
        """Labels of every group that it holds."""
        try:
            return [dict(group["labels"]) for group in self.json("/api/v1/metrics")["data"] or []]
        except (KeyError, TypeError) as error:
            raise UnreachableError(f"{self.name} /api/v1/metrics", "the answer is not its JSON") from error

    def flags(self) -> dict[str, str]:
        """Command-line flags and their values."""
        try:
            return dict(self.json("/api/v1/status")["data"]["flags"])
        except (KeyError, TypeError) as error:
            raise UnreachableError(f"{self.name} /api/v1/status", "the answer is not its JSON") from error

    def push(self, job: str, instance: str, text: str) -> None:
        """Make `text`, in the text format, the whole content of a group."""
        self.ask("PUT", _path(job, instance), body=text)

    def delete(self, job: str, instance: str) -> None:
        """Delete a group; one that does not exist is fine."""
        self.ask("DELETE", _path(job, instance))


def _path(job: str, instance: str) -> str:
    return f"/metrics/job/{quote(job, safe='')}/instance/{quote(instance, safe='')}"
