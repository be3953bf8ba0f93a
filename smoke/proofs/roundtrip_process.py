"""The driver in a process of this machine, in an environment with nothing but the pinned SDK.

As a program, `python -m smoke.proofs.roundtrip_process VERSION CACHE PLAN`, it makes that environment if need be and
becomes the driver; address and key come as JSON on stdin, so that neither a file nor a list of processes has the key.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smoke import limits
from smoke.access.errors import CommandError
from smoke.model import Problem
from smoke.redact import bounded
from smoke.sdk.drive import DRIVER, TAIL, Address, environment
from smoke.sdk.environments import EnvironmentFailedError, ensure, read_lock

if TYPE_CHECKING:
    from smoke.stack import Stack

Json = dict[str, Any]

ROOT = Path(__file__).parents[2]
DEFAULT_HOME = "/var/lib/plumbline"


class Process:
    """The driver as a process. It logs to the address by which checks reach the gateway."""

    name = "a process outside"

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._process: subprocess.Popen[bytes] | None = None
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._begun = 0.0
        self._text = ""

    def clear(self) -> None:
        """Nothing outlives a run of smoke that is killed but its process, which ends by itself."""

    def start(self, plan: Json) -> None:
        """Start it. Raises CommandError, and AccessError when the address or the key cannot be had."""
        swanlab = self._stack.swanlab
        where = {"host": swanlab.address, "key": self._stack.api_key(), "proxies": swanlab.uses_proxies}
        self._directory = tempfile.TemporaryDirectory(prefix="plumbline-roundtrip-")
        directory = Path(self._directory.name)
        paper = directory / "plan.json"
        paper.write_text(json.dumps({**plan, "result": str(directory / "result.json")}), encoding="utf-8")
        argv = [sys.executable, "-m", __name__, self._stack.experiments.sdk, str(_cache()), str(paper)]
        with (directory / "printed").open("wb") as printed:
            self._process = _popen(argv, printed)
        self._begun = time.monotonic()
        assert self._process.stdin is not None  # noqa: S101  # a pipe was asked for
        self._process.stdin.write(json.dumps(where).encode())
        self._process.stdin.close()

    def running(self) -> list[Problem]:
        """It runs, hangs, or has failed to start."""
        if self._process is None:
            return [Problem(f"driver in {self.name}", "not started", "started", terminal=True)]
        code = self._process.poll()
        if code == 0:
            return []
        seconds = time.monotonic() - self._begun
        if code is None:
            late = seconds > limits.SDK_RUN
            return [Problem(f"driver in {self.name}", f"{self._stage()} after {seconds:.0f} s", "ended", terminal=late)]
        seen = f"exit code {code}: {bounded(self.printed()[-TAIL:].strip())}"
        return [Problem(f"driver in {self.name}", seen, "exit code 0", terminal=True)]

    def printed(self) -> str:
        """What it has printed until now, and after its end all."""
        if self._directory is not None:
            printed = Path(self._directory.name) / "printed"
            self._text = printed.read_text(encoding="utf-8", errors="replace") if printed.exists() else ""
        return self._text

    def stop(self) -> None:
        """Kill it with all that it has started, and remove its files."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(limits.PROCESS_EXIT)
        if self._directory is not None:
            self._directory.cleanup()
            self._directory = None

    def _stage(self) -> str:
        """How far it has come, by the result that it writes stage by stage."""
        assert self._directory is not None  # noqa: S101  # made before the process
        try:
            found = json.loads((Path(self._directory.name) / "result.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return "no stage reached; an environment may be in the making"
        return f"at stage {found.get('stage')!r}"


def _popen(argv: list[str], printed: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401  # an open file
    try:
        return subprocess.Popen(
            argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=printed, stderr=subprocess.STDOUT, start_new_session=True
        )
    except OSError as error:
        raise CommandError(argv[0], f"cannot be started: {error.strerror}") from error


def _cache() -> Path:
    """Where environments are kept that any clone on the machine may share."""
    return Path(os.environ.get("PLUMBLINE_HOME", DEFAULT_HOME)) / "cache" / "sdk"


def main(version: str, cache: str, plan: str) -> None:
    """Become the driver. Ends with a message where that is not possible."""
    where = json.load(sys.stdin)
    try:
        python = ensure(read_lock(version), Path(cache), lambda _: None)
    except EnvironmentFailedError as error:
        raise SystemExit(f"error: {error}") from error
    # An alarm outlives exec: finish() of an SDK waits for its server for ever, and smoke itself may be killed.
    signal.alarm(limits.SENTINEL_LIFE)
    address = Address(where["host"], where["key"], proxies=where["proxies"])
    os.execve(python, [str(python), "-I", str(DRIVER), plan], environment(os.environ, address))  # noqa: S606  # as meant


if __name__ == "__main__":
    main(*sys.argv[1:])
