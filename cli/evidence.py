"""`evidence`: what the infrastructure did to a run, on a page. It only reads, so it needs no lock of the machine."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cli import deploy, stackfile
from cli.engine import ROOT, engine_for
from sandbox.errors import SandboxError
from sandbox.process import ProgramError

if TYPE_CHECKING:
    from sandbox.home import Home

BLIND: Final = 4


@dataclass(frozen=True, kw_only=True)
class Words:
    """As the Makefile hands them on; what they mean, and what is wrong with them, `smoke.run_evidence` tells."""

    run: str
    step: str
    alert: str
    window: str
    since: str


def evidence(home: Home, stack: str, words: Words) -> int:
    """Write `.out/<stack>/evidence-….html`, `.json` and `.md`; the exit code of `smoke.run_evidence`.

    4 also where there is no stack to look at: that is no verdict about a run.
    """
    # With `=`, so that nothing that is handed on is taken for an option.
    argv = [f"--run={words.run}", f"--step={words.step}", f"--alert={words.alert}", f"--window={words.window}"]
    return _ask(home, stack, [*argv, f"--since={words.since}"])


def alert_review(home: Home, stack: str, since: str) -> int:
    """Write `.out/<stack>/evidence-alert-review.html`, `.json` and `.md`; exit codes as `evidence`."""
    return _ask(home, stack, ["--review", f"--since={since}"])


def _ask(home: Home, stack: str, words: list[str]) -> int:
    engine = engine_for(home, stack)
    try:
        deploy.require_running(engine)
        out = deploy.out_directory(engine)
        contract = deploy.write_contract(engine, out)
    except (SandboxError, ProgramError) as error:
        print(f"error: {error}", file=sys.stderr)
        return BLIND
    argv = [sys.executable, "-m", "smoke.run_evidence", "--contract", str(contract), "--out", str(out)]
    kubeconfig = (stackfile.config(engine.config_file).get("plumbline:cluster") or {}).get("kubeconfig")
    if kubeconfig:
        argv += ["--kubeconfig", str(kubeconfig)]
    argv += words
    environment = engine.environment() | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(argv, cwd=ROOT, env=environment, check=False).returncode
