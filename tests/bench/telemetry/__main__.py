"""`python -m tests.bench.telemetry --collector PATH --out FILE`: what the stack's collectors cost, beside less of them.

Real: the collector, by the configuration of the stack, sent to over OTLP/HTTP and by files of containers. It needs no
cluster, and is a program of its own below tests/, because it joins the stack's configuration with the tests' content.
Nothing is asserted on time; a run in which anything that was taken does not arrive fails and says what.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sandbox.errors import SandboxError
from sandbox.progress import Progress
from tests.bench import interrupt
from tests.bench.errors import BenchError, exit_code
from tests.bench.telemetry.figures import ratios
from tests.bench.telemetry.plan import plan
from tests.bench.telemetry.run import run
from tests.bench.telemetry.sides import AS_RENDERED
from tests.bench.telemetry.table import table
from tests.bench.telemetry.verdict import problems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.bench.telemetry.figures import Report

INTERRUPTED: Final = 130


def write(report: Report, path: Path) -> None:
    """The report as JSON, with what follows from its figures."""
    document = {
        **asdict(report),
        "problems": problems(report),
        "ratios": [asdict(one) for one in ratios(report, AS_RENDERED)],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def judged(report: Report) -> int:
    """1 with every reason when the figures stand for nothing."""
    return exit_code(problems(report))


def main(arguments: Sequence[str]) -> int:
    """Measure, print, write; 1 with a message when it cannot be done or stands for nothing, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(prog="telemetry", description=__doc__, allow_abbrev=False)
    parser.add_argument("--collector", type=Path, required=True, help="path of the collector's program")
    parser.add_argument("--out", type=Path, required=True, help="path of the report")
    given = parser.parse_args(arguments)
    interrupt.listen()
    try:
        report = run(plan(os.environ), given.collector, Progress())
    except (BenchError, SandboxError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; what the bench had started is ended, its files are removed", file=sys.stderr)
        return INTERRUPTED
    print(table(report))
    write(report, given.out)
    return judged(report)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
