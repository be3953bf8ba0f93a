"""List, then watch, and start over when the server says that time has passed on without us."""

from __future__ import annotations

import logging
import random
from typing import TYPE_CHECKING, Final

from sandbox.workloads.kube_state_metrics.api import GONE, ApiError

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from sandbox.workloads.kube_state_metrics.api import Api
    from sandbox.workloads.kube_state_metrics.model import Object
    from sandbox.workloads.kube_state_metrics.store import Store
    from sandbox.workloads.kube_state_metrics.telemetry import Counters

_log = logging.getLogger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE = 0.8, 30.0
_WATCH_SECONDS: Final = (300, 600)
_TOO_MANY: Final = 429


class Backoff:
    """Pauses that double from 0.8 s to 30 s, each stretched by up to its own length, as client-go's reflector does."""

    def __init__(self, stretch: Callable[[], float] = random.random) -> None:
        """Start short. stretch: a number from 0 to 1 at each call."""
        self._stretch, self._next = stretch, _FIRST_PAUSE

    def pause(self) -> float:
        """Seconds to wait now; the following pause is twice as long."""
        current, self._next = self._next, min(self._next * 2, _LONGEST_PAUSE)
        return current * (1 + self._stretch())

    def reset(self) -> None:
        """Start short again: the server answered."""
        self._next = _FIRST_PAUSE


class Reflector:
    """Keeps one store equal to one resource, in one namespace or in all."""

    def __init__(self, api: Api, path: str, store: Store, counters: Counters, backoff: Backoff) -> None:
        """Nothing is asked yet."""
        self._api, self._path, self._store, self._counters, self._backoff = api, path, store, counters, backoff
        self._version = ""
        self.listed = False
        """Whether a list has ever succeeded."""

    def run(self, stop: threading.Event) -> None:
        """Follow the resource until `stop`. Failures of the server are logged and tried again, without end."""
        while not stop.is_set():
            try:
                if not self._version:
                    self._list()
                quiet = self._watch(stop)
            except ApiError as error:
                self._fail(error)
                quiet = True
            if quiet:  # a server that ends every watch at once must not be asked in a loop
                stop.wait(self._backoff.pause())

    def _fail(self, error: ApiError) -> None:
        if error.status == GONE:
            _log.info("%s: the watched version is gone, listing again", self._path)
        else:
            _log.error("cannot follow %s: %s", self._path, error)
        if error.status not in {0, _TOO_MANY}:  # a broken connection loses no events; every other answer might
            self._version = ""

    def _list(self) -> None:
        try:
            objects, version = self._api.list(self._path)
        except ApiError:
            self._counters.listed(self._store.resource.type, "error")
            raise
        self._counters.listed(self._store.resource.type, "success")
        self._store.replace(objects)
        self._version, self.listed = version, True
        self._backoff.reset()

    def _watch(self, stop: threading.Event) -> bool:
        """Follow one watch to its end; whether it brought nothing."""
        quiet, opened = True, False
        try:
            seconds = random.randint(*_WATCH_SECONDS)  # noqa: S311  # spreads load, no secret
            with self._api.watch(self._path, self._version, seconds) as events:
                opened = True
                self._counters.watched(self._store.resource.type, "success")
                for event in events:
                    if stop.is_set():
                        break
                    self._apply(event)
                    self._backoff.reset()
                    quiet = False
        except ApiError:
            if not opened:
                self._counters.watched(self._store.resource.type, "error")
            raise
        return quiet

    def _apply(self, event: Object) -> None:
        kind, obj = str(event.get("type")), event.get("object") or {}
        if kind == "ERROR":
            raise ApiError(self._path, int(obj.get("code") or 500), str(obj.get("message") or "error without message"))
        if kind in {"ADDED", "MODIFIED"}:
            self._store.put(obj)
        elif kind == "DELETED":
            self._store.remove(obj)
        elif kind != "BOOKMARK":
            raise ApiError(self._path, 500, f"event of unknown type {kind!r}")
        self._version = str(obj["metadata"]["resourceVersion"])
