"""Starts the driver in an environment and takes its result, within a time that it does not choose itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from smoke.redact import bounded
from smoke.sdk.model import Ended, ResultError, parse_result, printed_result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smoke.sdk.model import DriverResult

DRIVER: Final = Path(__file__).with_name("driver.py")
TAIL: Final = 1200
# A healthy run of any scenario takes seconds; finish() of a hung one never ends.
HANG_AFTER: Final = 120.0
EXIT: Final = 5.0
PROXIES: Final = ("http_proxy", "https_proxy", "all_proxy")


@dataclass(frozen=True)
class Address:
    """Where the SDK logs. host: scheme, host, port. proxies: whether the machine's proxies are meant for it."""

    host: str
    key: str
    proxies: bool = False


def drive(python: Path, plan: Mapping[str, Any], address: Address, hang_after: float = HANG_AFTER) -> Ended:
    """Play one scenario in a process of its own; after `hang_after` seconds its whole process group is killed.

    python: of the environment with the SDK. plan: as the driver takes it, without `result`.
    """
    with tempfile.TemporaryDirectory(prefix="plumbline-driver-", ignore_cleanup_errors=True) as directory:
        result = Path(directory) / "result.json"
        paper = Path(directory) / "plan.json"
        paper.write_text(json.dumps({**plan, "result": str(result)}), encoding="utf-8")
        # A file, not a pipe: what an SDK leaves running would hold a pipe open.
        printed = Path(directory) / "printed"
        with printed.open("wb") as output:
            code = run_apart([str(python), "-u", "-I", str(DRIVER), str(paper)], directory, address, output, hang_after)
        text = printed.read_text(encoding="utf-8", errors="replace")
        tail = bounded(text[-TAIL:].replace(address.key, "***"))
        return Ended(_result(result, text), hang=code is None, code=code or 0, tail=tail)


def environment(variables: Mapping[str, str], address: Address) -> dict[str, str]:
    """The process's environment: the machine's own, without what belongs to another SDK or another Python."""
    kept = {name: value for name, value in variables.items() if not name.startswith(("SWANLAB_", "PYTHON"))}
    if not address.proxies:
        kept = {name: value for name, value in kept.items() if name.lower() not in PROXIES}
    return kept | {"SWANLAB_API_KEY": address.key, "SWANLAB_API_HOST": address.host}


def run_apart(argv: list[str], directory: str, address: Address, output: IO[bytes], hang_after: float) -> int | None:
    """The exit code, None for a process that had to be killed. Nothing that it has started outlives it."""
    process = subprocess.Popen(
        argv,
        cwd=directory,
        # What a killed driver has made for itself goes with this directory.
        env=environment(os.environ, address) | {"TMPDIR": directory},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return process.wait(hang_after)
    except subprocess.TimeoutExpired:
        return None
    finally:
        _end_group(process)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Nothing of the scenario outlives it, whether it ended, hangs or was interrupted."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        process.wait(EXIT)


def _result(path: Path, printed: str) -> DriverResult | None:
    """What was written stage by stage; or what was printed at the end, if the path was not to be written."""
    try:
        return parse_result(path.read_text(encoding="utf-8"))
    except (OSError, ResultError):
        pass
    try:
        return printed_result(printed)
    except ResultError:
        return None
