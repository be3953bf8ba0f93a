"""A run leaves its Job with the verdict that its program had, and without one it is never taken for a bad one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cli import clients, deploy, recovery, recovery_run
from cli.recovery import Outcome, outcome_of, run_job
from sandbox.errors import SandboxError
from sandbox.process import ProgramError
from tests.offline.cli.recovery_cluster import COMPLETED, PLACE, RUNNING, WAITING, Cluster, ended

if TYPE_CHECKING:
    from pathlib import Path

VERIFY = ["verify", "--latest"]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits."""
    monkeypatch.setattr(recovery_run, "_PAUSE_SECONDS", 0.0)


def run(cluster: Any, words: list[str]) -> int:  # noqa: ANN401  # stands for kubectl
    """`run_job` of a cluster that stands for kubectl."""
    return run_job(cluster, PLACE, words)


@pytest.mark.parametrize(("code", "verdict"), [(0, "Complete"), (1, "Failed"), (2, "Failed"), (3, "Failed")])
def test_job_keeps_the_verdict_of_its_program(code: int, verdict: str) -> None:
    """Stores beside the program still end then: whoever deletes the pod at once makes any Job a failed one."""
    cluster = Cluster(WAITING, RUNNING, ended(code), ending=5)
    assert run(cluster, VERIFY) == code
    assert cluster.verdict == verdict
    assert cluster.deletes("pod") == 1, "its volumes would stay with it"
    assert cluster.deletes("job") == 0


def test_job_of_an_outcome_keeps_the_verdict_too() -> None:
    cluster = Cluster(RUNNING, ended(0), ending=5)
    cluster.said = '{"code": 0, "point": "p"}\n'
    assert outcome_of(cluster, PLACE, VERIFY) == Outcome(0, {"code": 0, "point": "p"})  # type: ignore[arg-type]  # stands for kubectl
    assert (cluster.verdict, cluster.deletes("pod")) == ("Complete", 1)


def test_run_ends_when_the_cron_job_has_counted_it(capsys: pytest.CaptureFixture[str]) -> None:
    """The gate of upgrades may ask in the next moment."""
    cluster = Cluster(RUNNING, ended(0), counting=4)
    assert run(cluster, VERIFY) == 0
    assert cluster.seen == 5, "it was not waited for"
    assert "does not count" not in capsys.readouterr().err


def test_cron_job_that_does_not_count_a_success_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recovery_run, "_COUNTED_SECONDS", 0.05)
    cluster = Cluster(RUNNING, ended(0), counting=10**9)
    assert run(cluster, VERIFY) == 0
    told = capsys.readouterr().err
    assert "recovery-verify does not count job" in told
    assert "(2026-11-30T08:08:50Z)" in told
    assert COMPLETED not in told


@pytest.mark.parametrize(("words", "code"), [(["list"], 0), (["verify", "--point", "p"], 0), (VERIFY, 1)])
def test_what_is_no_success_of_the_cron_job_waits_for_none(words: list[str], code: int) -> None:
    cluster = Cluster(RUNNING, ended(code), counting=10**9)
    assert run(cluster, words) == code
    assert cluster.seen == 0


