"""Runs that a test kills: told by lines on standard input, one process for each run.

`quiesce <kubeconfig> <settings as JSON>` prints the id of a process that waits; `go` lets it make the stack quiet and
leave at once; then its exit status is printed, negative for a signal. What it imports is imported once.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from recovery.kube import Cluster
from recovery.quiet import Quiesce, Settings


def _run(config: str, settings: str) -> None:
    api = Cluster(Path(config), "kind-kind")
    with Quiesce(Settings.model_validate_json(settings), api, pace=0.001)(lambda _line: None):
        pass


def main() -> None:
    for line in sys.stdin:
        _, config, settings = line.split(" ", 2)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(write)
            os.read(read, 1)
            code = 1
            try:
                _run(config, settings)
                code = 0
            finally:
                os._exit(code)
        os.close(read)
        print(child, flush=True)
        sys.stdin.readline()
        os.write(write, b"g")
        os.close(write)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
