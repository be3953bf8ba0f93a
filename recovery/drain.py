"""Wait until the delivery buffer has stored everything.

Vector's figures are some seconds old: two readings count that lie `settle` seconds apart, in the second of which its
age has grown.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import requests

from recovery.errors import RecoveryError
from recovery.kube import ApiError, path_of, selector
from recovery.vector import Reading, UnreadableError, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recovery.kube import Api
    from recovery.ports import Tell

_TIMEOUT_SECONDS: Final = (5.0, 15.0)
_MOST_BYTES: Final = 16 * 1024**2
_READINGS: Final = 10
_UNSURE: Final = "holds nothing; waiting for a second reading that is newer and equal"


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where the buffer is. addresses: of its metrics; without any, they are those of its pods."""

    namespace: str
    buffer: str
    addresses: tuple[str, ...]
    port: int


class Delivery:
    """The delivery buffer. Its account needs get of statefulsets and, without addresses, list of pods."""

    def __init__(self, api: Api, place: Place, pace: float) -> None:
        """pace: seconds between two readings."""
        self._api = api
        self._place = place
        self._pace = pace
        self._last: dict[str, Reading] = {}

    def read(self) -> tuple[Reading, ...]:
        """One reading of each process. Raises UnreadableError if one cannot be had now, RecoveryError if never."""
        try:
            addresses = self._addresses()
        except ApiError as error:
            if error.passing:
                raise UnreadableError(str(error)) from error
            raise
        return tuple(self._remembered(parse(where, _page(where))) for where in addresses)

    def now(self) -> tuple[Reading, ...]:
        """The same, tried a few times."""
        for _ in range(_READINGS):
            try:
                return self.read()
            except UnreadableError:
                time.sleep(self._pace)
        return self.read()

    def drain(self, deadline: float, settle: float, tell: Tell) -> tuple[Reading, ...]:
        """Wait until all is stored. deadline: of `time.monotonic`. Raises RecoveryError saying what is left by then."""
        first: tuple[Reading, ...] | None = None
        since, told, problem = 0.0, "", "no reading"
        while True:
            try:
                now = self.read()
            except UnreadableError as error:
                first, problem = None, str(error)
            else:
                rest = _rest(now)
                if rest:
                    first, problem = None, "; ".join(rest)
                elif first is None or not _same(first, now):
                    first, since, problem = now, time.monotonic(), _UNSURE
                elif time.monotonic() - since >= settle and all(
                    a.uptime > b.uptime for a, b in zip(now, first, strict=True)
                ):
                    tell(f"{self._place.buffer}: everything is stored")
                    return now
            if time.monotonic() > deadline:
                raise RecoveryError(self._late(problem))
            if problem != told:
                told = problem
                tell(f"{self._place.buffer}: {problem}")
            time.sleep(self._pace)

    def still_drained(self, before: Sequence[Reading]) -> int:
        """How many events were lost since. Raises RecoveryError if events came in since, or if that cannot be read."""
        now = self.now()
        known = {reading.where: reading for reading in before}
        for reading in now:
            earlier = known.get(reading.where)
            restarted = earlier is None or reading.uptime < earlier.uptime
            moved = reading.taken > 0 if earlier is None or restarted else reading.counts != earlier.counts
            if reading.rest or moved:
                raise RecoveryError(
                    f"delivery buffer {self._place.buffer} took events while the point was taken "
                    f"({'; '.join(reading.rest) or 'its counters moved'}): parts may be of different moments, so it is "
                    "not kept; find who else writes to it, then try again"
                )
        return sum(reading.lost for reading in now) - sum(reading.lost for reading in before)

    def _late(self, problem: str) -> str:
        return (
            f"delivery buffer {self._place.buffer} did not drain in time: {problem}; no point is taken; look whether "
            "ClickHouse takes inserts and at the buffer's log, or raise quiesce.seconds. A figure that stays for hours "
            "although nothing is written is one that Vector lost count of: restart the buffer, its disk keeps events"
        )

    def _remembered(self, reading: Reading) -> Reading:
        """With what was last seen of a buffer that tells nothing any more: silence is no proof that it is empty."""
        last = self._last.get(reading.where)
        old = last.held if last is not None and reading.uptime >= last.uptime else {}
        held = {name: old.get(name) if count is None else count for name, count in reading.held.items()}
        known = replace(reading, held=held)
        self._last[reading.where] = known
        return known

    def _addresses(self) -> tuple[str, ...]:
        place = self._place
        found = self._api.ask(
            "get", "statefulsets", path_of("apis/apps/v1", place.namespace, "statefulsets", place.buffer)
        )
        replicas = int(found["spec"].get("replicas", 1))
        if not replicas:
            raise RecoveryError(
                f"StatefulSet {place.buffer} has no replicas: what lies on its disks cannot be delivered; scale it up"
            )
        addresses = place.addresses or self._pods(selector(found["spec"]["selector"]))
        if len(addresses) != replicas:
            kind = RecoveryError if place.addresses else UnreadableError
            raise kind(
                f"StatefulSet {place.buffer} has {replicas} replicas and {len(addresses)} addresses of metrics; every "
                "one has a disk of its own and must be read: wait until all run, or leave quiesce.buffer_metrics empty"
            )
        return addresses

    def _pods(self, labels: str) -> tuple[str, ...]:
        listed = self._api.ask("list", "pods", path_of("api/v1", self._place.namespace, "pods", labelSelector=labels))
        running = (
            pod["status"]["podIP"]
            for pod in listed.get("items") or ()
            if pod.get("status", {}).get("phase") == "Running" and pod["status"].get("podIP")
        )
        hosts = sorted(f"[{ip}]" if ":" in ip else ip for ip in running)
        return tuple(f"http://{host}:{self._place.port}/metrics" for host in hosts)


def _rest(readings: Sequence[Reading]) -> tuple[str, ...]:
    return tuple(sentence for reading in readings for sentence in reading.rest)


def _same(one: Sequence[Reading], other: Sequence[Reading]) -> bool:
    return [(r.where, r.counts) for r in one] == [(r.where, r.counts) for r in other]


def _page(where: str) -> str:
    session = requests.Session()
    session.trust_env = False
    try:
        with session, session.get(where, timeout=_TIMEOUT_SECONDS, stream=True) as answer:
            answer.raise_for_status()
            content = answer.raw.read(_MOST_BYTES + 1, decode_content=True)
    except (requests.RequestException, OSError) as error:
        raise UnreadableError(
            f"metrics of the delivery buffer at {where} cannot be read ({type(error).__name__})"
        ) from error
    if len(content) > _MOST_BYTES:
        raise UnreadableError(f"{where} gives more than {_MOST_BYTES} bytes, which are not metrics of one buffer")
    return bytes(content).decode("utf-8", "replace")
