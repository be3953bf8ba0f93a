"""A round trip proven: a run is logged by the pinned SDK, and all of it is read back."""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from smoke import limits
from smoke.access.errors import AccessError, RefusedError
from smoke.judge import experiments
from smoke.judge.experiments import PREFIX, PROJECT
from smoke.model import CheckFailedError, Problem
from smoke.proofs.model import advanced
from smoke.sdk.matrix import MatrixError, read_matrix
from smoke.sdk.model import ResultError, printed_result
from smoke.sdk.reading import SwanLabReader, read_back

if TYPE_CHECKING:
    from collections.abc import Callable

    from smoke.sdk.model import DriverResult, LoggedRun, ReadBack
    from smoke.stack import Stack

Json = dict[str, Any]
NOT_FOUND = 404
NAN_INF = "nan_inf"


class Place(Protocol):
    """Where the driver runs. Methods may raise AccessError."""

    name: str
    """For people: `outside`, `a pod`."""

    def clear(self) -> None:
        """Remove what earlier runs have left."""

    def start(self, plan: Json) -> None:
        """Start the driver with this plan."""

    def running(self) -> list[Problem]:
        """Why the driver has not come to its end: it runs, or it cannot. Nothing once it has ended."""

    def printed(self) -> str:
        """All that it has printed."""

    def stop(self) -> None:
        """End it, and remove what it was started with. Does nothing the second time."""


class Roundtrip:
    """The proof, in stages: the driver ends, has logged all, and all is there. The run stays until `end`."""

    def __init__(self, stack: Stack, place: Place) -> None:
        self._stack = stack
        self._place = place
        self._word = secrets.token_hex(4)
        self._name = f"{PREFIX}{self._word}"
        self._result: DriverResult | None = None
        self._since = 0.0
        self._stages: list[Callable[[], list[Problem]]] = []
        self._begun = self._started = self._removed = False
        self.subject = f"run {self._name} of project {PROJECT} ({place.name})"

    @property
    def _plan(self) -> Json:
        return {
            **{"scenario": "roundtrip", "project": PROJECT, "run": self._name, "seed": int(self._word, 16)},
            **{"keys": limits.SENTINEL_KEYS, "width": limits.SENTINEL_WIDTH},
            **{"steps": limits.SENTINEL_STEPS, "lines": limits.SENTINEL_LINES},
        }

    @property
    def told(self) -> str:
        """What was seen, once every stage is passed."""
        run = self.run
        return (
            f"SDK {self._stack.experiments.sdk} in {self._place.name}: {experiments.amount(run)} were logged and read "
            f"back equal; run {run.path} is {experiments.FINISHED}"
        )

    @property
    def run(self) -> LoggedRun:
        """What was logged, once the driver has ended. Raises CheckFailedError before."""
        if self._result is None or not self._result.runs:
            raise CheckFailedError([Problem(self.subject, "not logged yet", "logged")])
        return self._result.runs[0]

    def begin(self) -> None:
        """Remove runs that killed runs of smoke have left, then start the driver."""
        if self._started:
            return
        # A start that failed half-way is made anew: whoever begins early hides why, and the check must tell.
        self._place.stop()
        self._place.clear()
        now = time.time()
        self._sweep(lambda name, created: experiments.left_behind(name, created, now, limits.LEFT_BEHIND))
        # From here on there is something to end, even if the start fails half-way.
        self._begun = True
        self._place.start(self._plan)
        self._started = True
        self._stages = [self._place.running, self._logged, self._arrived, self._quiet, self._arrived]

    def advance(self) -> list[Problem]:
        """One attempt at the stage that is due, and at those behind it that pass at once."""
        if not self._started:
            return [Problem(self.subject, "not started", "started")]
        return advanced(self._stages)

    def end(self) -> None:
        """Stop the driver and delete the run."""
        if not self._begun or self._removed:
            return
        self._place.stop()
        self._sweep(lambda name, _: name == self._name)
        self._removed = True

    def read(self) -> ReadBack:
        """All of the run, read now. Raises AccessError."""
        return read_back(SwanLabReader(self._stack.swanlab), self.run)

    def differences(self, read: ReadBack) -> list[Problem]:
        """In what a reading differs from what was logged."""
        return experiments.intact(self.run, read, self._odd())

    def _logged(self) -> list[Problem]:
        try:
            self._result = printed_result(self._place.printed())
        except ResultError as error:
            return [Problem(f"driver in {self._place.name}", str(error), "its result", terminal=True)]
        self._since = time.monotonic()
        return experiments.whole(self._result, self._stack.experiments.sdk, self._plan)

    def _arrived(self) -> list[Problem]:
        """Delivery is asynchronous: what is not there yet may come, until the deadline is over."""
        late = time.monotonic() - self._since > limits.READ_BACK
        try:
            problems = self.differences(self.read())
        except RefusedError as error:
            if error.status != NOT_FOUND:
                raise
            problems = [Problem(error.subject, str(error), "an answer")]
        # What is late is lost: no check has to wait for the end of its own deadline.
        return [replace(problem, terminal=problem.terminal or late) for problem in problems]

    def _quiet(self) -> list[Problem]:
        """What nobody logged, as a point twice, could still be on its way."""
        waited = time.monotonic() - self._since
        if waited >= limits.QUIET_AFTER:
            return []
        return [Problem(self.subject, f"whole {waited:.0f} s after its end", f"whole after {limits.QUIET_AFTER:g} s")]

    def _odd(self) -> str:
        version = self._stack.experiments.sdk
        try:
            scenario = next(found for found in read_matrix().scenarios if found.name == NAN_INF)
            return scenario.expected[version].outcome
        except (MatrixError, StopIteration, KeyError) as error:
            raise AccessError("smoke/sdk_matrix.toml", f"does not say how NaN comes back from SDK {version}") from error

    def _sweep(self, doomed: Callable[[str, str], bool]) -> None:
        SwanLabReader(self._stack.swanlab).sweep(PROJECT, doomed)
