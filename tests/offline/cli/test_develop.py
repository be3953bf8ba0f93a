"""The habits of whoever changes the project: every step is run, and one red step is red."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path
from shutil import which
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from cli import bench, develop, embedded
from cli.engine import ROOT
from sandbox import browser
from sandbox.browser import Browser
from sandbox.cluster import ownership
from sandbox.cluster.ownership import Owner
from sandbox.errors import SandboxError
from sandbox.programs import build as programs
from sandbox.programs.spec import catalogue, names
from tests.offline.sandbox.fakes import PATIENCE, program, silent, wait_for_file, wait_until_ended

if TYPE_CHECKING:
    from sandbox.home import Home
    from tests.offline.cli.fakes import FakeEngine

STEPS = ["ruff", "format", "types", "offline tests"]
LIVE_TESTS = ROOT / "tests" / "live"


class Steps:
    """Steps that were run, and their exit codes (0 unless a test says otherwise)."""

    def __init__(self) -> None:
        """All green."""
        self.titles: list[str] = []
        self.codes: dict[str, int] = {}
        self.arguments: dict[str, tuple[str, ...]] = {}

    def run(self, _home: Home, title: str, arguments: tuple[str, ...]) -> int:
        """Stand in for a subprocess."""
        self.arguments[title] = arguments
        self.titles.append(title)
        return self.codes.get(title, 0)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    """Steps that start no process."""
    found = Steps()
    monkeypatch.setattr(develop, "_step", found.run)
    monkeypatch.setattr(programs, "ensure", lambda *_: None)
    monkeypatch.setattr(browser, "ensure", lambda *_: Browser(Path("/nowhere")))
    return found


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `check` and `test` set is undone after each test."""
    monkeypatch.setenv("PATH", os.environ["PATH"])
    monkeypatch.setenv(develop.BROWSER, "")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Notes what happens to clusters."""
    events: list[str] = []
    monkeypatch.setattr(embedded, "take_down", lambda *_: events.append("down"))
    monkeypatch.setattr(embedded, "delete_state", lambda _home, state, _: events.append(f"delete {state.name}"))
    monkeypatch.setenv("PLUMBLINE_STATE", "")  # so that what `test` sets is undone after each test
    monkeypatch.setattr(develop, "_environment", lambda _: dict(os.environ))
    return events


class Behind:
    """The program that stands for the offline tests: writes its state and its id, prints, ends with a code."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Ends well and at once."""
        self.note = directory / "offline"
        self._monkeypatch = monkeypatch
        monkeypatch.setattr(develop, "OFFLINE_LOG", directory / "log")
        monkeypatch.setattr(develop, "ROOT", directory)
        (directory / "tests" / "live").mkdir(parents=True)
        for name in ("test_1_up", "test_4_documentation", "test_5_existing", "test_9_evidence"):
            (directory / "tests" / "live" / f"{name}.py").touch()
        self.does("0")

    def does(self, code: str, seconds: float = 0) -> None:
        """code: with which it ends. seconds: for which it runs."""
        script = "\n".join(
            (
                "import os, pathlib, signal, sys, time",
                "asked = signal.getsignal(signal.SIGINT) == signal.default_int_handler",
                "told = f\"{os.getpid()} {os.environ.get('PLUMBLINE_STATE')} {os.nice(0)} {asked}\"",
                f"pathlib.Path({str(self.note)!r}).write_text(told)",
                "print('from behind', flush=True)",
                f"time.sleep({seconds})",
                f"sys.exit({code})",
            )
        )
        self._monkeypatch.setattr(develop, "_offline", lambda _: ("-c", script))


@pytest.fixture
def behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Behind:
    """Offline tests of a moment."""
    return Behind(tmp_path, monkeypatch)


def test_check_runs_every_step(home: Home, steps: Steps) -> None:
    assert develop.check(home, silent()[0]) == 0
    assert steps.titles == STEPS


