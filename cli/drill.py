"""`drill`: a restore point is taken under live writes, brought back as after a disaster, compared, and timed.

Without DESTROY it comes back in a stack of its own, which is taken down whatever happens. With DESTROY=yes SwanLab of
the source is deleted with its volumes, and comes back there.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cli import clients, deploy
from cli.drill_run import Drill
from cli.drill_source import refuse_durable
from cli.drill_state import Book
from cli.engine import engine_for
from sandbox.errors import SandboxError
from sandbox.programs import build as programs

if TYPE_CHECKING:
    from pathlib import Path

    from cli.engine import Engine
    from sandbox.home import Home
    from sandbox.progress import Progress

Json = dict[str, Any]


def drill(home: Home, stack: str, progress: Progress, *, destroy: bool) -> int:
    """Drill a deployed stack. 0 only if all came back and both aims are met. Raises SandboxError, ProgramError."""
    engine = engine_for(home, stack)
    with deploy.guard(engine, "make drill"):
        deploy.require_running(engine)
        programs.ensure(home, deploy.engine_programs(engine), progress)
        book = Book(_directory(engine))
        last = book.read()
        if last is not None and last.ruined and not destroy:
            raise SandboxError(
                f"SwanLab of stack {stack} was destroyed by a drill that did not come to its end",
                f"run make drill DESTROY=yes STACK={stack}: it goes on with restore point {last.point}",
            )
        goes_on = last is not None and last.goes_on(stack, destroy=destroy)
        if destroy and not goes_on:
            refuse_durable(engine)
        report = deploy.out_directory(engine) / "drill.json"
        report.unlink(missing_ok=True)
        contract = _contract(engine, book, goes_on=goes_on)
        promised: Json = json.loads(contract.read_text(encoding="utf-8"))
        if promised.get("recovery") is None or promised.get("experiments") is None:
            raise SandboxError(
                f"stack {stack} has no restore points to drill with",
                "set plumbline:recovery.mode to managed, and run make up",
            )
        kubectl = clients.kubectl_of(engine, contract)
        return Drill(engine, promised, kubectl, book, report, progress, destroy).run(last, goes_on=goes_on)


def _directory(engine: Engine) -> Path:
    """With the state of the cluster, and gone with it; else with the contract."""
    return (engine.state if engine.state is not None else deploy.out_directory(engine)) / "drill"


def _contract(engine: Engine, book: Book, *, goes_on: bool) -> Path:
    """The source's contract, while it is destroyed as it was before."""
    kept = book.directory / "source.json"
    if goes_on and kept.exists():
        return kept
    return deploy.write_contract(engine, deploy.out_directory(engine))