def test_job_without_a_verdict_keeps_its_pod(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without its pod it would fail, and nothing would count what the program did."""
    monkeypatch.setattr(recovery_run, "_SETTLED_SECONDS", 0.05)
    cluster = Cluster(RUNNING, ended(0), ending=10**9)
    assert run(cluster, VERIFY) == 0
    assert (cluster.deletes("pod"), cluster.verdict) == (0, "")
    told = capsys.readouterr().err
    assert "has no verdict 0 s after its program ended with 0" in told
    assert "SuccessCriteriaMet" in told


def test_wait_is_told_while_it_lasts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(recovery_run, "_TOLD_SECONDS", 0.0)
    assert run(Cluster(RUNNING, ended(1), ending=3), VERIFY) == 1
    assert "the program has ended with 1; waiting until job recovery-verify-" in capsys.readouterr().err


def test_interrupt_while_the_job_ends_takes_no_verdict_away(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    cluster = Cluster(RUNNING, ended(0))
    cluster.job = interrupted
    with pytest.raises(KeyboardInterrupt):
        run(cluster, VERIFY)
    assert (cluster.deletes("pod"), cluster.deletes("job")) == (0, 0)
    assert "the program had ended with 0" in capsys.readouterr().err


def test_interrupt_while_the_job_is_made_deletes_it() -> None:
    class Interrupted(Cluster):
        def __call__(self, *arguments: str, stdin: str | None = None) -> str:
            found = super().__call__(*arguments, stdin=stdin)
            if arguments[2] == "create":
                raise KeyboardInterrupt
            return found

    cluster = Interrupted(RUNNING)
    with pytest.raises(KeyboardInterrupt):
        run(cluster, VERIFY)
    assert cluster.calls[-1][2:] == (
        "delete",
        "job",
        cluster.made["metadata"]["name"],
        "--wait=true",
        "--ignore-not-found",
    )


def test_program_that_ended_well_in_a_job_that_failed_is_no_success() -> None:
    """Its pod was taken away, or it ran out of time, between its last word and its end."""
    cluster = Cluster(RUNNING, ended(0))
    cluster.verdict = "Failed"
    cluster.pod = True
    with pytest.raises(SandboxError, match=r"ended well, and its job .* failed yet: BackoffLimitExceeded: Job has"):
        outcome_of(cluster, PLACE, VERIFY)  # type: ignore[arg-type]  # stands for kubectl
    assert cluster.deletes("pod") == 1


def test_job_that_is_gone_before_its_verdict_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Cluster(RUNNING, ended(0))

    def deleted() -> None:
        cluster.gone = True

    cluster.job = deleted
    assert run(cluster, VERIFY) == 0
    assert "is gone before anybody saw its verdict" in capsys.readouterr().err
    assert cluster.deletes("pod") == 0


@pytest.mark.parametrize(("code", "reason"), [(137, "OOMKilled"), (130, "Error"), (128, "StartError")])
def test_program_that_was_killed_has_no_verdict(code: int, reason: str) -> None:
    cluster = Cluster(RUNNING, ended(code, reason))
    with pytest.raises(SandboxError, match=rf"was ended from outside \({reason}, exit code {code}\), and came to no"):
        run(cluster, VERIFY)
    assert (cluster.verdict, cluster.deletes("pod")) == ("Failed", 1)


def lost(cluster: Cluster) -> Cluster:
    """The cluster, whose pod goes while its log is followed."""

    def gone() -> int:
        cluster.pod = False
        return 0

    cluster.logs = gone
    return cluster


def test_pod_that_is_lost_has_no_verdict() -> None:
    with pytest.raises(SandboxError, match=r"pod plumbline-recovery/pod-1 is gone, its outcome unknown"):
        run(lost(Cluster(RUNNING)), VERIFY)


def test_job_that_fails_before_its_program_begins_is_told_at_once() -> None:
    cluster = Cluster(WAITING)
    cluster.pod, cluster.verdict = False, "Failed"
    with pytest.raises(SandboxError, match=r"nobody saw its program begin: BackoffLimitExceeded: .*; no pod was made"):
        run(cluster, VERIFY)


def test_job_that_is_deleted_before_its_program_begins_is_told_at_once() -> None:
    cluster = Cluster(WAITING)
    cluster.gone = True
    with pytest.raises(SandboxError, match=r"nobody saw its program begin: it is gone; .*PodInitializing"):
        run(cluster, VERIFY)


@pytest.mark.parametrize("call", [("get", "pods"), ("get", "pod"), ("get", "job"), ("delete", "pod")])
def test_api_server_that_is_away_for_a_moment_ends_no_run(call: tuple[str, ...]) -> None:
    cluster = Cluster(WAITING, RUNNING, ended(0))
    cluster.failing = {call: 1}
    assert run(cluster, VERIFY) == 0
    assert cluster.failing == {call: 0}
    assert cluster.verdict == "Complete"


def test_api_server_that_stays_away_has_lost_no_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery_run, "_ENDED_SECONDS", 0.05)
    cluster = Cluster(RUNNING)
    cluster.failing = {("get", "pod"): 10**9}
    with pytest.raises(SandboxError, match="cannot be asked about: kubectl exited with 1: the connection was refused"):
        run(cluster, VERIFY)


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A stack with recovery; its contract."""
    contract = tmp_path / "contract.json"
    contract.write_text('{"recovery": {"jobs": {"verify": {"namespace": "plumbline-recovery", "name": "v"}}}}')
    monkeypatch.setattr(recovery, "engine_for", lambda *_: None)
    monkeypatch.setattr(deploy, "require_running", lambda _: None)
    monkeypatch.setattr(deploy, "out_directory", lambda _: tmp_path)
    monkeypatch.setattr(deploy, "write_contract", lambda *_: contract)
    return contract


@pytest.mark.parametrize(
    ("cluster", "code", "told"),
    [
        (Cluster(RUNNING, ended(0)), 0, ""),
        (Cluster(RUNNING, ended(1)), 1, ""),
        (Cluster(RUNNING, ended(2)), 2, ""),
        (Cluster(RUNNING, ended(3)), 3, ""),
        (Cluster(RUNNING, ended(137, "OOMKilled")), 3, "error: the program in pod"),
        (lost(Cluster(RUNNING)), 3, "error: pod plumbline-recovery/pod-1 is gone"),
        (Cluster(WAITING), 3, "error: job plumbline-recovery/recovery-verify-"),
    ],
)
def test_only_the_program_says_that_something_is_bad(
    stack: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    cluster: Cluster,
    code: int,
    told: str,
) -> None:
    assert stack
    monkeypatch.setattr(recovery_run, "_START_SECONDS", 0.05)
    monkeypatch.setattr(clients, "kubectl_of", lambda *_: cluster)
    assert recovery.recovery(None, "local", VERIFY) == code  # type: ignore[arg-type]  # nothing of it is asked
    assert capsys.readouterr().err.startswith(told)


def test_stack_that_has_no_recovery_has_no_verdict(stack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stack.write_text('{"recovery": null}')
    assert recovery.recovery(None, "local", VERIFY) == 3  # type: ignore[arg-type]  # nothing of it is asked
    assert "error: stack local has no recovery" in capsys.readouterr().err


def test_program_of_ours_that_fails_has_no_verdict(
    stack: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(_: object) -> None:
        raise ProgramError(["pulumi"], "exited with 1", "no such stack")

    assert stack
    monkeypatch.setattr(deploy, "require_running", refused)
    assert recovery.recovery(None, "local", VERIFY) == 3  # type: ignore[arg-type]  # nothing of it is asked
    assert "error: pulumi exited with 1: no such stack" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["--json"], ["verfy", "--latest"]])
def test_words_that_are_none_are_a_wrong_command_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert recovery.recovery(None, "local", words) == 2  # type: ignore[arg-type]  # nothing of it is asked
    assert "names no word of the program" in capsys.readouterr().err
