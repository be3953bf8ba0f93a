"""`python -m tests.bench.recovery --out FILE`: a restore point beside the raw tools of each store, on the same data.

Real: PostgreSQL, the engine of ClickHouse behind HTTP, the object store, the program itself as a process. It needs no
cluster, and is a program of its own below tests/, because it joins the tests' servers with the sandbox. Nothing is
asserted on time; a run in which a restored copy differs from its source fails and says where.
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
from tests.bench.recovery.figures import ratios
from tests.bench.recovery.plan import plan
from tests.bench.recovery.run import run
from tests.bench.recovery.table import table
from tests.bench.recovery.verdict import problems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.bench.recovery.figures import Report

INTERRUPTED: Final = 130


def write(report: Report, path: Path) -> None:
    """The report as JSON, with what follows from its figures."""
    document = {**asdict(report), "problems": problems(report)}
    for found, store in zip(document["stores"], report.stores, strict=True):
        found["ratios"] = [asdict(ratio) for ratio in ratios(store)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def judged(report: Report) -> int:
    """1 with every reason when the figures stand for nothing."""
    return exit_code(problems(report))


def main(arguments: Sequence[str]) -> int:
    """Measure, print, write; 1 with a message when it cannot be done or stands for nothing, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(prog="recovery", description=__doc__, allow_abbrev=False)
    parser.add_argument("--out", type=Path, required=True, help="path of the report")
    given = parser.parse_args(arguments)
    interrupt.listen()
    try:
        report = run(plan(os.environ), Progress())
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
