"""The command `python -m smoke.run_evidence`: about a run, a step of it, an alert, or all alerts.

Exit codes: 0 the page says what was found, or that nothing was; 2 wrong words; 3 no such run, step or alert; 4 it could
not be looked at, or not at enough of it to call anything clean.
"""

from __future__ import annotations

import re
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from smoke.access.errors import AccessError
from smoke.redact import redact
from smoke.run_evidence import one_alert, one_run, one_step, paper, review
from smoke.run_evidence.facts import Span
from smoke.run_evidence.judge_review import STEP
from smoke.run_evidence.looking import BlindError, Looking, UnknownError
from smoke.run_evidence.report import INCOMPLETE
from smoke.stack import Stack
from smoke.usage import UsageError, default_kubeconfig, read_contract

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smoke.run_evidence.report import Report

TOLD, WRONG, UNKNOWN, BLIND, INTERRUPTED = 0, 2, 3, 4, 130
NONE, ALL, USUAL = "none", "all", "usual"
USUAL_SINCE: Final = {"run": "7d", "alert": "24h", "review": "30d"}
LONGEST: Final = 366 * 86400
"""Seconds of a review: it asks day by day."""
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def main(argv: Sequence[str] | None = None, now: float | None = None) -> int:
    """Write the page and say where it is. now: seconds since the epoch, by default the clock's."""
    options = _parser().parse_args(argv)
    try:
        at = time.time() if now is None else now
        found, name = _look(options, at)
        written = paper.write(found, options.out, name)
    except UsageError as error:
        return _complain(str(error), WRONG)
    except UnknownError as error:
        return _complain(str(error), UNKNOWN)
    except (BlindError, AccessError) as error:
        return _complain(f"it could not be looked at: {error}", BLIND)
    except OSError as error:
        return _complain(f"{error.filename or options.out} cannot be written: {error.strerror or error}", BLIND)
    except KeyboardInterrupt:
        return INTERRUPTED
    print(redact(_words(found, written[0])))
    return BLIND if found.verdict == INCOMPLETE else TOLD


def _look(options: Namespace, now: float) -> tuple[Report, str]:
    """The report and the name of its files. Raises UsageError, UnknownError, BlindError, AccessError."""
    if options.review:
        return _review(options, now)
    run, alert = (None if text in (NONE, "") else text for text in (options.run, options.alert))
    if (run is None) == (alert is None):
        raise UsageError("name a run or an alert: make evidence RUN=<id> [STEP=<n>], or make evidence ALERT=<name>")
    since = USUAL_SINCE["run" if run else "alert"] if options.since == USUAL else options.since
    span = Span(now - seconds_of(since, "SINCE"), now)
    step, margin = step_of(options.step), seconds_of(options.window, "WINDOW")
    if run is None and step is not None:
        raise UsageError("STEP goes with RUN; an alert has no steps")
    stack = _stack(options, "metrics", "gpu")
    contract = stack.contract
    try:
        look = Looking(stack, now)
        if alert is not None:
            return one_alert.report(look, contract.stack, alert, span), paper.file_name("alert", alert)
        if step is None:
            return one_run.report(look, contract.stack, str(run), span), paper.file_name(str(run), ALL)
        asked = one_step.Asked(contract.stack, str(run), step, margin, span)
        return one_step.report(look, asked), paper.file_name(str(run), str(step))
    finally:
        stack.close()


def _review(options: Namespace, now: float) -> tuple[Report, str]:
    """All alerts. Raises as `_look`."""
    since = USUAL_SINCE["review"] if options.since == USUAL else options.since
    seconds = seconds_of(since, "SINCE")
    if not 0 < seconds <= LONGEST:
        raise UsageError(f"SINCE is {since}; accepted are up to {LONGEST // 86400}d, and more than nothing")
    stack = _stack(options, "metrics")
    try:
        span = Span((now - seconds) // STEP * STEP, now)  # whole minutes: the next review sees the same points
        return review.report(Looking(stack, now), stack, span), paper.file_name("alert-review")
    finally:
        stack.close()


def _stack(options: Namespace, *needs: str) -> Stack:
    """needs: capabilities. Raises UsageError, BlindError."""
    contract = read_contract(options.contract)
    lacks = [f"`{need}`" for need in needs if need not in contract.capabilities]
    if lacks:
        raise BlindError(f"stack {contract.stack} does not have what is asked (capability {', '.join(lacks)})")
    return Stack(contract, options.kubeconfig or default_kubeconfig())


def seconds_of(text: str, name: str) -> float:
    """Seconds of `60s`, `30m`, `24h`, `7d`. Raises UsageError."""
    found = re.fullmatch(r"([0-9]{1,6})([smhd])", text)
    if found is None:
        raise UsageError(f"{name} is {text!r}; accepted are a whole number and s, m, h or d, as in 60s or 24h")
    return float(int(found[1]) * _UNITS[found[2]])


def step_of(text: str) -> int | None:
    """None for the whole run. Raises UsageError."""
    if text in (ALL, ""):
        return None
    if not (text.isascii() and text.isdecimal()):
        raise UsageError(f"STEP is {text!r}; accepted are a whole number from 0 on, and {ALL} for the whole run")
    return int(text)


def _words(found: Report, page: Path) -> str:
    """For the terminal: the verdict, findings, what was not looked at, and where the page is."""
    lines = [f"{found.title}: {found.verdict}", *(f"  - {one.text}" for one in found.findings)]
    lines += [] if found.findings else [f"  {found.headline}"]
    lines += [f"  not looked at: {one.what}: {one.why}" for one in found.unseen]
    return "\n".join([*lines, f"  page: {page}"])


def _complain(text: str, code: int) -> int:
    print(redact(f"error: {text}"), file=sys.stderr)
    return code


def _parser() -> ArgumentParser:
    parser = ArgumentParser("smoke.run_evidence", description="What the infrastructure did to a training run.")
    parser.add_argument("--contract", type=Path, required=True, help="outputs contract of the stack")
    parser.add_argument("--out", type=Path, required=True, help="directory of evidence-….html, .json and .md")
    parser.add_argument("--kubeconfig", type=Path, help="default: KUBECONFIG, then ~/.kube/config")
    parser.add_argument("--run", default=NONE, help="id of the run, as on the pod's label")
    parser.add_argument("--step", default=ALL, help="the step; all: the ledger of the run")
    parser.add_argument("--alert", default=NONE, help="name of an alert: which runs did it hit")
    parser.add_argument("--review", action="store_true", help="all alerts: which never fired, flap, end by themselves")
    parser.add_argument("--window", default="60s", help="on both sides of the step, for alerts, XIDs and lines")
    parser.add_argument(
        "--since", default=USUAL, help="how far back is searched; default 7d, for an alert 24h, a review 30d"
    )
    return parser
