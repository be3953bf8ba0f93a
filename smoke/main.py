"""The command `python -m smoke`. Its exit code is the verdict."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from smoke import boards, collect, report, terminal, verdict, versions
from smoke.access.errors import AccessError
from smoke.model import Impact, Run, Status
from smoke.plugin import Accounting
from smoke.redact import bounded
from smoke.registry import IDENTITY, REGISTRY
from smoke.runner import SUITE, run_suite
from smoke.stack import Stack
from smoke.usage import UsageError, default_kubeconfig, read_contract

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smoke.drawing.drawn import DrawnBoard

GREEN, RED, UNUSABLE, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None, suite: Path = SUITE) -> int:
    """Run smoke and return the exit code.

    0 is green, 1 red, 2 a command or contract that cannot be used, 130 an interrupted run.
    """
    parser = _parser()
    options = parser.parse_args(argv)
    if options.list:
        terminal.listing(list(REGISTRY.values()))
        return GREEN
    if not options.contract or not options.out:
        parser.error("--contract and --out are needed")
    begun = time.monotonic()
    run = Run(started=datetime.now(UTC).isoformat(timespec="seconds"), impact=options.impact)
    try:
        report.remove_old(options.out)
        code = _run(options, suite, run)
    except OSError as error:
        terminal.complain(f"the report cannot be written to {options.out}: {error}")
        return UNUSABLE
    run.seconds = time.monotonic() - begun
    return _finish(run, options.out, code)


def _run(options: Namespace, suite: Path, run: Run) -> int:
    """Fill `run`. Whatever happens in here, the caller gets a run to report."""
    try:
        _judge(options, suite, run)
    except UsageError as error:
        terminal.complain(str(error))
        run.faults.append(str(error))
        return UNUSABLE
    except KeyboardInterrupt:
        run.interrupted = True
    except Exception as error:  # the boundary: a crash of smoke is a red report, not a missing one
        run.faults.append(f"smoke itself failed: {type(error).__name__}: {bounded(str(error))}")
    if run.interrupted:
        return INTERRUPTED
    return GREEN if run.green else RED


def _judge(options: Namespace, suite: Path, run: Run) -> None:
    contract = read_contract(options.contract)
    run.stack, run.cluster_uid = contract.stack, contract.cluster.uid
    impact = Impact(options.impact)
    run.selected = tuple(_selection(options.only, impact))
    stack = Stack(contract, options.kubeconfig or default_kubeconfig())
    accounting = Accounting(stack, REGISTRY, impact, run.selected, terminal.ended)
    try:
        exit_code = run_suite(suite, accounting)
        run.interrupted = accounting.interrupted
        run.outcomes = verdict.outcomes(accounting, contract, run.selected)
        run.faults += verdict.faults(accounting, contract, run.outcomes, exit_code)
        _add_context(run, stack, accounting, draw=options.boards)
    finally:
        run.faults += stack.clean()
        stack.close()


def _add_context(run: Run, stack: Stack, accounting: Accounting, *, draw: bool) -> None:
    """Versions, boards (draw) and, after a failure, what the cluster says. Never from one that is not proven ours."""
    run.versions = {"plumbline": versions.own()}
    identity = accounting.results.get(IDENTITY)
    if identity is None or identity[0] is not Status.PASS or run.interrupted:
        return
    run.versions |= versions.of_cluster(stack.kube)
    if "metrics" in stack.contract.capabilities:
        run.versions |= versions.of_prometheus(stack.prometheus)
        run.boards = _boards(stack) if draw else []
    if any(outcome.status is Status.FAIL for outcome in run.outcomes):
        for namespace in stack.namespaces():
            run.diagnostics |= collect.diagnostics(stack.kube, namespace)


def _boards(stack: Stack) -> list[DrawnBoard]:
    from smoke.drawing.page import drawn_boards  # noqa: PLC0415  # matplotlib takes longer to load than most checks

    try:
        span = boards.now(stack)
    except AccessError:
        # Checks have said that Prometheus does not answer; there is nothing to draw.
        return []
    return drawn_boards([boards.show(stack, board, span) for board in boards.of_contract(stack.contract)])


def _finish(run: Run, out: Path, code: int) -> int:
    try:
        report.write(run, out)
    except OSError as error:
        terminal.complain(f"the report cannot be written to {out}: {error}")
        return code or RED
    if code != UNUSABLE:
        terminal.summary(run, out / "report.html")
    return code


def _selection(only: Sequence[str], impact: Impact) -> list[str]:
    for check_id in only:
        if check_id not in REGISTRY:
            near = get_close_matches(check_id, REGISTRY, 1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise UsageError(f"there is no check {check_id}; {hint}docs/reference/checks.md lists them all")
        if REGISTRY[check_id].impact.exceeds(impact):
            raise UsageError(f"{check_id} needs --impact {REGISTRY[check_id].impact}; this run allows {impact}")
    return list(dict.fromkeys(only))


def _parser() -> ArgumentParser:
    parser = ArgumentParser("smoke", description="Prove a running stack against its outputs contract.")
    parser.add_argument(
        "--contract", type=Path, help="outputs contract of the stack, for example .out/local/contract.json"
    )
    parser.add_argument("--out", type=Path, help="directory of report.{html,md,json,xml}")
    parser.add_argument("--kubeconfig", type=Path, help="default: KUBECONFIG, then ~/.kube/config")
    impacts = [Impact.READ.value, Impact.SENTINEL.value, Impact.DISRUPTIVE.value]
    parser.add_argument("--impact", choices=impacts, default=Impact.SENTINEL.value, help="heaviest impact allowed")
    parser.add_argument(
        "--only", nargs="+", action="extend", default=[], metavar="ID", help="run these checks and cluster.identity"
    )
    parser.add_argument("--boards", action="store_true", help="draw the boards of the stack into report.html")
    parser.add_argument("--list", action="store_true", help="list all checks and end")
    return parser
