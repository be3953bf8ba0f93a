"""Objects through SwanLab, as the SDK puts them and pages get them, and the same straight into its store."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tests.bench.experiments.figures import Media, Rate
from tests.bench.experiments.http import in_turn, side_by_side

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smoke.access.swanlab import Target
    from tests.bench.experiments.api import Api
    from tests.bench.experiments.http import Http
    from tests.bench.experiments.machine import Phases
    from tests.bench.experiments.plan import Clock, Plan
    from tests.bench.experiments.stores import Store

IMAGE: Final = "bench/image"
_TYPE: Final = {"Content-Type": "image/png"}


@dataclass
class Objects:
    """What is put and must come back. wrong: numbers of those that came back with other bytes."""

    contents: list[bytes]
    wrong: set[int] = field(default_factory=set)

    @classmethod
    def made(cls, plan: Plan) -> Objects:
        """Bytes that nothing compresses, the same in each bench."""
        return cls([random.Random(number).randbytes(plan.size) for number in range(plan.objects)])  # noqa: S311  # repeatable, no secret

    def check(self, number: int, content: bytes) -> None:
        """Compare what was read."""
        if content != self.contents[number]:
            self.wrong.add(number)


class MediaBench:
    """Writes, then reads: first through SwanLab, then of the store. Raises BenchError."""

    def __init__(self, plan: Plan, http: Http, clock: Clock, phases: Phases, word: str) -> None:
        """word: of this bench, in every name."""
        self._plan, self._http, self._clock, self._phases = plan, http, clock, phases
        self._objects = Objects.made(plan)
        self._paths = [f"media/image/{number:03d}-{word}.png" for number in range(plan.objects)]
        self._names = [f"{word}/{number:03d}.png" for number in range(plan.objects)]

    def measure(self, api: Api, target: Target, store: Store) -> Media:
        """All of it. target: a run of the bench with the column IMAGE."""
        plan, addresses = self._plan, store.addresses(self._names)
        put_ours, ours = self._put_ours(api, target)
        puts = store.places(self._names)
        with self._phases.phase("the same into the store"):
            put_theirs, theirs = self._put(puts)
        get_ours = self._get(ours, "from SwanLab", lambda number: api.media(target, self._paths[number]))
        get_theirs = self._get(theirs, "from the store", lambda number: self._fetched(addresses[number]))
        with self._phases.phase("one of them, from both"):
            latency = in_turn(
                lambda: api.media(target, self._paths[0]),
                lambda: self._fetched(addresses[0]),
                plan.samples,
                self._until("reading an object"),
            )
        return Media(
            objects=plan.objects,
            size=plan.size,
            put=(put_ours, put_theirs),
            get=(get_ours, get_theirs),
            latency=latency,
            wrong=len(self._objects.wrong),
        )

    def _put_ours(self, api: Api, target: Target) -> tuple[Rate, list[int]]:
        """As the SDK does: addresses for many, the objects themselves, then the points that name them."""
        with self._phases.phase(f"{self._plan.objects} objects of {self._plan.size // 1024} KiB through SwanLab"):
            begun = time.monotonic()
            _, done = self._put(api.places(target, self._paths))
            api.show(target, IMAGE, [self._paths[number] for number in sorted(done)])
            return Rate(len(done), time.monotonic() - begun), done

    def _put(self, places: Sequence[str]) -> tuple[Rate, list[int]]:
        def put(number: int) -> None:
            self._http.ask("PUT", places[number], data=self._objects.contents[number], headers=_TYPE)

        until = self._until("writing objects")
        done, seconds = side_by_side(self._plan.threads, range(self._plan.objects), put, until)
        return Rate(len(done), seconds), done

    def _get(self, numbers: Sequence[int], whence: str, fetch: Callable[[int], bytes]) -> Rate:
        with self._phases.phase(f"all of them {whence}"):
            until = self._until("reading objects")
            done, seconds = side_by_side(
                self._plan.threads, numbers, lambda number: self._objects.check(number, fetch(number)), until
            )
            return Rate(len(done), seconds)

    def _fetched(self, address: str) -> bytes:
        return bytes(self._http.ask("GET", address).content)

    def _until(self, what: str) -> float:
        return self._clock.within(self._plan.loop, what)
