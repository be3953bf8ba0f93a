"""Subprocesses: list argv, a mandatory timeout, a typed error."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from smoke.access.errors import CommandError

STDERR_SHOWN = 500


@dataclass(frozen=True)
class Completed:
    """A program that ended. Output is decoded as UTF-8 with replacement characters."""

    code: int
    stdout: str
    stderr: str


def run(argv: list[str], timeout: float, *, check: bool = True) -> Completed:
    """Run a program and wait at most `timeout` seconds, then kill it.

    Raises CommandError when it cannot be started, does not end in time or, with `check`, ends with a failure.
    """
    try:
        done = subprocess.run(argv, capture_output=True, timeout=timeout, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise CommandError(argv[0], f"did not end within {timeout:g} s and was killed") from None
    except OSError as error:
        raise CommandError(argv[0], f"cannot be started: {error.strerror}") from error
    stderr = done.stderr.decode(errors="replace")
    if check and done.returncode != 0:
        raise CommandError(argv[0], f"exit code {done.returncode}: {stderr.strip()[-STDERR_SHOWN:]}")
    return Completed(done.returncode, done.stdout.decode(errors="replace"), stderr)
