"""The commands `python -m smoke.drill write`, `judge` and `clean`. Their exit code is the verdict."""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from smoke import poll
from smoke.access.errors import AccessError
from smoke.drill import journal_reader, times
from smoke.drill.errors import DrillError
from smoke.drill.model import Asked, ids
from smoke.drill.reading import Restoration
from smoke.drill.sites import Copy, identify, old_key
from smoke.drill.verdict import judge
from smoke.drill.write import write
from smoke.model import CheckFailedError
from smoke.proofs.roundtrip_process import DEFAULT_HOME
from smoke.redact import redact, remember
from smoke.sdk.reading import SwanLabReader
from smoke.stack import Stack
from smoke.usage import UsageError, default_kubeconfig, read_contract

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stacks.contract import Contract

GREEN, RED, UNUSABLE, INTERRUPTED = 0, 1, 3, 130
WINDOW: Final = 300.0
"""Seconds. What a delivery buffer holds of acknowledged values that an online restore point may lack."""


def main(argv: Sequence[str] | None = None) -> int:
    """0: written, or green. 1: written and not ended well, or red. 3: could not. 130: interrupted before the series."""
    options = _parser().parse_args(argv)
    try:
        code: int = options.command(options)
    except (UsageError, DrillError) as error:
        return _complain(str(error))
    except (AccessError, CheckFailedError) as error:
        return _complain(f"the stack cannot be asked: {error}")
    except OSError as error:
        return _complain(f"{error.filename or 'a file'} cannot be written: {error.strerror or error}")
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _write(options: Namespace) -> int:
    kubeconfig = options.kubeconfig or default_kubeconfig()
    ended = write(_contract(options.contract), kubeconfig, options.journal, options.cache or _cache(), _say)
    return GREEN if ended else RED


def _judge(options: Namespace) -> int:
    options.out.unlink(missing_ok=True)
    asked = _asked(options)
    journal = journal_reader.read(options.journal)
    kubeconfig = options.kubeconfig or default_kubeconfig()
    source = Stack(_contract(options.source_contract), kubeconfig)
    contract = _contract(options.contract)
    restored = Stack(contract, kubeconfig)
    try:
        identify(source)
        identify(restored)
        key, whose = old_key(source, restored)
    finally:
        source.close()
        restored.close()
    remember(key)
    target = Copy(contract, kubeconfig, key)
    try:
        seen = Restoration(target.swanlab, key).read(journal)
    finally:
        target.close()
    judgement = judge(journal, seen, replace(asked, beside=not _one_installation(source.contract, contract)))
    _save(options.out, {**judgement.document, "key_of": whose})
    _say("\n".join([f"restored SwanLab: {'green' if judgement.green else 'red'}", *judgement.reasons]))
    return GREEN if judgement.green else RED


def _clean(options: Namespace) -> int:
    """Delete both runs of the journal; those that are gone are fine."""
    journal = journal_reader.read(options.journal)
    if journal.begin is None:
        raise UsageError(f"the journal of {options.journal} is empty: it names no run")
    stack = Stack(_contract(options.contract), options.kubeconfig or default_kubeconfig())
    project, names = journal.begin.project, set(ids(journal))
    try:
        identify(stack)
        count = poll.fetch(lambda: SwanLabReader(stack.swanlab).sweep(project, lambda name, _: name in names))
        _say(f"{count} runs of project {project} were deleted")
    finally:
        stack.close()
    return GREEN


def _asked(options: Namespace) -> Asked:
    """Raises UsageError for moments that cannot be."""
    disaster, started = options.disaster, options.point_started
    if disaster > time.time():
        raise UsageError(f"--disaster {times.stamp(disaster)} is still to come; give the moment at which it was")
    if started is not None and started > disaster:
        raise UsageError(f"--point-started {times.stamp(started)} is after --disaster {times.stamp(disaster)}")
    return Asked(disaster, started, options.window)


def _one_installation(source: Contract, restored: Contract) -> bool:
    """Whether the restored SwanLab stands where the one stood that was written to."""
    places = [
        (contract.cluster.uid, contract.namespace, swanlab.namespace, swanlab.endpoints)
        for contract in (source, restored)
        for swanlab in [contract.components.get("swanlab")]
        if swanlab is not None
    ]
    return places[0] == places[-1]


def _contract(path: Path) -> Contract:
    contract = read_contract(path)
    if contract.experiments is None:
        raise UsageError(
            f"stack {contract.stack} of {path} has no SwanLab that takes runs\n"
            "  next: enable section swanlab in its stack file and run make up"
        )
    return contract


def _save(path: Path, document: dict[str, object]) -> None:
    """A reader sees all of it, or nothing."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    new.replace(path)


def _cache() -> Path:
    """Where environments of SDKs are kept that any clone on the machine may share."""
    return Path(os.environ.get("PLUMBLINE_HOME", DEFAULT_HOME)) / "cache" / "sdk"


def _say(text: str) -> None:
    print(redact(text), file=sys.stderr, flush=True)


def _complain(text: str) -> int:
    _say(f"error: {text}")
    return UNUSABLE


def _moment(text: str) -> float:
    try:
        return times.moment(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is no moment; accepted is RFC 3339, as 2026-01-01T00:00:00Z") from error


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise ArgumentTypeError(f"{text!r} is no length of time; accepted are seconds from 0 on")
    return seconds


def _parser() -> ArgumentParser:
    parser = ArgumentParser("smoke.drill", description="What a restore drill writes before, and compares after.")
    words = parser.add_subparsers(required=True, metavar="write|judge|clean")
    common = ArgumentParser(add_help=False)
    common.add_argument("--kubeconfig", type=Path, help="default: KUBECONFIG, then ~/.kube/config")
    common.add_argument("--journal", type=Path, required=True, help="directory of what was written, and when")
    writes = words.add_parser("write", parents=[common], help="log until SIGTERM or Ctrl-C")
    writes.add_argument("--contract", type=Path, required=True, help="outputs contract of the stack")
    writes.add_argument("--cache", type=Path, help="directory of SDK environments; default: below PLUMBLINE_HOME")
    writes.set_defaults(command=_write)
    judges = words.add_parser("judge", parents=[common], help="compare a restored SwanLab with the journal")
    judges.add_argument("--contract", type=Path, required=True, help="outputs contract of the restored stack")
    judges.add_argument("--source-contract", type=Path, required=True, help="of the stack that was written to")
    judges.add_argument("--disaster", type=_moment, required=True, help="when the source was lost, RFC 3339")
    judges.add_argument("--point-started", type=_moment, help="when the restore point was begun, RFC 3339")
    judges.add_argument(
        "--window", type=_seconds, default=WINDOW, help=f"seconds before that; default {WINDOW:.0f}, quiesced: 0"
    )
    judges.add_argument("--out", type=Path, required=True, help="JSON file of the verdict")
    judges.set_defaults(command=_judge)
    cleans = words.add_parser("clean", parents=[common], help="delete both runs of a journal")
    cleans.add_argument("--contract", type=Path, required=True, help="outputs contract of the stack")
    cleans.set_defaults(command=_clean)
    return parser
