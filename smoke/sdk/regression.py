"""Plays every scenario with every version against one server, reads back what arrived, and judges it."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from smoke.access.errors import AccessError
from smoke.redact import bounded
from smoke.sdk import compare, drive, environments, planned
from smoke.sdk.expiry import expiring
from smoke.sdk.model import FOREIGN, Ended, Outcome, Seen, Verdict
from smoke.sdk.reading import read_back

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from smoke.sdk.drive import Address
    from smoke.sdk.model import LoggedRun, Matrix, ReadBack, Reader, Scenario

PROJECT: Final = "plumbline-sentinel"
PREFIX: Final = "sdk-"
SESSION_ENDED: Final = "second_init_session_ended"
# Points are there seconds after they were acknowledged: the buffer's own interval is five. What is judged before that
# could be the half of it, and what nobody logged could still be on its way.
QUIET: Final = 12.0
READ_WITHIN: Final = 90.0
POLL_EVERY: Final = 2.0
# Removed at the start: what a regression has left that was killed. One that runs now is younger.
LEFT_OVER: Final = timedelta(hours=2)
STEPS: Final = {"roundtrip": 1000, "second_init": 20}


@dataclass(frozen=True)
class Job:
    """One process: a version and what it plays."""

    version: str
    name: str
    scenarios: tuple[Scenario, ...]

    @property
    def title(self) -> str:
        """How progress calls it."""
        return f"SDK {self.version} {self.name}"


@dataclass(frozen=True)
class Played:
    """A job whose process has ended. plan: what it was given. at: seconds of the clock."""

    job: Job
    plan: Mapping[str, Any]
    ended: Ended
    at: float


def jobs(matrix: Matrix, version: str) -> tuple[Job, ...]:
    """The processes of one version. Scenarios of one script share one, but for the one whose session is ended."""
    groups: dict[str, list[Scenario]] = {}
    for scenario in matrix.scenarios:
        groups.setdefault(scenario.name if scenario.name == SESSION_ENDED else scenario.script, []).append(scenario)
    return tuple(Job(version, name, tuple(group)) for name, group in groups.items())


@dataclass
class Regression:
    """One run of it.

    address: asked anew for each job, because a port-forward may have moved. cache: of environments. say: prints one
    line of progress. clock, sleep: seconds.
    """

    matrix: Matrix
    versions: Sequence[str]
    address: Callable[[], Address]
    reader: Reader
    cache: Path
    say: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    play: Callable[[Path, Mapping[str, Any], Address], Ended] = drive.drive
    prepare: Callable[[environments.Lock, Path, Callable[[str], None]], Path] = environments.ensure
    short: Callable[[Mapping[str, Any], LoggedRun], tuple[str, ...]] = planned.short
    stamp: str = field(default_factory=lambda: secrets.token_hex(4))
    faults: list[str] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)

    def run(self, subject: str) -> Outcome:
        """Everything, or what was reached when Ctrl-C came. What was logged is removed either way."""
        interrupted = False
        try:
            self._sweep(_left_over(datetime.now(UTC)))
            played = list(self._play_all())
            self.verdicts += [verdict for one in played for verdict in self._settle(one)]
            environments.prune(self.cache, {environments.read_lock(version).name for version in self.matrix.versions})
        except KeyboardInterrupt:
            interrupted = True
        finally:
            self._sweep(lambda name, _: name.startswith(f"{PREFIX}{self.stamp}-"))
        return Outcome(subject, tuple(self.verdicts), tuple(self.faults), interrupted=interrupted)

    def _play_all(self) -> Iterator[Played]:
        for version in self.versions:
            try:
                python = self.prepare(environments.read_lock(version), self.cache, self.say)
            except environments.EnvironmentFailedError as error:
                self.faults.append(f"SDK {version} could not be tried: {error}")
                self.say(self.faults[-1])
                continue
            for job in jobs(self.matrix, version):
                begun = self.clock()
                plan = self._plan(job)
                ended = self._play(python, job, plan)
                how = "hangs" if ended.hang else f"ended with {ended.code}" if ended.code else "played"
                self.say(f"{job.title}: {how} in {self.clock() - begun:.0f} s")
                yield Played(job, plan, ended, self.clock())

    def _plan(self, job: Job) -> dict[str, Any]:
        script = job.scenarios[0].script
        return {
            "scenario": script,
            "project": PROJECT,
            "run": f"{PREFIX}{self.stamp}-{job.version}-{job.name}",
            "seed": secrets.randbelow(1 << 31),
            "steps": STEPS.get(script, 1),
        }

    def _play(self, python: Path, job: Job, plan: Mapping[str, Any]) -> Ended:
        address = self.address()
        if job.name != SESSION_ENDED:
            return self.play(python, plan, address)
        with expiring(address.host) as host:
            return self.play(python, plan, drive.Address(host, address.key))

    def _settle(self, played: Played) -> list[Verdict]:
        """Read until all is as expected and has been quiet long enough, or until the deadline; then what was seen."""
        job = played.job
        while True:
            seen = self._look(played)
            since = self.clock() - played.at
            right = all(
                seen[scenario.name].outcome == scenario.expected[job.version].outcome for scenario in job.scenarios
            )
            if not _can_change(played.ended) or since >= READ_WITHIN or (right and since >= QUIET):
                break
            self.sleep(max(QUIET - since, POLL_EVERY) if right else POLL_EVERY)
        verdicts = [Verdict(job.version, one.name, one.expected[job.version], seen[one.name]) for one in job.scenarios]
        wrong = [verdict.scenario for verdict in verdicts if not verdict.right]
        self.say(f"{job.title}: {'not as expected: ' + ', '.join(wrong) if wrong else 'as expected'}")
        return verdicts

    def _look(self, played: Played) -> dict[str, Seen]:
        """One reading, and what each scenario makes of it."""
        foreign = compare.foreign(played.ended, played.job.version, lambda run: self.short(played.plan, run))
        if foreign:
            return {scenario.name: Seen(FOREIGN, foreign) for scenario in played.job.scenarios}
        reads: dict[str, ReadBack] = {}
        unread = []
        for run in played.ended.result.runs if played.ended.result else ():
            try:
                if run.path:
                    reads[run.label] = read_back(self.reader, run)
            except AccessError as error:
                unread.append(bounded(f"{run.label} run, {error.subject}: {error}"))
        names = (scenario.name for scenario in played.job.scenarios)
        return {name: compare.judge(name, played.ended, reads, unread) for name in names}

    def _sweep(self, doomed: Callable[[str, str], bool]) -> None:
        try:
            self.reader.sweep(PROJECT, doomed)
        except AccessError as error:
            self.faults.append(bounded(f"runs of {PROJECT} could not be removed ({error.subject}: {error})"))


def _can_change(ended: Ended) -> bool:
    """Whether another reading could show something else."""
    return not ended.hang and ended.result is not None and bool(ended.result.runs)


def _left_over(now: datetime) -> Callable[[str, str], bool]:
    def doomed(name: str, created: str) -> bool:
        try:
            age = now - datetime.fromisoformat(created)
        except (ValueError, TypeError):  # no time, or one without a zone: not ours to guess
            return False
        return name.startswith(PREFIX) and age > LEFT_OVER

    return doomed
