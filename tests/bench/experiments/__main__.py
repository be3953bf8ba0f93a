"""`python -m tests.bench.experiments --contract FILE --kubeconfig FILE --cache DIR --out FILE`.

Points and media go into SwanLab as SDKs send them, and are read as pages read them; the same rows and objects go
straight into its own ClickHouse and object store, in the same run on the same machine. It is a program of its own below
tests/, because it joins the suite of checks with the sandbox, which no other room may. Nothing is asserted on time; a
run in which a point that was acknowledged is not read back fails and says so.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from sandbox.progress import Progress
from stacks.contract import Contract
from tests.bench import interrupt
from tests.bench.errors import BenchError, exit_code
from tests.bench.experiments import sdk, site
from tests.bench.experiments.plan import Plan
from tests.bench.experiments.run import run
from tests.bench.experiments.table import table
from tests.bench.experiments.verdict import problems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.bench.experiments.figures import Report

INTERRUPTED: Final = 130


def read(path: Path) -> Contract:
    """The contract of the stack. Raises BenchError."""
    try:
        return Contract.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise BenchError(f"the contract {path} cannot be used ({error}); make up writes it") from error


def write(report: Report, path: Path) -> None:
    """The report as JSON, with what follows from its figures."""
    document = {**asdict(report), "problems": problems(report)}
    for name, way in (("sdk", report.sdk), ("raw", report.raw)):
        document[name] |= {"taken": way.taken, "end_to_end": way.end_to_end}
    latencies = (
        (document["export"], report.export),
        (document["summaries"], report.summaries),
        (document["media"]["latency"], report.media.latency),
    )
    for place, both in latencies:
        for whose, latency in (("ours", both.ours), ("store", both.store)):
            place[whose] |= {"p50": latency.at(0.5), "p95": latency.at(0.95)}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def judged(report: Report) -> int:
    """1 with every reason when the figures stand for nothing."""
    return exit_code(problems(report))


def main(arguments: Sequence[str]) -> int:
    """Measure, print, write; 1 with a message when it cannot be done or stands for nothing, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(prog="experiments", description=__doc__, allow_abbrev=False)
    parser.add_argument("--contract", type=Path, required=True, help="outputs contract of the stack")
    parser.add_argument("--kubeconfig", type=Path, required=True, help="of its cluster")
    parser.add_argument("--cache", type=Path, required=True, help="directory of SDK environments; made if need be")
    parser.add_argument("--out", type=Path, required=True, help="path of the report")
    given = parser.parse_args(arguments)
    interrupt.listen()
    progress = Progress()
    try:
        where = site.find(read(given.contract), given.kubeconfig)
        report = run(Plan(), where, sdk.interpreter(where.sdk, given.cache, progress.say), progress)
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; what the bench had written is removed", file=sys.stderr)
        return INTERRUPTED
    print(table(report))
    write(report, given.out)
    return judged(report)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
