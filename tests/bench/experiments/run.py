"""The bench of experiments, phase by phase; whatever happens, what it has written is removed."""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tests.bench.errors import BenchError
from tests.bench.experiments import points, sdk
from tests.bench.experiments.api import Api
from tests.bench.experiments.figures import Both, Inserted, Rate, Report, Sender, Stored
from tests.bench.experiments.http import Http, in_turn, side_by_side
from tests.bench.experiments.machine import Phases
from tests.bench.experiments.media import IMAGE, MediaBench
from tests.bench.experiments.plan import Clock
from tests.bench.experiments.sdk_logger import key_name
from tests.bench.experiments.stores import ClickHouse, Store

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sandbox.progress import Progress
    from smoke.access.swanlab import Target
    from tests.bench.experiments.plan import Plan
    from tests.bench.experiments.points import Series
    from tests.bench.experiments.site import Site

_POLL: Final = 0.2
_FLUSH: Final = 10.0
"""Seconds after which the buffer has passed on what it had: twice its own 5."""


def run(plan: Plan, site: Site, python: Path, progress: Progress) -> Report:
    """Measure everything, and remove it. python: of the SDK's environment. Raises BenchError."""
    bench = Bench(plan, site, progress)
    try:
        bench.clean()
        return bench.ended(bench.measure(python))
    except BaseException:
        bench.clean_quietly()
        raise


@dataclass(frozen=True)
class Way:
    """Points that were sent and acknowledged. Times in seconds, as in Stored. expected: key → what must come back."""

    name: str
    wanted: int
    expected: Mapping[str, Series]
    sending: float
    lag: float


