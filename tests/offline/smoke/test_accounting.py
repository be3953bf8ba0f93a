"""False green is impossible: tiny suites that try it, and what the runner makes of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from smoke.main import main
from smoke.registry import CHECK_IDS
from tests.offline.smoke.conftest import World, check_of

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]
ROOT = Path(__file__).parents[3]
HEAD = """
import pytest
from smoke.check import check
@check("cluster.identity")
def test_identity(stack):
    return "ours"
"""
PASSING = '@check("pods.running")\ndef test_pods(stack):\n    return "one pod"\n'


@pytest.fixture
def suite(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a suite of one module. Its name is unique: modules of equal names would be taken for one another."""

    def write(text: str) -> Path:
        directory = tmp_path / "suite"
        directory.mkdir(exist_ok=True)
        (directory / f"test_{uuid.uuid4().hex}.py").write_text(text)
        return directory

    return write


def test_two_passing_checks_are_green(world: World, suite: Callable[[str], Path]) -> None:
    code, report = world.run(suite=suite(HEAD + PASSING), expected_checks=["cluster.identity", "pods.running"])
    assert (code, report["verdict"], report["faults"]) == (0, "green", [])
    assert check_of(report, "pods.running")["evidence"] == "one pod"


def test_zero_checks_are_red(world: World, suite: Callable[[str], Path]) -> None:
    code, report = world.run(suite=suite("# nothing\n"), expected_checks=[])
    assert (code, report["verdict"]) == (1, "red")
    assert "zero checks were collected" in report["faults"]
    assert "the contract expects no checks at all" in report["faults"]


def test_import_error_is_red_although_another_module_passes(world: World, suite: Callable[[str], Path]) -> None:
    suite("import a_module_that_does_not_exist\n")
    code, report = world.run(suite=suite(HEAD + PASSING), expected_checks=["cluster.identity"])
    assert (code, report["verdict"]) == (1, "red")
    assert any("a_module_that_does_not_exist" in fault for fault in report["faults"])


def test_expected_check_without_a_test_is_red_and_named(world: World, suite: Callable[[str], Path]) -> None:
    expected = ["cluster.identity", "pods.running", "claims.bound"]
    code, report = world.run(suite=suite(HEAD + PASSING), expected_checks=expected)
    assert code == 1
    assert report["faults"] == ["expected checks did not run: claims.bound"]
    assert check_of(report, "claims.bound")["status"] == "not_run"


def test_expected_check_that_smoke_does_not_know_is_red_and_named(world: World, suite: Callable[[str], Path]) -> None:
    code, report = world.run(suite=suite(HEAD + PASSING), expected_checks=["cluster.identity", "no.such_check"])
    assert code == 1
    assert report["faults"] == ["expected check no.such_check is unknown to this smoke suite"]


def test_failing_check_is_red_with_evidence_and_remedy(world: World, suite: Callable[[str], Path]) -> None:
    text = '@check("pods.running")\ndef test_pods(stack):\n    raise ValueError("broken token=abc123def")\n'
    code, report = world.run(suite=suite(HEAD + text))
    found = check_of(report, "pods.running")
    assert (code, found["status"]) == (1, "fail")
    assert "ValueError" in found["evidence"]
    assert "abc123def" not in found["evidence"]
    assert found["remedy"]


BAD_TESTS = {
    "skips itself": ('    pytest.skip("not today")\n', "skipped without being declared"),
    "returns nothing": ("    pass\n", "proved nothing"),
    "exits": ("    raise SystemExit(0)\n", "SystemExit"),
    "expects its failure": ('    pytest.xfail("known")\n', "known"),
}


@pytest.mark.parametrize("kind", BAD_TESTS)
def test_check_that_proves_nothing_is_red(world: World, suite: Callable[[str], Path], kind: str) -> None:
    body, words = BAD_TESTS[kind]
    code, report = world.run(suite=suite(f'{HEAD}@check("pods.running")\ndef test_pods(stack):\n{body}'))
    found = check_of(report, "pods.running")
    assert (code, found["status"]) == (1, "fail")
    assert words in found["evidence"]


UNACCOUNTED = {
    "def test_loose(stack):\n    return 'x'\n": "carries no check id",
    '@check("made.up")\ndef test_made_up(stack):\n    return "x"\n': "'made.up', which is not in the registry",
    f"{PASSING}\n{PASSING.replace('test_pods', 'test_again')}": "repeats the id 'pods.running'",
    "pytest.skip('whole module', allow_module_level=True)\n": "skipped",
    "pytest.importorskip('a_module_that_does_not_exist')\n": "skipped",
}


@pytest.mark.parametrize("text", UNACCOUNTED)
def test_test_that_nothing_accounts_for_is_red(world: World, suite: Callable[[str], Path], text: str) -> None:
    suite(HEAD.split("@check", maxsplit=1)[0] + text)
    code, report = world.run(suite=suite(HEAD), expected_checks=["cluster.identity"])
    assert code == 1
    assert any(UNACCOUNTED[text] in fault for fault in report["faults"])


def test_run_stopped_from_inside_with_exit_code_0_is_red(world: World, suite: Callable[[str], Path]) -> None:
    text = '@check("pods.running")\ndef test_pods(stack):\n    pytest.exit("enough", returncode=0)\n'
    code, report = world.run(suite=suite(HEAD + text), expected_checks=["cluster.identity", "pods.running"])
    assert code == 1
    assert "expected checks did not run: pods.running" in report["faults"]


