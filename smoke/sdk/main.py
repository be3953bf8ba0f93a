"""The command `python -m smoke.sdk`. Its exit code is the verdict."""

from __future__ import annotations

import signal
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from smoke import limits, poll
from smoke.access.errors import AccessError
from smoke.judge.identity import same_cluster
from smoke.model import CheckFailedError
from smoke.redact import redact, remember
from smoke.sdk import report
from smoke.sdk.drive import Address
from smoke.sdk.matrix import MatrixError, read_matrix, select
from smoke.sdk.reading import SwanLabReader
from smoke.sdk.regression import Regression
from smoke.stack import Stack
from smoke.usage import UsageError, default_kubeconfig, read_contract

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smoke.model import Problem

GREEN, RED, UNUSABLE, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the regression. 0: all as expected; 1: not; 2: a command that cannot be used; 130: interrupted."""
    # A run that is told to end still removes what it logged.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = _parser().parse_args(argv)
    try:
        (options.out / report.NAME).unlink(missing_ok=True)
        return _run(options)
    except (UsageError, MatrixError) as error:
        return _complain(str(error))
    except (AccessError, CheckFailedError) as error:
        return _complain(f"the stack cannot be asked: {error}")
    except OSError as error:
        return _complain(f"{options.out} cannot be written: {error}")
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(options: Namespace) -> int:
    matrix = read_matrix(options.matrix)
    versions = select(matrix, options.sdk)
    contract = read_contract(options.contract)
    if contract.experiments is None:
        raise UsageError(
            f"stack {contract.stack} has no SwanLab that takes runs\n"
            "  next: enable section swanlab in its stack file and run make up"
        )
    stack = Stack(contract, options.kubeconfig or default_kubeconfig())
    try:
        poll.settle(lambda: _identity(stack), limits.IDENTITY)
        about = report.subject(contract)
        _say(f"subject: {about}")
        key = stack.api_key()
        remember(key)
        outcome = Regression(
            matrix=matrix,
            versions=versions,
            address=lambda: Address(stack.swanlab.address, key, proxies=stack.swanlab.uses_proxies),
            reader=SwanLabReader(stack.swanlab),
            cache=options.cache,
            say=_say,
        ).run(about)
    finally:
        stack.close()
    path = report.write(outcome, options.out)
    print(f"\nsubject: {about}\n\n{report.table(matrix, outcome)}\n\n{redact(report.words(outcome))}\nreport: {path}")
    if outcome.interrupted:
        return INTERRUPTED
    return GREEN if outcome.green else RED


def _identity(stack: Stack) -> list[Problem]:
    cluster = stack.contract.cluster
    return same_cluster(stack.kube.get("/api/v1/namespaces/kube-system"), cluster.uid, cluster.context)


def _say(text: str) -> None:
    print(redact(text), file=sys.stderr, flush=True)


def _complain(text: str) -> int:
    _say(f"error: {text}")
    return UNUSABLE


def _parser() -> ArgumentParser:
    parser = ArgumentParser("smoke.sdk", description="Play every scenario of a matrix with every SDK.")
    parser.add_argument("--contract", type=Path, required=True, help="outputs contract of the stack")
    parser.add_argument("--out", type=Path, required=True, help=f"directory of {report.NAME}")
    parser.add_argument("--cache", type=Path, required=True, help="directory of the environments; made if need be")
    parser.add_argument("--kubeconfig", type=Path, help="default: KUBECONFIG, then ~/.kube/config")
    parser.add_argument("--matrix", type=Path, help="what is expected of scenarios; default: smoke/sdk_matrix.toml")
    parser.add_argument("--sdk", nargs="+", action="extend", default=[], metavar="V", help="these versions alone")
    return parser
