"""Prometheus over HTTP: its query API, its own account of itself, its own metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import requests

from smoke import limits
from smoke.access import exposition
from smoke.access.errors import RefusedError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]

SERVER_ERROR = 500
# Prometheus answers 503 while it replays its log and 422 when a query cannot be executed.
RETRY = frozenset({408, 429})


class Prometheus:
    """A client of one Prometheus.

    locate: gives the base address at each call, because a port-forward may have moved. broken: told when a
    connection failed. Raises UnreachableError (no answer, 5xx) and RefusedError from every method.
    """

    def __init__(self, locate: Callable[[], str], broken: Callable[[], None], *, use_proxies: bool) -> None:
        self._locate = locate
        self._broken = broken
        self._session = requests.Session()
        # A forward on loopback must not be sent to the proxy that the environment names.
        self._session.trust_env = use_proxies

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def query(self, expression: str, at: float | None = None, lookback: float | None = None) -> list[Json]:
        """The result of an instant query at Unix time `at`, by default the server's now.

        lookback: seconds after which a series without a new sample is gone; by default the server's five minutes.
        Series of a target that vanished while Prometheus was down carry no mark of their end and live that long.
        """
        params = {"query": expression} | ({} if at is None else {"time": f"{at:.3f}"})
        params |= {} if lookback is None else {"lookback_delta": f"{lookback:.0f}"}
        result: list[Json] = self._data("/api/v1/query", params)["result"]
        return result

    def scalar(self, expression: str) -> float:
        """The value of an expression of type scalar, for example `time()`."""
        return float(self._data("/api/v1/query", {"query": expression})["result"][1])

    def targets(self) -> Json:
        """Active and dropped targets."""
        data: Json = self._data("/api/v1/targets", {"state": "any"})
        return data

    def rule_groups(self) -> list[Json]:
        """Rule groups with their rules, health and last evaluation."""
        groups: list[Json] = self._data("/api/v1/rules")["groups"]
        return groups

    def metadata(self) -> dict[str, list[Json]]:
        """Metric family → what its targets say of it."""
        data: dict[str, list[Json]] = self._data("/api/v1/metadata")
        return data

    def label_names(self, since: float) -> list[str]:
        """Label names that may have been in use since this Unix time; a superset."""
        names: list[str] = self._data("/api/v1/labels", {"start": f"{since:.3f}"})
        return names

    def flags(self) -> dict[str, str]:
        """Command-line flags and their values."""
        data: dict[str, str] = self._data("/api/v1/status/flags")
        return data

    def configuration(self) -> str:
        """The configuration that runs, as YAML, with every default filled in."""
        text: str = self._data("/api/v1/status/config")["yaml"]
        return text

    def runtime(self) -> Json:
        """Start time, storage retention, reload status."""
        data: Json = self._data("/api/v1/status/runtimeinfo")
        return data

    def build(self) -> Json:
        """Version and revision of the program."""
        data: Json = self._data("/api/v1/status/buildinfo")
        return data

    def ready(self) -> bool:
        """Whether it says that it is ready; raises as the others while it does not."""
        return self._get("/-/ready").ok

    def own_metrics(self) -> list[exposition.Sample]:
        """What it exposes about itself, read directly and not through a scrape."""
        try:
            return exposition.parse(self._get("/metrics").text)
        except ValueError as error:
            raise UnreachableError("Prometheus /metrics", str(error)) from error

    def _data(self, path: str, params: dict[str, str] | None = None) -> Any:  # noqa: ANN401  # shapes differ by path
        try:
            return self._get(path, params).json()["data"]
        except (ValueError, KeyError, TypeError) as error:
            raise UnreachableError(f"Prometheus {path}", "the answer is not its JSON") from error

    def _get(self, path: str, params: dict[str, str] | None = None) -> requests.Response:
        subject = f"Prometheus {path}"
        try:
            timeout = (limits.CONNECT, limits.REQUEST)
            answer = self._session.get(self._locate() + path, params=params, timeout=timeout)
        except requests.RequestException as error:
            self._broken()
            raise UnreachableError(subject, f"{type(error).__name__}: {error}") from error
        if answer.ok:
            return answer
        message = f"HTTP {answer.status_code}: {answer.text[:300]}"
        if answer.status_code >= SERVER_ERROR or answer.status_code in RETRY:
            raise UnreachableError(subject, message)
        raise RefusedError(subject, message, answer.status_code)
