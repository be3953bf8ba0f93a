"""HTTP with a program of the stack: through a port-forward or by an address of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import requests

from smoke import limits
from smoke.access import exposition
from smoke.access.errors import RefusedError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable

SERVER_ERROR = 500
# Prometheus answers 503 while it replays its log and 422 when a query cannot be executed.
RETRY = frozenset({408, 429})


class Client:
    """Requests to one program.

    name: how errors call it. locate: gives the base address at each call, because a port-forward may have moved.
    broken: told when a connection failed. Raises UnreachableError (no answer, 5xx) and RefusedError from every method.
    """

    def __init__(
        self, name: str, locate: Callable[[], str], broken: Callable[[], None], *, use_proxies: bool = False
    ) -> None:
        self.name = name
        self._locate = locate
        self._broken = broken
        self._session = requests.Session()
        # A forward on loopback must not be sent to the proxy that the environment names.
        self._session.trust_env = use_proxies

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def own_metrics(self) -> list[exposition.Sample]:
        """What it exposes about itself, read directly and not through a scrape."""
        try:
            return exposition.parse(self.ask("GET", "/metrics").text)
        except ValueError as error:
            raise UnreachableError(f"{self.name} /metrics", str(error)) from error

    def json(self, path: str, params: dict[str, str] | None = None) -> Any:  # noqa: ANN401  # shapes differ by path
        """The answer to a GET as JSON."""
        try:
            return self.ask("GET", path, params).json()
        except ValueError as error:
            raise UnreachableError(f"{self.name} {path}", "the answer is not its JSON") from error

    def ask(
        self, method: str, path: str, params: dict[str, str] | None = None, body: str | None = None
    ) -> requests.Response:
        """One request; `body` is sent as UTF-8."""
        subject = f"{self.name} {path}"
        try:
            answer = self._session.request(
                *(method, self._locate() + path),
                params=params,
                data=None if body is None else body.encode(),
                timeout=(limits.CONNECT, limits.REQUEST),
            )
        except requests.RequestException as error:
            self._broken()
            raise UnreachableError(subject, f"{type(error).__name__}: {error}") from error
        return accepted(subject, answer)


def accepted(subject: str, answer: requests.Response) -> requests.Response:
    """A good answer as it is. Raises UnreachableError where a later attempt may do better, else RefusedError."""
    if answer.ok:
        return answer
    message = f"HTTP {answer.status_code}: {answer.text[:300]}"
    if answer.status_code >= SERVER_ERROR or answer.status_code in RETRY:
        raise UnreachableError(subject, message)
    raise RefusedError(subject, message, answer.status_code)