def test_skip_for_a_missing_capability_is_declared(world: World, suite: Callable[[str], Path]) -> None:
    text = '@check("node.disk")\ndef test_disk(stack):\n    raise AssertionError("must not run")\n'
    expected = ["cluster.identity", "pods.running"]
    code, report = world.run(suite=suite(HEAD + PASSING + text), expected_checks=expected)
    found = check_of(report, "node.disk")
    assert (code, found["status"]) == (0, "skip")
    assert found["skip_reason"] == "the stack does not claim the capability node-access"


def test_expected_check_without_its_capability_is_red(world: World, suite: Callable[[str], Path]) -> None:
    text = '@check("node.disk")\ndef test_disk(stack):\n    return "x"\n'
    code, report = world.run(suite=suite(HEAD + text), expected_checks=["cluster.identity", "node.disk"])
    assert code == 1
    assert report["faults"] == [
        "expected check node.disk was skipped: the stack does not claim the capability node-access"
    ]


def test_disruptive_check_that_was_asked_for_and_is_missing_is_red(world: World, suite: Callable[[str], Path]) -> None:
    written = suite(HEAD + PASSING)
    changes = {"capabilities": ["metrics", "prometheus-managed", "disruptive"], "expected_checks": ["cluster.identity"]}
    code, report = world.run("--impact", "disruptive", suite=written, **changes)
    assert code == 1
    assert "expected checks did not run: prometheus.data_survives_kill" in report["faults"]


def test_nothing_runs_before_identity_or_without_it(world: World, suite: Callable[[str], Path]) -> None:
    code, report = world.run(suite=suite(f"from smoke.check import check\n{PASSING}"), expected_checks=["pods.running"])
    assert code == 1
    assert check_of(report, "pods.running")["status"] == "not_run"


def test_selection_runs_what_was_chosen_and_says_so(world: World, suite: Callable[[str], Path]) -> None:
    written = suite(HEAD + PASSING + '@check("claims.bound")\ndef test_claims(stack):\n    raise ValueError\n')
    code, report = world.run("--only", "pods.running", "--only", "cluster.identity", suite=written)
    assert code == 0
    assert report["selected"] == ["pods.running", "cluster.identity"]
    assert check_of(report, "claims.bound")["skip_reason"] == "not selected by --only"


@pytest.mark.parametrize(
    ("only", "words"),
    [("pods.runing", "did you mean pods.running?"), ("prometheus.data_survives_kill", "needs --impact disruptive")],
)
def test_impossible_selection_is_a_usage_error(
    world: World, capsys: pytest.CaptureFixture[str], only: str, words: str
) -> None:
    code, report = world.run("--only", only)
    assert (code, report["verdict"]) == (2, "red")
    assert words in capsys.readouterr().err


def _stale(world: World) -> None:
    world.out.mkdir()
    for name in ("report.json", "report.xml", "report.html"):
        (world.out / name).write_text('{"verdict": "green"}')


@pytest.mark.parametrize("contract", [None, "{}", "not json"])
def test_unreadable_contract_is_2_and_no_old_report_survives(
    world: World, capsys: pytest.CaptureFixture[str], contract: str | None
) -> None:
    _stale(world)
    if contract is not None:
        (world.directory / "contract.json").write_text(contract)
    assert main(world.arguments()) == 2
    assert world.report()["verdict"] == "red"
    assert "contract" in capsys.readouterr().err
    assert "green" not in (world.out / "report.html").read_text().split("</header>")[0].split("<header")[1]


def test_crash_of_smoke_itself_leaves_a_red_report(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    _stale(world)
    monkeypatch.setattr("smoke.main.run_suite", lambda *_: 1 / 0)
    code, report = world.run()
    assert (code, report["verdict"]) == (1, "red")
    assert report["faults"] == ["smoke itself failed: ZeroDivisionError: division by zero"]


def test_old_report_is_gone_while_a_run_goes_on(world: World, suite: Callable[[str], Path]) -> None:
    _stale(world)
    look = (
        f'import pathlib\n    seen = list(pathlib.Path("{world.out}").glob("report*"))\n    return f"files {{seen}}"\n'
    )
    _, report = world.run(suite=suite(HEAD + f'@check("pods.running")\ndef test_pods(stack):\n    {look}'))
    assert check_of(report, "pods.running")["evidence"] == "files []"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_is_130_and_reported(
    world: World, suite: Callable[[str], Path], number: signal.Signals
) -> None:
    text = (
        '@check("pods.running")\ndef test_pods(stack):\n    import pathlib, time\n'
        f'    pathlib.Path("{world.directory}/started").touch()\n    time.sleep(60)\n    return "x"\n'
    )
    written = suite(HEAD + text)
    world.write_contract({"expected_checks": ["cluster.identity", "pods.running"]})
    start = "import sys, runpy, pathlib, smoke.runner as r; r.SUITE = pathlib.Path(sys.argv.pop(1))"
    command = [sys.executable, "-c", f"{start}; runpy.run_module('smoke', run_name='__main__')", str(written)]
    # A gate that was itself started in the background hands down an ignored SIGINT, which Python then leaves ignored.
    process = subprocess.Popen(
        [*command, *world.arguments()],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        env=os.environ,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  no threads here
    )
    deadline = time.monotonic() + 30
    while not (world.directory / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    assert process.wait(60) == 130
    report = json.loads((world.out / "report.json").read_text())
    assert (report["verdict"], report["interrupted"]) == ("red", True)
    assert check_of(report, "cluster.identity")["status"] == "pass"
    assert check_of(report, "pods.running")["status"] == "not_run"


def test_listing_names_every_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(CHECK_IDS)
