"""Sends OTLP over HTTP as fast as it is taken: what is refused is sent again, as clients of OTLP do."""

from __future__ import annotations

import http.client
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from tests.bench.errors import BenchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tests.bench.telemetry.plan import Plan

AGAIN: Final = (
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
)
"""Answers after which a client sends again."""
_PAUSES: Final = (0.05, 0.1, 0.2, 0.5)
_SECONDS: Final = 60.0
_HEADERS: Final = {"Content-Type": "application/x-protobuf"}


@dataclass(frozen=True, kw_only=True)
class Sent:
    """groups: how many were sent, the first ones. seconds: from the first byte to the last answer.

    refused: requests that had to be sent again, each time.
    """

    groups: int
    seconds: float
    refused: int


class Connection:
    """One connection that stays open."""

    def __init__(self, address: str, patience: float) -> None:
        """address: `host:port`. patience: seconds for which a request is sent again and again."""
        self._http, self._patience = http.client.HTTPConnection(address, timeout=_SECONDS), patience
        self.refused = 0

    def send(self, path: str, body: bytes) -> None:
        """Until it is taken. Raises BenchError when it is not, or never."""
        deadline, tries = time.monotonic() + self._patience, 0
        while (answer := self._post(path, body))[0] != HTTPStatus.OK:
            status, text = answer
            if status not in AGAIN or time.monotonic() > deadline:
                raise BenchError(f"{path} was answered with {status}: {text[:300]!r}")
            self.refused += 1
            time.sleep(_PAUSES[min(tries, len(_PAUSES) - 1)])
            tries += 1

    def close(self) -> None:
        """End it."""
        self._http.close()

    def _post(self, path: str, body: bytes) -> tuple[int, bytes]:
        try:
            self._http.request("POST", path, body, _HEADERS)
            answer = self._http.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            # Sent again it might come twice, and then nothing balances.
            raise BenchError(f"{path} was not answered: {type(error).__name__}: {error}") from error


def send_all(address: str, path: str, groups: Sequence[Sequence[bytes]], plan: Plan) -> Sent:
    """Everything, or what is taken in the plan's longest time; requests of a group one after the other.

    Raises BenchError.
    """
    begun = time.monotonic()
    todo = _Shared(groups, begun + plan.longest)
    with ThreadPoolExecutor(plan.senders) as pool:
        try:
            done = [pool.submit(_work, address, path, todo, plan.patience) for _ in range(plan.senders)]
            refused = sum(one.result() for one in done)
        except BaseException:
            todo.end()  # the pool waits for its threads
            raise
    return Sent(groups=todo.count, seconds=time.monotonic() - begun, refused=refused)


def _work(address: str, path: str, todo: _Shared, patience: float) -> int:
    connection = Connection(address, patience)
    try:
        for group in todo:
            for body in group:
                connection.send(path, body)
    finally:
        connection.close()
    return connection.refused


class _Shared:
    """Hands each group to one thread, in order. count: handed out so far."""

    def __init__(self, groups: Iterable[Sequence[bytes]], deadline: float) -> None:
        self._groups, self._deadline, self._lock = iter(groups), deadline, threading.Lock()
        self.count = 0

    def __iter__(self) -> Iterator[Sequence[bytes]]:
        """Until none is left, or no time."""
        while (group := self._next()) is not None:
            yield group

    def end(self) -> None:
        """Hand out no more."""
        with self._lock:
            self._groups = iter(())

    def _next(self) -> Sequence[bytes] | None:
        with self._lock:
            if time.monotonic() > self._deadline and self.count:
                return None
            group = next(self._groups, None)
            self.count += group is not None
            return group
