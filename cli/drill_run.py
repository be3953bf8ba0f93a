"""One run of a drill: its steps in order, and what is left in order however it ends."""

from __future__ import annotations

import contextlib
import json
import secrets
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cli import deploy, drill_evidence, drill_report
from cli.drill_hands import GREEN, RED, Hands
from cli.drill_source import Source
from cli.drill_stack import DrillStack
from cli.drill_state import (
    CREATED,
    DEPLOYED,
    DESTROYED,
    DISASTER,
    DONE,
    JUDGED,
    PROMOTED,
    RESTORED,
    VERIFIED,
    Book,
    State,
    stamp,
)
from cli.drill_writer import end_orphan
from sandbox.errors import SandboxError
from sandbox.process import ProgramError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cli.clients import Kubectl
    from cli.engine import Engine
    from sandbox.progress import Progress

Json = dict[str, Any]


@dataclass
class Drill:
    """One run of the command."""

    engine: Engine
    contract: Json
    kubectl: Kubectl
    book: Book
    report: Path
    progress: Progress
    destroy: bool

    def run(self, last: State | None, *, goes_on: bool) -> int:
        """From the beginning, or from where the last one stopped; the exit code."""
        if self.destroy and not goes_on:
            self.source.refuse()
        with self._safe(last):
            self._begin(last, goes_on=goes_on)
            if not self.state.reached(DISASTER):
                self._before()
            if not self.state.reached(JUDGED):
                self._after()
        try:
            return self._finish()
        except Exception as error:
            self._fail(error)
            raise

    @property
    def source(self) -> Source:
        """For what is done to the source alone."""
        return Source(self.engine, self.contract, self.kubectl)

    @property
    def hands(self) -> Hands:
        """What is started."""
        return Hands(self.engine, self.kubectl, self.book)

    @property
    def stack(self) -> DrillStack:
        """The stack beside it."""
        return DrillStack(self.engine, self.contract, self.kubectl, self.book.directory, self.progress)

    # What is done.

    def _begin(self, last: State | None, *, goes_on: bool) -> None:
        self.stack.take_down()
        if last is not None:
            end_orphan(last.writer, str(self.hands.journal(last)))
        if last is not None and goes_on:
            self.state = last if last.destroy or last.reached(JUDGED) else replace(last, phase=DISASTER)
            self._keep(writer=None)
            self.progress.say(f"  going on with restore point {last.point}, after {self.state.phase}")
            return
        if last is not None:
            self._clean(last)
        self.source.forget()
        self.book.clear()
        journal = f"journal-{secrets.token_hex(4)}"
        self.state = State(source=self.engine.stack, destroy=self.destroy, journal=journal, began=time.time())
        self._keep()
        drill_report.write(self.hands.contract, self.contract)

    def _before(self) -> None:
        """Until the disaster. What fails here has changed nothing, and the next drill starts anew."""
        writer = self.hands.writer(self.state)
        try:
            self._keep(writer=writer.pid)
            with self._step("write", "waiting until SwanLab has acknowledged what a run logs"):
                writer.await_lead()
            begun = time.time()
            with self._step("create", "taking a restore point while the run goes on"):
                point = str(self.hands.word(self.contract, "create", "--mode", "online").get("point"))
            self._keep(phase=CREATED, point=point, point_began=begun)
            with self._step("verify", f"verifying {point}"):
                self.hands.word(self.contract, "verify", "--point", point)
            self._keep(phase=VERIFIED)
            doomed = self._doomed()
            now = time.time()
            writer.demand_live(begun, now)
            self._keep(phase=DISASTER, disaster=now, recovering=now, doomed=doomed)
            self.progress.say(f"  the disaster was at {stamp(now)}; the clock runs")
        finally:
            writer.end()
        self._keep(writer=None)

    def _doomed(self) -> dict[str, str]:
        if not self.destroy:
            return {}
        self.source.keep()
        return self.source.doomed()

    def _after(self) -> None:
        """From the disaster to the verdict."""
        state = self.state
        self._keep(attempts=state.attempts + 1, recovering=state.recovering or time.time())
        restored = self._reborn() if self.destroy else self._beside()
        promised = json.loads(restored.read_text(encoding="utf-8"))
        point = str(self.state.point)
        if self.destroy:
            self.source.hold(held=not self.state.reached(PROMOTED))
        if not self.state.reached(RESTORED):
            with self._step("restore", f"restoring {point} beside what the stores hold"):
                self.hands.word(promised, "restore", "--point", point)
            self._keep(phase=RESTORED)
        if not self.state.reached(PROMOTED):
            with self._step("promote", f"putting {point} in its place"):
                # Forced: a server that has just started has rows of its own, and these stores hold nothing else.
                self.hands.word(promised, "promote", "--point", point, "--quiesce", "--force")
                self.hands.await_programs(promised)
            self._keep(phase=PROMOTED)
        if self.destroy:
            self.source.hold(held=False)
            self.source.give_back()  # somebody may have activated the empty SwanLab meanwhile
        with self._step("judge", "comparing what is there with what was acknowledged"):
            verdict = self.hands.judge(self.state, restored)
        spent = state.spent + time.time() - float(self.state.recovering or 0.0)
        self._keep(phase=JUDGED, verdict=verdict, spent=spent, recovering=None)

    def _beside(self) -> Path:
        with self._step("deploy", "bringing up the drill's stack"):
            restored = self.stack.up()
        self._keep(phase=DEPLOYED)
        return restored

    def _reborn(self) -> Path:
        if not self.state.reached(DESTROYED):
            with self._step("destroy", "destroying SwanLab of the source, with its volumes"):
                self.source.destroy(self.state.doomed)
            self._keep(phase=DESTROYED)
        contract = deploy.out_directory(self.engine) / "contract.json"
        if not self.state.reached(DEPLOYED):
            with self._step("deploy", "bringing SwanLab up with empty stores"):
                self.source.give_back()
                contract = self.source.up(deploy.out_directory(self.engine))
            self._keep(phase=DEPLOYED)
        return contract if contract.exists() else self.hands.contract

    def _finish(self) -> int:
        """Verdict and report; the source is asked whether it is whole."""
        judged = json.loads(self.hands.judged.read_text(encoding="utf-8"))
        if self.destroy:
            if self.state.verdict == GREEN:
                # What promote replaced is what empty servers wrote at their start.
                self.hands.word(self.contract, "confirm")
            self.source.forget()
        else:
            self.stack.take_down()
        self._clean(self.state)
        found = drill_report.document(self.state, self.contract, judged, self.hands.smoke())
        self._keep(phase=DONE)
        drill_report.write(self.report, found)
        print(drill_report.table(found))
        print(f"  report  {self.report}\n")
        return GREEN if found["verdict"] == drill_report.GREEN else RED

    # What happens when it does not come so far.

    @contextlib.contextmanager
    def _safe(self, last: State | None) -> Iterator[None]:
        """Whatever happens inside: the drill's stack is gone afterwards, the source is whole or it is said that not."""
        self.state = last or State(source=self.engine.stack, destroy=self.destroy, journal="", began=time.time())
        try:
            yield
        except BaseException as error:
            asked = isinstance(error, Exception)  # after Ctrl-C nobody waits for answers
            try:
                self._fail(error, gather=asked)
            finally:
                self._leave(asked=asked)
            raise

    def _fail(self, error: BaseException, *, gather: bool = False) -> None:
        """A report that says so: whoever reads the last one must not find an old green."""
        told = str(error) or type(error).__name__
        drill_report.write(self.report, drill_report.failure(self.state, told))
        if gather:  # before what could be looked at is taken down
            path = self.report.with_name("drill-evidence.txt")
            drill_evidence.gather(self.kubectl, self._concerned(), path)
            self.progress.say(f"  objects, events and logs of that moment: {path}")

    def _concerned(self) -> tuple[str, ...]:
        """Namespaces in which something of a drill happens."""
        own = (self.contract["components"]["swanlab"]["namespace"], self.contract["recovery"]["namespace"])
        return own if self.destroy else (*self.stack.namespaces.values(), *own)

    def _leave(self, *, asked: bool) -> None:
        """asked: whether the source is asked how it is."""
        state = self.state
        if state.ruined:
            self.progress.say(
                f"  SwanLab of stack {state.source} is NOT whole; make drill DESTROY=yes goes on with {state.point}, "
                f"after {state.phase}"
            )
            return
        ran = time.time() - state.recovering if state.recovering is not None else 0.0
        try:
            self.stack.take_down()
            if state.destroy:
                self.source.forget()
        except (SandboxError, ProgramError) as error:
            self.progress.say(f"  error: something of the drill is still there: {error}")
        if state.going_on and not state.reached(JUDGED):
            self._keep(phase=DISASTER, spent=state.spent + ran, recovering=None)
        if asked:
            with contextlib.suppress(SandboxError):  # what stopped the drill is what the user is told
                if self.hands.smoke() != GREEN:
                    self.progress.say(f"  error: make smoke of stack {state.source} is red after the drill")

    def _clean(self, state: State) -> None:
        """What is left of the drill's runs harms nobody, so that it is told and no fault."""
        code = self.hands.clean(state)
        if code != GREEN:
            self.progress.say(f"  the drill's runs could not be deleted from SwanLab ({code}); see above")

    @contextlib.contextmanager
    def _step(self, name: str, title: str) -> Iterator[None]:
        begin = time.monotonic()
        with self.progress.step(title):
            yield
        self._keep(seconds={**self.state.seconds, name: round(time.monotonic() - begin, 1)})

    def _keep(self, **fields: Any) -> None:  # noqa: ANN401  # any field of State
        self.state = self.book.write(replace(self.state, **fields))
