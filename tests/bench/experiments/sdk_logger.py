"""Logs numbers as fast as one process can. One file: the standard library, swanlab, and the driver of the smoke suite.

`python sdk_logger.py PLAN`: a JSON file with project, run, keys, steps, seconds, driver (path of smoke/sdk/driver.py)
and result, a path. Key and address come from the environment, as for the driver. After `seconds` no more is logged.
Moments in the result are the machine's monotonic clock, which is the same in every process.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

LOOK_EVERY = 100
"""Steps between two looks at the clock."""


def key_name(number: int) -> str:
    """Name of a series."""
    return f"bench/k{number}"


def value(key: int, step: int) -> float:
    """A number with all its digits, as losses have them."""
    return math.sin(step * 0.001 + key) + 1.5


def log_all(swanlab: Any, plan: dict[str, Any]) -> int:  # noqa: ANN401  # the SDK, a module
    """Log step after step; how many were logged."""
    names = [key_name(number) for number in range(plan["keys"])]
    end = time.monotonic() + plan["seconds"]
    for step in range(plan["steps"]):
        if step % LOOK_EVERY == 0 and time.monotonic() >= end:
            return step
        swanlab.log({name: value(number, step) for number, name in enumerate(names)}, step=step)
    return int(plan["steps"])


def main() -> None:
    """Log, finish, and write down when each was done. An SDK that raises ends the process with its traceback."""
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    spec = importlib.util.spec_from_file_location("driver", plan["driver"])
    if spec is None or spec.loader is None:
        raise SystemExit(f"error: {plan['driver']} is no Python file")
    driver = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(driver)
    with tempfile.TemporaryDirectory(prefix="plumbline-sdk-") as directory:
        driver.isolate(Path(directory), old=False)
        swanlab = importlib.import_module("swanlab")  # after its environment was made
        run = swanlab.init(project=plan["project"], name=plan["run"], tags=["plumbline-bench"])
        found = driver.URL.search(str(run.url))
        begun, computed = time.monotonic(), time.process_time()
        steps = log_all(swanlab, plan)
        logged = time.monotonic()
        swanlab.finish()
        finished, computed = time.monotonic(), time.process_time() - computed
        os.chdir("/")
    result = {"slug": found.group(3) if found else str(run.id), "steps": steps}
    result |= {"begun": begun, "logged": logged, "finished": finished, "computed": computed}
    Path(plan["result"]).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
