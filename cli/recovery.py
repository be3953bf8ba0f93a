"""`recovery`: the program of restore points as a Job in the cluster, made from the CronJob that has what it needs.

Nothing of it runs on this machine: the stores are reached from where they are, and no secret passes through here.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cli import clients, deploy
from cli.engine import engine_for
from cli.recovery_run import CONTAINER, FAILED, WRONG, Run
from sandbox.errors import SandboxError
from sandbox.process import ProgramError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cli.clients import Kubectl
    from cli.recovery_run import Ended
    from sandbox.home import Home

Json = dict[str, Any]
PLACES: Final = {
    "create": "create",
    "resume": "create",
    "verify": "verify",
    "prune": "prune",
    "list": "prune",
    "status": "prune",
    "restore": "restore",
    "promote": "restore",
    "demote": "restore",
    "confirm": "restore",
    "discard": "restore",
}
"""Word of the program → CronJob of the contract whose pods have the accounts and stores that it needs."""
_AS_SCHEDULED: Final = frozenset(
    {
        ("create",),
        ("create", "--mode", "online"),
        ("create", "--mode", "quiesced"),
        ("verify", "--latest"),
        ("prune",),
    }
)
"""Words that do what the schedule does. Their Job belongs to the CronJob, whose last success it becomes: an upgrade
asks for that. A verification of a point of last week, or `--help`, must never count as one."""
_KEPT_SECONDS: Final = 3600
_TAIL_LINES: Final = 50


def recovery(home: Home, stack: str, words: Sequence[str]) -> int:
    """Run the program with these words in the cluster of a stack; its exit code.

    0 it is done and good, 1 the program's verdict is bad, 2 the words are wrong, 3 there is no verdict: what keeps the
    program from one, there or here, is told and never taken for a bad one.
    """
    word = _word(words)
    if word not in PLACES:
        _refuse(
            SandboxError(
                f"make recovery RUN={' '.join(words)!r} names no word of the program",
                f"name one of {', '.join(PLACES)}, with its options: make recovery RUN='verify --latest'",
            )
        )
        return WRONG
    try:
        return _in_cluster(home, stack, words)
    except (SandboxError, ProgramError) as error:
        _refuse(error)
        return FAILED


def _refuse(error: Exception) -> None:
    print(f"error: {error}", file=sys.stderr)


def _in_cluster(home: Home, stack: str, words: Sequence[str]) -> int:
    engine = engine_for(home, stack)
    deploy.require_running(engine)
    contract = deploy.write_contract(engine, deploy.out_directory(engine))
    promised: Json = json.loads(contract.read_text())
    if promised.get("recovery") is None:
        raise SandboxError(f"stack {stack} has no recovery", "set plumbline:recovery.mode to managed, and run make up")
    return run_job(clients.kubectl_of(engine, contract), promised["recovery"]["jobs"][PLACES[_word(words)]], words)


def _word(words: Sequence[str]) -> str:
    """The word of the program: options of its own may stand before it."""
    return next((word for word in words if not word.startswith("-")), "")


@dataclass(frozen=True)
class Outcome:
    """code: exit code of the program. facts: what it said with `--json`, empty if that cannot be read."""

    code: int
    facts: Json


def run_job(kubectl: Kubectl, cron_job: Json, words: Sequence[str]) -> int:
    """Make the Job, show what it says, and give the exit code of the program. cron_job: namespace and name.

    Its Job has ended with the verdict of the program when this returns. Ctrl-C deletes the Job: the program in it then
    ends in order, and starts again whom it stopped. Raises SandboxError where there is no verdict.
    """
    job, pod, ended = _ended(kubectl, cron_job, words)
    return job.settle(pod, ended)


def outcome_of(kubectl: Kubectl, cron_job: Json, words: Sequence[str]) -> Outcome:
    """As `run_job`, with what the program said of its outcome for machines. words: without `--json`."""
    job, pod, ended = _ended(kubectl, cron_job, ("--json", *words))
    # Asked once more: a log that is followed may be cut off by whatever stands between.
    printed = kubectl("-n", cron_job["namespace"], "logs", pod, "-c", CONTAINER, f"--tail={_TAIL_LINES}")
    return Outcome(job.settle(pod, ended), _facts(printed))


def _facts(printed: str) -> Json:
    """The last line that is an outcome."""
    for line in reversed(printed.splitlines()):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict) and "code" in found:
            return found
    return {}


def _ended(kubectl: Kubectl, cron_job: Json, words: Sequence[str]) -> tuple[Run, str, Ended]:
    """A Job that was made, its pod, and how the program in it ended."""
    namespace = cron_job["namespace"]
    template = json.loads(kubectl("-n", namespace, "get", "cronjob", cron_job["name"], "-o", "json"))
    job = manifest(template, words, f"recovery-{_word(words)}-{time.time_ns() // 10**6 % 10**10}")
    name = job["metadata"]["name"]
    made = Run(kubectl, namespace, name, cron_job["name"] if "ownerReferences" in job["metadata"] else "")
    try:
        kubectl("-n", namespace, "create", "-f", "-", stdin=json.dumps(job))
        pod = made.begun()
        kubectl.attached("-n", namespace, "logs", "-f", pod, "-c", CONTAINER)
        return made, pod, made.ended(pod)
    except KeyboardInterrupt:
        print(f"interrupted: deleting job {name}", file=sys.stderr)
        # One that was interrupted while it was made is there, or is not.
        kubectl("-n", namespace, "delete", "job", name, "--wait=true", "--ignore-not-found")
        raise


def manifest(cron_job: Json, words: Sequence[str], name: str) -> Json:
    """The Job of a CronJob with other words. It is tried once, since somebody looks at it, and goes after an hour.

    One that the CronJob owns may go earlier: it counts for the limits of the history.
    """
    spec = json.loads(json.dumps(cron_job["spec"]["jobTemplate"]["spec"]))
    spec |= {"backoffLimit": 0, "ttlSecondsAfterFinished": _KEPT_SECONDS}
    pod = spec["template"]["spec"]
    pod["restartPolicy"] = "Never"
    (container,) = (one for one in pod["containers"] if one["name"] == CONTAINER)
    arguments = list(container["args"])
    # What stands before the word says where the configuration is.
    container["args"] = [*arguments[: arguments.index("--config") + 2], *words]
    meta = cron_job["metadata"]
    labels = (cron_job["spec"]["jobTemplate"].get("metadata") or {}).get("labels") or meta.get("labels") or {}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": meta["namespace"], "labels": labels, **_owned(meta, words)},
        "spec": spec,
    }


def _owned(cron_job: Json, words: Sequence[str]) -> Json:
    """What `kubectl create job --from` writes on a Job. cron_job: its metadata. Nothing for other words."""
    if tuple(word for word in words if word != "--json") not in _AS_SCHEDULED:
        return {}
    # Without blockOwnerDeletion: who sets that needs a right to finalizers of CronJobs.
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": cron_job["name"], "uid": cron_job["uid"]}
    return {
        "annotations": {"cronjob.kubernetes.io/instantiate": "manual"},
        "ownerReferences": [{**owner, "controller": True}],
    }
