"""Requests of the bench: connections that stay open, one thread each, and answers that must be good."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, Final, TypeVar

import requests

from tests.bench.errors import BenchError
from tests.bench.experiments.figures import Both, Latency

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Task = TypeVar("Task")
PATIENCE: Final = 60.0
"""Seconds that an answer may take, as in the SDKs."""
_SHOWN: Final = 300


class Http:
    """Requests of any thread. Errors never quote the query of an address: it may be a key."""

    def __init__(self) -> None:
        """Nothing need be reachable yet."""
        self._local = threading.local()

    def ask(self, method: str, url: str, **more: Any) -> requests.Response:  # noqa: ANN401  # as requests takes them
        """A good answer. Raises BenchError for any other."""
        subject = f"{method} {url.partition('?')[0]}"
        try:
            answer = self._session().request(method, url, timeout=PATIENCE, **more)
        except requests.RequestException as error:
            raise BenchError(f"{subject}: no answer ({type(error).__name__})") from error
        if not answer.ok:
            raise BenchError(f"{subject}: HTTP {answer.status_code}: {answer.text[:_SHOWN]}")
        return answer

    def _session(self) -> requests.Session:
        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
            self._local.session.trust_env = False  # the machine's proxies are not meant for its own cluster
        session: requests.Session = self._local.session
        return session


def side_by_side(
    threads: int, tasks: Iterable[Task], do: Callable[[Task], object], until: float
) -> tuple[list[Task], float]:
    """Do the tasks, each thread taking the next one. Gives those that were done, and the seconds that it took.

    until: no task is begun after this moment (time.monotonic). Raises what the first task raised that failed.
    """
    waiting, done, lock, failed = iter(tasks), [], threading.Lock(), threading.Event()

    def work() -> None:
        while not failed.is_set() and time.monotonic() < until:
            with lock:
                task = next(waiting, _NOTHING)
            if task is _NOTHING:
                return
            try:
                do(task)  # type: ignore[arg-type]  # the mark of the end is gone
            except BaseException:
                failed.set()
                raise
            with lock:
                done.append(task)

    begun = time.monotonic()
    with ThreadPoolExecutor(threads) as pool:
        workers = [pool.submit(work) for _ in range(threads)]
        try:
            wait(workers)
        except BaseException:  # Ctrl-C: nothing more is begun
            failed.set()
            raise
    seconds = time.monotonic() - begun
    for worker in workers:
        worker.result()
    return done, seconds  # type: ignore[return-value]  # the mark of the end is gone


def in_turn(ours: Callable[[], object], store: Callable[[], object], samples: int, until: float) -> Both:
    """Latencies of two questions, asked one after the other, so that both see the same load of the machine.

    The first pair is thrown away. until: the moment after which no pair is begun.
    """
    times: tuple[list[float], list[float]] = ([], [])
    ours(), store()
    while len(times[0]) < samples and time.monotonic() < until:
        for kept, question in zip(times, (ours, store), strict=True):
            begun = time.perf_counter()
            question()
            kept.append((time.perf_counter() - begun) * 1000)
    return Both(Latency(tuple(times[0])), Latency(tuple(times[1])))


_NOTHING: Final = object()
