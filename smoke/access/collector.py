"""What one pod of a collector, or of another program with metrics, exposes: read from the pod, not through a scrape."""

from __future__ import annotations

from smoke.access.http import Client

OPENMETRICS = "application/openmetrics-text; version=1.0.0"
"""The format in which exemplars are told."""


class Page(Client):
    """The metrics of one pod. Raises UnreachableError and RefusedError from every method."""

    def text(self) -> str:
        """The page as it is, exemplars and descriptions included."""
        self._session.headers["accept"] = OPENMETRICS
        try:
            return self.ask("GET", "/metrics").text
        finally:
            del self._session.headers["accept"]
