"""`sdk-regression`: every SDK of smoke/sdk_matrix.toml against the SwanLab of a deployed stack."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Final

from cli import deploy, stackfile
from cli.engine import ROOT, engine_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.home import Home

ALL: Final = "all"


def sdk_regression(home: Home, stack: str, sdks: Sequence[str]) -> int:
    """Play every scenario with these versions of the SDK, or with `all`; the exit code is the verdict.

    Raises SandboxError when the stack was never deployed or its cluster does not run.
    """
    engine = engine_for(home, stack)
    with deploy.guard(engine, "make sdk-regression"):
        deploy.require_running(engine)
        out = deploy.out_directory(engine)
        contract = deploy.write_contract(engine, out)
        argv = [sys.executable, "-m", "smoke.sdk", "--contract", str(contract), "--out", str(out)]
        argv += ["--cache", str(home.cache / "sdk")]
        kubeconfig = (stackfile.config(engine.config_file).get("plumbline:cluster") or {}).get("kubeconfig")
        if kubeconfig:
            argv += ["--kubeconfig", str(kubeconfig)]
        wanted = [sdk for sdk in sdks if sdk != ALL]
        if wanted:
            argv += ["--sdk", *wanted]
        environment = engine.environment() | {"PYTHONPATH": str(ROOT)}
        return subprocess.run(argv, cwd=ROOT, env=environment, check=False).returncode
