"""Stop whoever writes, drain the delivery buffer, and start the writers again whatever happens."""

from __future__ import annotations

import contextlib
import time
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import AfterValidator, Field, model_validator

from recovery.drain import Delivery, Place
from recovery.errors import RecoveryError
from recovery.interrupts import guarded
from recovery.model import Record
from recovery.writers import Writers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recovery.kube import Api
    from recovery.ports import Tell

_ROUNDS: Final = 6
"""How often those that could not be started are tried, each time after twice the pause: a minute in all."""
_PER_ROUND: Final = 4


def _once(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError("a name is there twice; name every Deployment once")
    return names


Address = Annotated[str, Field(pattern=r"^https?://\S+$")]
File = Annotated[Path, AfterValidator(Path.expanduser)]


class Settings(Record):
    """How the stack is made quiet.

    order: Deployments as they are stopped; they are started in reverse. buffer: StatefulSet that keeps running until
    it has stored everything. buffer_metrics: addresses of its metrics, one for each replica; without any, those of its
    pods at metrics_port. seconds: for stopping and draining together. settle_seconds: how old its figures may be; those
    of Vector are up to 5. kubeconfig and context: where the program runs outside of the cluster.
    """

    namespace: str = Field(min_length=1)
    order: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], AfterValidator(_once)] = Field(min_length=1)
    buffer: str = Field(min_length=1)
    buffer_metrics: tuple[Address, ...] = ()
    metrics_port: int = Field(default=9090, ge=1, le=65535)
    seconds: float = Field(gt=0)
    settle_seconds: float = Field(default=10, gt=0)
    kubeconfig: File | None = None
    context: str | None = None

    @model_validator(mode="after")
    def _can_settle(self) -> Settings:
        if self.seconds <= self.settle_seconds:
            raise ValueError("seconds must be more than settle_seconds, or no buffer ever counts as empty")
        return self


class Quiesce:
    """See `Quiet` of recovery/ports.py. For the length of a block nobody writes and the buffer is empty.

    Entering raises RecoveryError if that cannot be had; then the writers run as before. Leaving raises it if somebody
    wrote meanwhile, or if a writer could not be started again. A signal that ends the process leaves the block, too.
    """

    def __init__(self, settings: Settings, api: Api, *, pace: float = 1.0) -> None:
        """pace: seconds between two looks."""
        self._settings = settings
        self._writers = Writers(api, settings.namespace, settings.order, pace)
        self._delivery = Delivery(api, _place(settings), pace)
        self._pace = pace

    def __call__(self, tell: Tell) -> AbstractContextManager[None]:
        """The block. tell: gets a line for every step."""
        return self._quiet(tell)

    @contextmanager
    def _quiet(self, tell: Tell) -> Iterator[None]:
        try:
            self._writers.check()
            before = self._delivery.now()
        except Exception:
            # Nothing was changed, but a killed run may have left writers stopped: this one must not leave them so.
            _start(self._writers, self._settings.order, tell, self._pace, rounds=1)
            raise
        failures: tuple[str, ...] = ()
        with guarded() as guard:
            try:
                try:
                    deadline = time.monotonic() + self._settings.seconds
                    self._writers.mark()
                    stopped = self._writers.stop(deadline, tell)
                    drained = self._delivery.drain(deadline, self._settings.settle_seconds, tell)
                    _lost(sum(now.lost for now in drained) - sum(then.lost for then in before), tell)
                    yield
                    self._writers.still_stopped(stopped)
                    _lost(self._delivery.still_drained(drained), tell)
                finally:
                    # Nested: a signal between the two lines must not keep the writers from being started.
                    try:
                        guard.hold()
                    finally:
                        _, failures = _start(self._writers, self._settings.order, tell, self._pace)
            except Exception as error:
                if failures:
                    raise RecoveryError(f"{error}. Besides: {_left(failures)}") from error
                raise
            except BaseException:
                if failures:
                    tell(_left(failures))
                raise
            guard.release()
        if failures:
            raise RecoveryError(_left(failures))


def resume(api: Api, settings: Settings, tell: Tell, *, pace: float = 1.0) -> tuple[str, ...]:
    """Start what a killed run left stopped; gives the names of those. Twice is like once.

    What has replicas, or was stopped by somebody else, is left alone. Not for use while a run is taking a point: that
    one then fails. Raises RecoveryError naming all that could not be started; the others are.
    """
    started, failures = _start(Writers(api, settings.namespace, settings.order, pace), settings.order, tell, pace)
    if failures:
        raise RecoveryError(_left(failures))
    return started


def _start(
    writers: Writers, order: tuple[str, ...], tell: Tell, pace: float, *, rounds: int = _ROUNDS
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Start all in reverse order, come what may: names of those started, a sentence for each that could not be."""
    waiting, started, failures = list(reversed(order)), list[str](), dict[str, str]()
    for number in range(rounds):
        for name in tuple(waiting):
            try:
                given = writers.start(name, _PER_ROUND)
            except Exception as error:  # whatever is wrong with one must not keep the others stopped
                failures[name] = str(error) or type(error).__name__
                continue
            waiting.remove(name)
            failures.pop(name, None)
            if given is not None:
                started.append(name)
                _say(tell, f"{name}: started, {given} replicas")
        if not waiting:
            break
        if number < rounds - 1:
            time.sleep(pace * 2**number)
    return tuple(started), tuple(failures[name] for name in waiting)


def _say(tell: Tell, line: str) -> None:
    """A reader of progress that has gone away must not keep a writer stopped."""
    with contextlib.suppress(Exception):
        tell(line)


def _left(failures: tuple[str, ...]) -> str:
    return f"writers are still stopped: {'; '.join(failures)}; remove the cause, then run `recovery resume`"


def _lost(count: int, tell: Tell) -> None:
    if count > 0:
        tell(f"WARNING: the delivery buffer dropped {count} events meanwhile; they are in no restore point")


def _place(settings: Settings) -> Place:
    return Place(
        namespace=settings.namespace,
        buffer=settings.buffer,
        addresses=settings.buffer_metrics,
        port=settings.metrics_port,
    )
