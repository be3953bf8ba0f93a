"""Requests to the API server: one list, one watch, one probe. Everything that goes wrong is an ApiError."""

from __future__ import annotations

import http.client
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from sandbox.workloads.kube_state_metrics.access import AccessError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sandbox.workloads.kube_state_metrics.access import Access
    from sandbox.workloads.kube_state_metrics.model import Object

_OK: Final = 200
GONE: Final = 410
"""Status of a resource version that the server no longer has."""
_REPLY_TIMEOUT: Final = 30.0
_PAGE: Final = 500


class ApiError(Exception):
    """A request that failed. status: HTTP status, 0 when no answer came. The message names the path."""

    def __init__(self, path: str, status: int, reason: str) -> None:
        """Keep the status for callers that tell failures apart."""
        super().__init__(f"GET {path}: {f'HTTP {status}, ' if status else ''}{reason}")
        self.status = status


class Api:
    """An API server. Every request has a connection of its own, so that renewed credentials are used at once."""

    def __init__(self, access: Access) -> None:
        """Nothing is sent yet."""
        self._access = access

    def list(self, path: str) -> tuple[list[Object], str]:
        """All objects at `path`, page by page, and the resource version to watch from.

        Raises ApiError, with status 410 when the list grew too old between two pages.
        """
        found: list[Object] = []
        query = {"limit": str(_PAGE)}
        while True:
            with self._answer(path, query, _REPLY_TIMEOUT) as answer:
                body = _decoded(path, answer.read())
            found += body.get("items") or []
            metadata = body.get("metadata") or {}
            if not metadata.get("continue"):
                return found, str(metadata.get("resourceVersion") or "")
            query = {"limit": str(_PAGE), "continue": str(metadata["continue"])}

    @contextmanager
    def watch(self, path: str, version: str, seconds: int) -> Iterator[Iterator[Object]]:
        """Events at `path` since `version`, until the server ends the watch after `seconds`.

        Raises ApiError, from the iterator too.
        """
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(seconds),
        }
        with self._answer(path, query, seconds + _REPLY_TIMEOUT) as answer:
            yield _lines(path, answer)

    def probe(self, path: str) -> None:
        """Ask for a health page. Raises ApiError unless it answers with 200."""
        with self._answer(path, {}, _REPLY_TIMEOUT) as answer:
            answer.read()

    @contextmanager
    def _answer(self, path: str, query: Mapping[str, str], timeout: float) -> Iterator[http.client.HTTPResponse]:
        connection = None
        try:
            connection = self._connect(timeout)
            connection.request("GET", f"{path}?{urlencode(query)}" if query else path, headers=self._headers())
            answer = connection.getresponse()
            if answer.status != _OK:
                raise ApiError(path, answer.status, _reason(answer.read()))
            yield answer
        except (OSError, http.client.HTTPException, AccessError) as error:
            raise ApiError(path, 0, str(error) or type(error).__name__) from error
        finally:
            if connection is not None:
                connection.close()

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        access = self._access
        if not access.tls:
            return http.client.HTTPConnection(access.host, access.port, timeout=timeout)
        return http.client.HTTPSConnection(access.host, access.port, timeout=timeout, context=access.context())

    def _headers(self) -> dict[str, str]:
        token = self._access.bearer()
        return {
            "Accept": "application/json",
            "User-Agent": "plumbline-kube-state-metrics",
            **({"Authorization": f"Bearer {token}"} if token else {}),
        }


def _lines(path: str, answer: http.client.HTTPResponse) -> Iterator[Object]:
    while line := answer.readline():
        yield _decoded(path, line)


def _decoded(path: str, body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError as error:
        raise ApiError(path, 0, f"answer is no JSON: {body[:80]!r}") from error
    if not isinstance(found, dict):
        raise ApiError(path, 0, f"answer is no object: {body[:80]!r}")
    return found


def _reason(body: bytes) -> str:
    """The message of a Status object, or the start of whatever else the body holds."""
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return body[:200].decode(errors="replace").strip() or "no message"