def test_programs_that_tests_run_are_built_and_found(
    home: Home, pulumi: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every output of what is built for the check is one that it puts on PATH, or comes in the same directory."""
    asked: list[tuple[str, ...]] = []
    environments: list[dict[str, str]] = []

    def start(*_: object, env: dict[str, str], **__: object) -> SimpleNamespace:
        environments.append(env)
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(programs, "ensure", lambda _home, names, _progress: asked.append(tuple(names)))
    monkeypatch.setattr(browser, "ensure", lambda *_: Browser(Path("/nowhere")))
    monkeypatch.setattr(subprocess, "run", start)
    assert develop.check(home, silent()[0]) == 0
    (built,) = asked
    assert {"otel-collector", "victoria-logs", "jaeger"} <= set(built)
    assert pulumi.calls == []
    tools = {tool for name in built for tool in catalogue()[1][name].outputs}
    assert set(develop.TOOLS) <= tools
    for environment in environments:
        assert [tool for tool in tools if which(tool, path=environment["PATH"]) is None] == []


@pytest.mark.parametrize(
    ("cores", "available_gib", "wanted"), [(2, 7.5, 3), (2, 7.4, 2), (1, 0.5, 1), (16, 64.0, 17), (16, 42.0, 16)]
)
def test_one_worker_more_than_cores_where_memory_does(cores: int, available_gib: float, wanted: int) -> None:
    assert develop.workers(cores, available_gib) == wanted


def test_offline_tests_are_run_by_so_many_workers(home: Home, steps: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, float]] = []

    def seven(cores: int, available_gib: float) -> int:
        asked.append((cores, available_gib))
        return 7

    monkeypatch.setattr(develop, "workers", seven)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 3, 4})
    assert develop.check(home, silent()[0]) == 0
    ((cores, available_gib),) = asked
    assert (cores, available_gib > 0) == (3, True)
    words = steps.arguments["offline tests"]
    assert words[words.index("-n") + 1] == "7"


@pytest.mark.parametrize("title", STEPS)
def test_one_red_step_is_red_and_named_and_the_others_are_run(
    home: Home, steps: Steps, capsys: pytest.CaptureFixture[str], title: str
) -> None:
    steps.codes[title] = 2
    assert develop.check(home, silent()[0]) == 1
    assert steps.titles == STEPS
    assert f"error: {title} failed" in capsys.readouterr().err


LIVE = [develop.ALONE, develop.BESIDE]


@pytest.mark.usefixtures("behind")
def test_live_tests_run_on_a_state_of_their_own(home: Home, steps: Steps, cluster: list[str]) -> None:
    assert develop.test(home, silent()[0]) == 0
    assert steps.titles == [*STEPS[:-1], *LIVE]
    assert cluster == ["down", "delete test", "down", "delete test"]


@pytest.mark.usefixtures("cluster")
def test_offline_tests_run_beside_live_ones_at_a_lower_priority_and_are_shown(
    home: Home, steps: Steps, behind: Behind, capfd: pytest.CaptureFixture[str]
) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell starts background commands
    try:
        assert develop.test(home, silent()[0]) == 0
    finally:
        signal.signal(signal.SIGINT, before)
    _, state, niceness, may_be_asked = behind.note.read_text().split()
    assert (state, int(niceness)) == ("None", min(19, os.nice(0) + develop.NICENESS))
    assert may_be_asked == "True"
    assert "from behind" in capfd.readouterr().out
    assert steps.arguments[develop.ALONE][-2:] == ("tests/live/test_1_up.py", "tests/live/test_4_documentation.py")
    assert steps.arguments[develop.BESIDE][-2:] == ("tests/live/test_5_existing.py", "tests/live/test_9_evidence.py")


def test_every_live_test_is_run_once_and_those_that_compare_the_machine_run_alone() -> None:
    """A snapshot of the machine would see what offline tests start; what the docs print is kept from test to test."""
    alone, beside = develop._halves()
    assert sorted([*alone, *beside]) == sorted(f"tests/live/{path.name}" for path in LIVE_TESTS.glob("test_*.py"))
    for name in beside:
        text = (LIVE_TESTS.parents[1] / name).read_text(encoding="utf-8")
        assert "machine_before" not in text
        assert "PRINTED" not in text
        assert not re.search(r'words\("(down|clean)"', text), f"{name} ends every cluster"


@pytest.mark.usefixtures("cluster", "steps")
def test_red_offline_tests_beside_green_live_ones_are_red(
    home: Home, behind: Behind, capfd: pytest.CaptureFixture[str]
) -> None:
    behind.does("3", seconds=0.5)
    assert develop.test(home, silent()[0]) == 1
    printed = capfd.readouterr()
    assert "from behind" in printed.out
    assert "error: offline tests failed" in printed.err


def test_red_live_tests_end_the_offline_ones(
    home: Home, steps: Steps, cluster: list[str], behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind.does("0", seconds=600)
    monkeypatch.setattr(develop, "END_SECONDS", PATIENCE)

    def run(place: Home, title: str, arguments: tuple[str, ...]) -> int:
        steps.run(place, title, arguments)
        if title != develop.BESIDE:
            return 0
        wait_for_file(behind.note)
        return 1

    monkeypatch.setattr(develop, "_step", run)
    assert develop.test(home, silent()[0]) == 1
    assert wait_until_ended(int(behind.note.read_text().split()[0]))
    assert cluster[-2:] == ["down", "delete test"]


def test_interrupt_ends_the_offline_tests_too(
    home: Home, steps: Steps, cluster: list[str], behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind.does("0", seconds=600)

    def run(place: Home, title: str, arguments: tuple[str, ...]) -> int:
        steps.run(place, title, arguments)
        if title == develop.BESIDE:
            wait_for_file(behind.note)
            raise KeyboardInterrupt
        return 0

    monkeypatch.setattr(develop, "_step", run)
    with pytest.raises(KeyboardInterrupt):
        develop.test(home, silent()[0])
    assert wait_until_ended(int(behind.note.read_text().split()[0]))
    assert cluster[-2:] == ["down", "delete test"]


@pytest.mark.usefixtures("behind")
def test_programs_of_live_tests_are_built_for_them_alone(
    home: Home, steps: Steps, cluster: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(programs, "ensure", lambda _home, names, _progress: asked.append(tuple(names)))
    assert develop.test(home, silent()[0]) == 0
    assert asked[-1] == tuple(names(tests=True))
    assert all("prometheus-operator" not in earlier for earlier in asked[:-1])
    assert steps.titles[-1] == develop.BESIDE
    assert cluster != []


def test_live_tests_that_fail_leave_nothing(home: Home, steps: Steps, cluster: list[str], behind: Behind) -> None:
    steps.codes[develop.ALONE] = 1
    assert develop.test(home, silent()[0]) == 1
    assert cluster[-2:] == ["down", "delete test"]
    assert not behind.note.exists()


@pytest.mark.usefixtures("behind")
def test_running_cluster_of_the_user_is_named(
    home: Home, steps: Steps, cluster: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    ownership.write_owner(Owner(home.state("local"), {}))
    develop.test(home, silent()[0])
    assert "'local' was stopped, its data kept; make up resumes it" in capsys.readouterr().err
    assert "delete local" not in cluster
    assert develop.ALONE in steps.titles


def test_red_check_ends_the_test(home: Home, steps: Steps, cluster: list[str]) -> None:
    steps.codes["types"] = 1
    assert develop.test(home, silent()[0]) == 1
    assert develop.ALONE not in steps.titles
    assert cluster == []


class Unpacking:
    """Stands in for what unpacks a browser: gives one below `root`, or fails."""

    def __init__(self, root: Path) -> None:
        """It works unless a test says otherwise."""
        self.root = root
        self.fails = False
        self.calls = 0

    def ensure(self, *_: object) -> Browser:
        """Called as the real one."""
        self.calls += 1
        if self.fails:
            raise SandboxError("no such package", "install one")
        return Browser(self.root)


@pytest.fixture
def unpacking(steps: Steps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Unpacking:
    """A machine without a browser, on which no step starts a process."""
    assert steps.titles == []
    found = Unpacking(tmp_path / "browser")
    monkeypatch.setattr(browser, "ensure", found.ensure)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    return found


def test_browser_of_the_machine_is_taken(home: Home, unpacking: Unpacking, tmp_path: Path) -> None:
    program(tmp_path / "empty", "chromium", "exit 0")
    assert develop.check(home, silent()[0]) == 0
    assert unpacking.calls == 0


def test_browser_is_unpacked_where_there_is_none(home: Home, unpacking: Unpacking, tmp_path: Path) -> None:
    assert develop.check(home, silent()[0]) == 0
    assert unpacking.calls == 1
    assert os.environ["PATH"].split(os.pathsep) == [str(tmp_path / "browser/bin"), str(tmp_path / "empty")]


def test_check_without_a_browser_says_what_is_skipped(home: Home, unpacking: Unpacking) -> None:
    unpacking.fails = True
    progress, stream = silent()
    assert develop.check(home, progress) == 0
    assert "tests that open pages are skipped: no such package" in stream.getvalue()


def test_test_without_a_browser_is_red(home: Home, unpacking: Unpacking, cluster: list[str]) -> None:
    unpacking.fails = True
    with pytest.raises(SandboxError, match=r"no such package[\s\S]*install one"):
        develop.test(home, silent()[0])
    assert cluster == []


@pytest.mark.usefixtures("behind")
def test_tests_of_make_test_may_not_skip_a_browser(home: Home, steps: Steps, cluster: list[str]) -> None:
    assert develop.test(home, silent()[0]) == 0
    assert os.environ[develop.BROWSER] == develop.REQUIRED
    assert (steps.titles[-1], cluster[-1]) == (develop.BESIDE, "delete test")


def test_lock_without_its_compiler_says_what_to_install(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match=r"uv is not on PATH"):
        develop.lock(home)


def test_bench_shows_figures_beside_aims() -> None:
    text = bench.table({"make smoke": 45.0}, cores=4)
    assert "4 cores" in text
    assert any(line.split() == ["make", "smoke", "45.0", "s", "30", "s", "1.50"] for line in text.splitlines())


def test_bench_tells_what_was_not_measured() -> None:
    lines = [line for line in bench.table({}, cores=2).splitlines() if line.strip().startswith("cold:")]
    assert ["not run" in line and "make bench COLD=1" in line for line in lines] == [True]