class Bench:
    """One measurement of one site. Raises BenchError from every method."""

    def __init__(self, plan: Plan, site: Site, progress: Progress) -> None:
        """Log in; nothing is written yet."""
        self._plan, self._site, self._progress = plan, site, progress
        self._http, self._word = Http(), secrets.token_hex(4)
        self._phases = Phases(lambda name: progress.say(f"    {name}"))
        self._api = Api(self._http, site)
        self._database, self._store = ClickHouse(self._http, site.database), Store(site)
        self._clock = Clock(plan.whole)
        self._load = os.getloadavg()[0]

    def measure(self, python: Path) -> Report:
        """All phases. The report does not tell yet what is left behind."""
        plan = self._plan
        logged, sender = self._by_sdk(python)
        target = self._api.begin(f"bench-http-{self._word}", [key_name(key) for key in range(plan.keys)], IMAGE)
        sent = self._by_http(target)
        inserted = self._inserted(target)
        export, summaries = self._reads(target)
        return Report(
            cores=os.cpu_count() or 1,
            threads=plan.threads,
            load=(self._load, os.getloadavg()[0]),
            sdk=logged,
            sender=sender,
            raw=sent,
            inserted=inserted,
            series=sent.acknowledged // plan.keys,
            export=export,
            summaries=summaries,
            media=MediaBench(plan, self._http, self._clock, self._phases, self._word).measure(
                self._api, target, self._store
            ),
            phases=(),
        )

    def ended(self, report: Report) -> Report:
        """The report, once everything is removed, with the times of all phases."""
        with self._phases.phase("removing what was written"):
            left = self.clean()
        self._store.close()
        return replace(report, phases=tuple(self._phases.done), left=left)

    def clean(self, settle: float = 0.0) -> tuple[str, ...]:
        """Remove what this bench and killed ones have written; what is still there then.

        settle: seconds to wait for points that the buffer holds still; without their run they would stay unseen.
        """
        runs = self._api.runs()
        self._api.remove(runs)
        time.sleep(settle if runs else 0.0)
        self._database.forget(runs)
        self._database.drop(self._database.tables())
        self._store.remove(self._store.names())
        left = [f"run {run} of {self._api.project}" for run in self._api.runs()]
        left += [f"points of run {run}" for run in runs if self._database.stored(run)]
        left += [f"table {table}" for table in self._database.tables()]
        return (*left, *(f"object {name}" for name in self._store.names()))

    def clean_quietly(self) -> None:
        """The same after a failure, whose words are the ones that count."""
        try:
            self.clean(_FLUSH)
        except BenchError as error:
            self._progress.say(f"not all could be removed, the next bench will try again: {error}")

    def _by_sdk(self, python: Path) -> tuple[Stored, Sender]:
        plan = self._plan
        with self._phases.phase(f"{plan.sdk_keys} keys of {plan.sdk_steps} steps by the SDK"):
            until = self._clock.within(plan.whole, "logging by the SDK")
            done = sdk.log(python, self._site, plan, f"bench-sdk-{self._word}", until)
            target = self._api.target(done.slug)
            lag = self._readable(target, done.steps * plan.sdk_keys, done.finished)
        stored = self._read(
            target,
            Way(
                name=f"SDK {self._site.sdk}, one process",
                wanted=plan.sdk_keys * plan.sdk_steps,
                expected=points.logged(plan.sdk_keys, done.steps),
                sending=done.finished - done.begun,
                lag=lag,
            ),
        )
        return stored, Sender(calls=done.logged - done.begun, computed=done.computed)

    def _by_http(self, target: Target) -> Stored:
        plan = self._plan
        with self._phases.phase(f"preparing {plan.batches} requests of {plan.batch} records"):
            bodies = [points.body(plan, n, target.project_id, target.run_id) for n in range(plan.batches)]
        with self._phases.phase(f"sending them, {plan.threads} at a time"):
            until = self._clock.within(plan.raw_seconds, "sending requests")
            done, seconds = side_by_side(
                plan.threads, range(plan.batches), lambda number: self._api.send(bodies[number]), until
            )
            lag = self._readable(target, len(done) * plan.batch, time.monotonic())
        return self._read(
            target,
            Way(
                name=f"HTTP, {plan.threads} threads, {plan.batch} a request",
                wanted=plan.batches * plan.batch,
                expected=points.sent(plan, done),
                sending=seconds,
                lag=lag,
            ),
        )

    def _readable(self, target: Target, count: int, since: float) -> float:
        """Seconds from `since` on until so many points are counted; until the delivery's time is over if never."""
        until = self._clock.within(self._plan.delivery, "waiting for what was acknowledged")
        while self._database.stored(target.run_id) < count and time.monotonic() < until:
            time.sleep(_POLL)
        return time.monotonic() - since

    def _read(self, target: Target, way: Way) -> Stored:
        """Read every series as CSV and compare each value."""
        intact = rows = 0
        with self._phases.phase("reading every point of them back"):
            for key, series in way.expected.items():
                read = self._api.points(target, key)
                rows += len(read)
                intact += points.compared(series, dict(read))
        return Stored(
            name=way.name,
            wanted=way.wanted,
            acknowledged=sum(map(len, way.expected.values())),
            intact=intact,
            rows=rows,
            sending=way.sending,
            lag=way.lag,
        )

    def _inserted(self, target: Target) -> Inserted:
        """The same rows into tables of the same kind: first one batch at a time, then side by side."""
        plan = self._plan
        with self._phases.phase("preparing the same records as rows"):
            bodies = [points.rows(plan, n, target.project_id, target.run_id) for n in range(plan.batches)]
        one, many = (self._insert(threads, bodies) for threads in (1, plan.threads))
        return Inserted(one=one[0], many=many[0], rows=one[1] + many[1])

    def _insert(self, threads: int, bodies: list[bytes]) -> tuple[Rate, int]:
        """The rate, and how many rows are there afterwards."""
        table = self._database.make(f"{self._word}_{threads}")
        with self._phases.phase(f"inserting them, {threads} at a time"):
            until = self._clock.within(self._plan.raw_seconds, "inserting rows")
            done, seconds = side_by_side(threads, bodies, lambda body: self._database.insert(table, body), until)
        return Rate(len(done) * self._plan.batch, seconds), self._database.rows(table)

    def _reads(self, target: Target) -> tuple[Both, Both]:
        plan, key, uid = self._plan, key_name(0), target.run_id
        with self._phases.phase("a series as CSV, and by SELECT"):
            export = in_turn(
                lambda: self._api.export(target, key),
                lambda: self._database.series(uid, key),
                plan.samples,
                self._clock.within(plan.loop, "reading a series"),
            )
        with self._phases.phase("summaries, and by SELECT"):
            summaries = in_turn(
                lambda: self._api.summaries(target),
                lambda: self._database.summaries(uid),
                plan.samples,
                self._clock.within(plan.loop, "reading summaries"),
            )
        return export, summaries
