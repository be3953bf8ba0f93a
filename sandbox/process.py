"""Running other programs: list arguments, a deadline always, output captured, a typed error."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Finished:
    """A program that ended. `stdout` and `stderr` are text."""

    code: int
    stdout: str
    stderr: str


_running: set[subprocess.Popen[str]] = set()


class ProgramError(Exception):
    """A program failed or ran past its deadline. The message ends with the tail of what it printed."""

    def __init__(self, argv: Sequence[str], reason: str, output: str) -> None:
        """Keep the output for callers that recognise a cause in it."""
        tail = "\n".join(output.strip().splitlines()[-15:])
        super().__init__(f"{argv[0]} {reason}: {tail}" if tail else f"{argv[0]} {reason}")
        self.output = output


def run(
    argv: Sequence[str],
    *,
    timeout: float,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: str | None = None,
    check: bool = True,
) -> Finished:
    """Run `argv` to its end; at the deadline or on Ctrl-C its whole process group is killed.

    timeout: seconds. Raises ProgramError when it cannot start, exceeds the deadline, or (check) exits non-zero.
    """
    try:
        with held_back() as held:
            process = subprocess.Popen(
                list(argv),
                stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                env=dict(env) if env is not None else None,
                cwd=cwd,
                start_new_session=True,
            )
    except OSError as error:
        raise ProgramError(argv, f"cannot start ({error.strerror})", "") from error
    _running.add(process)
    try:
        for interrupt in held:
            interrupt()
        stdout, stderr = process.communicate(stdin, timeout=timeout)
    except subprocess.TimeoutExpired as error:
        _kill_group(process)
        _, stderr = process.communicate()
        raise ProgramError(argv, f"did not end within {timeout:.0f} s", stderr) from error
    except BaseException:
        _kill_group(process)
        process.wait()
        raise
    finally:
        _running.discard(process)
    if check and process.returncode != 0:
        raise ProgramError(argv, f"exited with {process.returncode}", stderr or stdout)
    return Finished(process.returncode, stdout, stderr)


@contextmanager
def held_back() -> Iterator[list[Callable[[], object]]]:
    """Ctrl-C and SIGTERM that come meanwhile are kept, as calls that do what they would have done.

    A program that was started in the moment of Ctrl-C would be known to nobody, and run on. In the main thread alone:
    others do not hear of signals.
    """
    kept: list[Callable[[], object]] = []
    if threading.current_thread() is not threading.main_thread():
        yield kept
        return
    found = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    heard = {number: handler for number, handler in found.items() if callable(handler)}
    for number, handler in heard.items():
        signal.signal(number, lambda *at, handler=handler: kept.append(lambda: handler(*at)))
    try:
        yield kept
    finally:
        for number, handler in heard.items():
            signal.signal(number, handler)


def kill_running() -> None:
    """Kill what other threads run at this moment: Ctrl-C reaches the main thread alone, and they would run on."""
    for process in list(_running):
        _kill_group(process)


def _kill_group(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        process.kill()
