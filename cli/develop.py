"""`check`, `test`, `lock`, `golden`: the habits of whoever changes the project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from cli import embedded
from cli.engine import ROOT
from sandbox import browser
from sandbox.cluster import facts, ownership
from sandbox.errors import SandboxError
from sandbox.programs import build as programs
from sandbox.programs.build import binary
from sandbox.programs.spec import names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.home import Home
    from sandbox.progress import Progress

TEST_STATE: Final = "test"
BROWSER: Final = "PLUMBLINE_TEST_BROWSER"
"""Environment variable: where it is REQUIRED, a test that finds no browser fails instead of being skipped."""
REQUIRED: Final = "required"
LINTERS: Final = ("prometheus", "alertmanager", "pushgateway", "helm", "otel-collector", "victoria-logs", "jaeger")
TOOLS: Final = ("promtool", "amtool", "pushgateway", "helm", "otelcol-contrib", "victoria-logs-prod", "jaeger-linux")
"""Programs of these that tests find on PATH."""
WORKER_GIB: Final = 2.5
"""Memory that a worker of the offline tests takes at most, with the servers that it starts."""
CODE: Final = (
    *("__main__.py", "bin", "cli", "components", "gate", "recovery"),
    *("sandbox", "signals", "smoke", "stacks", "tests"),
)


def check(home: Home, progress: Progress) -> int:
    """Lint, format, types, offline tests. Programs that judge, and those that tests run, are made on first use."""
    programs.ensure(home, LINTERS, progress)
    _find_browser(home, progress)
    many = str(workers(len(os.sched_getaffinity(0)), facts.gather(home).memory_gib))
    steps = {
        "ruff": ("-m", "ruff", "check", *CODE),
        "format": ("-m", "ruff", "format", "--check", "--quiet", *CODE),
        "types": ("-m", "mypy"),
        # Each worker takes neighbours, so that a server which a file shares is started once.
        "offline tests": ("-m", "pytest", "-q", "-n", many, "--dist", "worksteal", "tests/offline"),
    }
    failed = [title for title, arguments in steps.items() if _step(home, title, arguments) != 0]
    if failed:
        print(f"error: {', '.join(failed)} failed", file=sys.stderr)
    return 1 if failed else 0


def test(home: Home, progress: Progress) -> int:
    """`check`, then the live tests on a cluster whose state is ours alone: made for them and deleted after them.

    A running cluster of the user's is stopped first, its data kept; `make up` resumes it.
    """
    os.environ[BROWSER] = REQUIRED
    code = check(home, progress)
    if code != 0:
        return code
    programs.ensure(home, names(tests=True), progress)
    os.environ["PLUMBLINE_STATE"] = TEST_STATE
    state = home.state(TEST_STATE)
    with ownership.machine_lock("preparing make test"):
        owner = ownership.read_owner()
        embedded.take_down(home, progress)
        embedded.delete_state(home, state, progress)
    if owner is not None and owner.state != state:
        print(f"the embedded cluster {owner.name!r} was stopped, its data kept; make up resumes it", file=sys.stderr)
    try:
        return _step(home, "live tests", ("-m", "pytest", "-v", "-x", "--durations=12", "tests/live"))
    finally:
        with ownership.machine_lock("ending make test"):
            embedded.take_down(home, progress)
            embedded.delete_state(home, state, progress)


def _find_browser(home: Home, progress: Progress) -> None:
    """Put a browser on PATH unless there is one. Raises SandboxError where there must be one and cannot."""
    if shutil.which(browser.NAME) is not None:
        return
    try:
        found = browser.ensure(home, progress)
    except SandboxError as error:
        if os.environ.get(BROWSER) == REQUIRED:
            raise
        progress.say(f"  tests that open pages are skipped: {error}")
        return
    os.environ["PATH"] = os.pathsep.join((str(found.bin), os.environ.get("PATH", "")))


def workers(cores: int, available_gib: float) -> int:
    """Processes that run the offline tests, on so many cores and with so much memory.

    One more than cores: a third of the time a worker waits for a program. Where memory is short, one for each core.
    """
    return cores + 1 if available_gib >= (cores + 1) * WORKER_GIB else cores


def lock(_: Home) -> int:
    """Compile requirements.lock: every package with its hashes, no address of an index."""
    if shutil.which("uv") is None:
        raise SandboxError("uv is not on PATH", "pip install uv, then run make lock again")
    return subprocess.run(
        [
            *("uv", "pip", "compile", "--quiet", "--generate-hashes", "--extra", "dev", "--python-version", "3.11"),
            *("--no-emit-index-url", "--no-header", "pyproject.toml", "-o", "requirements.lock"),
        ],
        cwd=ROOT,
        check=False,
    ).returncode


def golden(home: Home) -> int:
    """Write the golden manifests and the generated reference pages anew."""
    modules = (
        "tests.offline.components.golden",
        "tests.offline.components.swanlab.golden",
        "tests.offline.components.otel_collector.golden",
        "tests.offline.components.grafana.golden",
        "tests.offline.signals.board_files_written",
        "tests.offline.docs.reference",
    )
    return max(_step(home, module, ("-m", module, "--write")) for module in modules)


def _step(home: Home, title: str, arguments: Sequence[str]) -> int:
    print(f"── {title}", file=sys.stderr, flush=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    tools = [str(binary(home, tool).parent) for tool in TOOLS]
    environment["PATH"] = os.pathsep.join((*tools, environment.get("PATH", "")))
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, check=False).returncode
