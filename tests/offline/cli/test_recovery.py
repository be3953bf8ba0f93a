"""`make recovery` makes a Job of the right CronJob, shows what it says, and gives its exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli import clients, recovery_run
from cli.recovery import Outcome, manifest, outcome_of, run_job
from sandbox.errors import SandboxError
from sandbox.process import ProgramError
from tests.offline.cli.recovery_cluster import CRON_JOB, PLACE, RUNNING, WAITING, Cluster, ended

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits."""
    monkeypatch.setattr(recovery_run, "_PAUSE_SECONDS", 0.0)


def test_job_has_the_words_and_all_else_of_the_cron_job() -> None:
    job = manifest(CRON_JOB, ["verify", "--point", "p"], "recovery-verify-1")
    assert (job["kind"], job["metadata"]["namespace"], job["metadata"]["labels"]) == (
        "Job",
        "plumbline-recovery",
        {"a": "job"},
    )
    pod = job["spec"]["template"]["spec"]
    assert pod["containers"][0]["args"] == ["--config", "/etc/recovery/config.json", "verify", "--point", "p"]
    assert pod["initContainers"] == [{"name": "postgres", "args": ["-c", "x"]}]
    assert (pod["restartPolicy"], job["spec"]["backoffLimit"]) == ("Never", 0)
    assert CRON_JOB["spec"]["jobTemplate"]["spec"]["backoffLimit"] == 2, "the CronJob itself was changed"


@pytest.mark.parametrize(
    "words",
    ["create", "create --mode online", "create --mode quiesced", "verify --latest", "--json verify --latest", "prune"],
)
def test_job_that_does_what_the_schedule_does_belongs_to_the_cron_job(words: str) -> None:
    """As `kubectl create job --from=cronjob` writes it: the controller then takes its end for the last success."""
    meta = manifest(CRON_JOB, words.split(), "job-1")["metadata"]
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "recovery-verify"}
    assert meta["ownerReferences"] == [owner | {"uid": "0b9d4f6e-1111-4222-8333-444455556666", "controller": True}]
    assert meta["annotations"] == {"cronjob.kubernetes.io/instantiate": "manual"}


@pytest.mark.parametrize(
    "words",
    [
        *("verify --point p", "verify --help", "verify --latest --help", "create --help", "create --resend"),
        *(
            "--json verify --point p",
            "prune --dry-run",
            "list",
            "status",
            "restore --latest-verified",
            "promote --point p",
        ),
    ],
)
def test_job_that_does_something_else_is_no_success_of_the_cron_job(words: str) -> None:
    """A verification of an old point ends with 0 as well, and nothing may take it for one of the newest."""
    assert not {"ownerReferences", "annotations"} & set(manifest(CRON_JOB, words.split(), "job-1")["metadata"])


@pytest.mark.parametrize("code", [0, 1, 3])
def test_exit_code_is_that_of_the_container(code: int) -> None:
    cluster = Cluster(WAITING, RUNNING, ended(code))
    assert run_job(cluster, PLACE, ["verify", "--latest"]) == code  # type: ignore[arg-type]  # stands for kubectl
    assert cluster.made["spec"]["template"]["spec"]["containers"][0]["args"][-2:] == ["verify", "--latest"]
    assert ("-n", "plumbline-recovery", "logs", "-f", "pod-1", "-c", "recovery") in cluster.calls
    assert ("-n", "plumbline-recovery", "delete", "pod", "pod-1", "--wait=false", "--ignore-not-found") in cluster.calls


def test_pod_that_does_not_start_is_an_error_that_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery_run, "_START_SECONDS", 0.2)
    with pytest.raises(SandboxError, match=r"did not start within 0 s.*PodInitializing"):
        run_job(Cluster(WAITING), PLACE, ["verify", "--latest"])  # type: ignore[arg-type]  # stands for kubectl


def test_interrupt_deletes_the_job() -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    cluster = Cluster(RUNNING)
    cluster.logs = interrupted
    with pytest.raises(KeyboardInterrupt):
        run_job(cluster, PLACE, ["create"])  # type: ignore[arg-type]  # stands for kubectl
    assert cluster.calls[-1][2:4] == ("delete", "job")


def test_log_that_ends_before_the_container_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery_run, "_ENDED_SECONDS", 0.1)
    with pytest.raises(SandboxError, match="still runs, and its log has ended"):
        run_job(Cluster(RUNNING), PLACE, ["create"])  # type: ignore[arg-type]  # stands for kubectl


def told(code: int, *lines: str) -> Cluster:
    """A cluster whose program said something."""
    cluster = Cluster(RUNNING, ended(code))
    cluster.said = "\n".join(lines) + "\n"
    return cluster


def test_outcome_is_what_the_program_said_last_for_machines() -> None:
    cluster = told(1, '{"code": 0, "point": "old"}', "2026 note: x", '{"code": 1, "point": "p"}', "[1]", "3", "end")
    found = outcome_of(cluster, PLACE, ["verify", "--point", "p"])  # type: ignore[arg-type]  # stands for kubectl
    assert found == Outcome(1, {"code": 1, "point": "p"})
    arguments = cluster.made["spec"]["template"]["spec"]["containers"][0]["args"]
    assert arguments[2:] == ["--json", "verify", "--point", "p"]
    assert cluster.made["metadata"]["name"].startswith("recovery-verify-")


def test_program_that_said_nothing_has_no_outcome() -> None:
    assert outcome_of(told(3, "error: x"), PLACE, ["prune"]) == Outcome(3, {})  # type: ignore[arg-type]  # as above


def test_call_of_kubectl_that_fails_is_named_with_its_words(tmp_path: Path) -> None:
    program = tmp_path / "kubectl"
    program.write_text("#!/bin/sh\ncat >/dev/null\necho no such thing >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(ProgramError, match=r"kubectl -n a get 'pod b': .*exited with 1: no such thing") as caught:
        clients.Kubectl((str(program),), {"PATH": "/usr/bin:/bin"})("-n", "a", "get", "pod b", stdin="hidden")
    assert caught.value.output == "no such thing\n"
    assert "hidden" not in str(caught.value)
