"""`check`, `test`, `lock`, `golden`: the habits of whoever changes the project."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
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


OFFLINE: Final = "offline tests"
ALONE: Final = "live tests that need the machine for themselves"
BESIDE: Final = "live tests beside the offline ones"
FIRST_BESIDE: Final = "test_5"
"""Live tests before it compare the machine with what it was, or end every cluster."""
NICENESS: Final = 10
END_SECONDS: Final = 30.0
OFFLINE_LOG: Final = ROOT / ".out" / "offline-tests.log"


def check(home: Home, progress: Progress) -> int:
    """Lint, format, types, offline tests. Programs that judge, and those that tests run, are made on first use."""
    _prepare(home, progress)
    return _run(home, {**_judges(), OFFLINE: _offline(home)})


def test(home: Home, progress: Progress) -> int:
    """All that `check` does, and the live tests on a cluster whose state is ours alone: made and deleted by us.

    A running cluster of the user's is stopped first, its data kept; `make up` resumes it. Live tests wait more than
    they compute, so the offline ones are run beside the second half of them.
    """
    os.environ[BROWSER] = REQUIRED
    _prepare(home, progress)
    if _run(home, _judges()) != 0:
        return 1
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
        alone, beside = _halves()
        code = _step(home, ALONE, (*_LIVE, *alone))
        return code if code != 0 else _side_by_side(home, beside)
    finally:
        with ownership.machine_lock("ending make test"):
            embedded.take_down(home, progress)
            embedded.delete_state(home, state, progress)


# Whoever is started in the background ignores SIGINT, by which pytest is asked to end, and so would all that it starts.
_BEHIND: Final = ("env", "--default-signal=INT", "nice", "-n", str(NICENESS))
_LIVE: Final = ("-m", "pytest", "-v", "-x", "--durations=12")


def _halves() -> tuple[list[str], list[str]]:
    """Files of live tests that run alone, and beside the offline ones, each in order."""
    files = sorted((ROOT / "tests" / "live").glob("test_*.py"))
    named = [(path.name < FIRST_BESIDE, str(path.relative_to(ROOT))) for path in files]
    return [name for first, name in named if first], [name for first, name in named if not first]


def _side_by_side(home: Home, live: Sequence[str]) -> int:
    """Offline tests behind live ones. What they print is in OFFLINE_LOG, and printed at the end. 1 if one is red."""
    OFFLINE_LOG.parent.mkdir(parents=True, exist_ok=True)
    print(f"── {OFFLINE}, behind the next; they print to {OFFLINE_LOG.relative_to(ROOT)}", file=sys.stderr, flush=True)
    environment = {name: value for name, value in _environment(home).items() if name != "PLUMBLINE_STATE"}
    with (
        OFFLINE_LOG.open("wb") as output,
        subprocess.Popen(
            [*_BEHIND, sys.executable, *_offline(home)],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as offline,
    ):
        try:
            codes = {BESIDE: _step(home, BESIDE, (*_LIVE, *live))}
            if codes[BESIDE] == 0:
                codes[OFFLINE] = offline.wait()
        finally:
            _end_group(offline)
    print(OFFLINE_LOG.read_text(encoding="utf-8", errors="replace"), flush=True)
    return _verdict(codes)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End what still runs, with all that it has started."""
    if process.poll() is not None:
        return
    for number in (signal.SIGINT, signal.SIGKILL):  # pytest ends the servers of its tests when it is asked
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=END_SECONDS)
            return


def _prepare(home: Home, progress: Progress) -> None:
    programs.ensure(home, LINTERS, progress)
    _find_browser(home, progress)


def _judges() -> dict[str, tuple[str, ...]]:
    return {
        "ruff": ("-m", "ruff", "check", *CODE),
        "format": ("-m", "ruff", "format", "--check", "--quiet", *CODE),
        "types": ("-m", "mypy"),
    }


def _offline(home: Home) -> tuple[str, ...]:
    """Each worker takes neighbours, so that a server which a file shares is started once."""
    many = str(workers(len(os.sched_getaffinity(0)), facts.gather(home).memory_gib))
    return ("-m", "pytest", "-q", "-n", many, "--dist", "worksteal", "tests/offline")


def _run(home: Home, steps: dict[str, tuple[str, ...]]) -> int:
    return _verdict({title: _step(home, title, arguments) for title, arguments in steps.items()})


def _verdict(codes: dict[str, int]) -> int:
    failed = [title for title, code in codes.items() if code != 0]
    if failed:
        print(f"error: {', '.join(failed)} failed", file=sys.stderr)
    return 1 if failed else 0


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
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, env=_environment(home), check=False).returncode


def _environment(home: Home) -> dict[str, str]:
    tools = [str(binary(home, tool).parent) for tool in TOOLS]
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PATH": os.pathsep.join((*tools, os.environ.get("PATH", ""))),
    }
