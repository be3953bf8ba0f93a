"""`recovery`: the program of restore points as a Job in the cluster, made from the CronJob that has what it needs.

Nothing of it runs on this machine: the stores are reached from where they are, and no secret passes through here.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cli import deploy, stackfile
from cli.engine import engine_for
from sandbox.cluster.layout import direct
from sandbox.errors import SandboxError
from sandbox.process import ProgramError, run
from sandbox.programs.build import binary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cli.engine import Engine
    from sandbox.home import Home

Json = dict[str, Any]
CONTAINER: Final = "recovery"
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
_START_SECONDS: Final = 300.0
_KUBECTL_SECONDS: Final = 120.0
_PAUSE_SECONDS: Final = 1.0
_ENDED_SECONDS: Final = 60.0
_KEPT_SECONDS: Final = 3600
_TAIL_LINES: Final = 50


@dataclass(frozen=True)
class Kubectl:
    """kubectl of one stack. begin: program with its kubeconfig and context."""

    begin: tuple[str, ...]
    environment: dict[str, str]

    def __call__(self, *arguments: str, stdin: str | None = None, timeout: float = _KUBECTL_SECONDS) -> str:
        """What it printed. timeout: seconds. Raises ProgramError."""
        try:
            return run([*self.begin, *arguments], timeout=timeout, env=self.environment, stdin=stdin).stdout
        except ProgramError as error:  # arguments hold no secret, and without them nobody knows which call it was
            named = ProgramError((f"kubectl {shlex.join(arguments)}:",), str(error), "")
            named.output = error.output
            raise named from error

    def attached(self, *arguments: str) -> int:
        """Run it in front of the user; its exit code."""
        return subprocess.run([*self.begin, *arguments], env=self.environment, check=False).returncode


def recovery(home: Home, stack: str, words: Sequence[str]) -> int:
    """Run the program with these words in the cluster of a stack; its exit code. Raises SandboxError."""
    engine = engine_for(home, stack)
    word = _word(words)
    if word not in PLACES:
        raise SandboxError(
            f"make recovery RUN={' '.join(words)!r} names no word of the program",
            f"name one of {', '.join(PLACES)}, with its options: make recovery RUN='verify --latest'",
        )
    deploy.require_running(engine)
    contract = deploy.write_contract(engine, deploy.out_directory(engine))
    promised: Json = json.loads(contract.read_text())
    if promised.get("recovery") is None:
        raise SandboxError(f"stack {stack} has no recovery", "set plumbline:recovery.mode to managed, and run make up")
    return run_job(kubectl_of(engine, contract), promised["recovery"]["jobs"][PLACES[word]], words)


def _word(words: Sequence[str]) -> str:
    """The word of the program: options of its own may stand before it."""
    return next((word for word in words if not word.startswith("-")), "")


def kubectl_of(engine: Engine, contract: Path) -> Kubectl:
    """The pinned kubectl with the kubeconfig and context of the stack, whatever is current."""
    settings = stackfile.config(engine.config_file).get("plumbline:cluster") or {}
    kubeconfig = settings.get("kubeconfig")
    context = json.loads(contract.read_text())["cluster"]["context"]
    begin = [str(binary(engine.home, "kubectl")), f"--context={context}"]
    begin += [f"--kubeconfig={kubeconfig}"] if kubeconfig else []
    return Kubectl(tuple(begin), direct(os.environ))


@dataclass(frozen=True)
class Outcome:
    """code: exit code of the program. facts: what it said with `--json`, empty if that cannot be read."""

    code: int
    facts: Json


def run_job(kubectl: Kubectl, cron_job: Json, words: Sequence[str]) -> int:
    """Make the Job, show what it says, and give its exit code. cron_job: namespace and name.

    Ctrl-C deletes the Job: the program in it then ends in order, and starts again whom it stopped.
    """
    code, pod = _ended(kubectl, cron_job, words)
    _give_back(kubectl, cron_job["namespace"], pod)
    return code


def outcome_of(kubectl: Kubectl, cron_job: Json, words: Sequence[str]) -> Outcome:
    """As `run_job`, with what the program said of its outcome for machines. words: without `--json`."""
    code, pod = _ended(kubectl, cron_job, ("--json", *words))
    # Asked once more: a log that is followed may be cut off by whatever stands between.
    printed = kubectl("-n", cron_job["namespace"], "logs", pod, "-c", CONTAINER, f"--tail={_TAIL_LINES}")
    _give_back(kubectl, cron_job["namespace"], pod)
    return Outcome(code, _facts(printed))


def _give_back(kubectl: Kubectl, namespace: str, pod: str) -> None:
    """Delete a pod that has ended: volumes that were made for it go with it alone, and take up a quota until then."""
    kubectl("-n", namespace, "delete", "pod", pod, "--wait=false", "--ignore-not-found")


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


def _ended(kubectl: Kubectl, cron_job: Json, words: Sequence[str]) -> tuple[int, str]:
    """Exit code and pod of a Job that was made and has ended."""
    namespace = cron_job["namespace"]
    template = json.loads(kubectl("-n", namespace, "get", "cronjob", cron_job["name"], "-o", "json"))
    job = manifest(template, words, f"recovery-{_word(words)}-{time.time_ns() // 10**6 % 10**10}")
    name = job["metadata"]["name"]
    kubectl("-n", namespace, "create", "-f", "-", stdin=json.dumps(job))
    try:
        pod = _pod(kubectl, namespace, name)
        kubectl.attached("-n", namespace, "logs", "-f", pod, "-c", CONTAINER)
        return _exit_code(kubectl, namespace, pod), pod
    except KeyboardInterrupt:
        print(f"interrupted: deleting job {name}", file=sys.stderr)
        kubectl("-n", namespace, "delete", "job", name, "--wait=true")
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


def _pod(kubectl: Kubectl, namespace: str, job: str) -> str:
    """Its pod, once the container has begun. Raises SandboxError with what holds it up."""
    deadline = time.monotonic() + _START_SECONDS
    seen = "no pod was made"
    while time.monotonic() < deadline:
        listed = json.loads(kubectl("-n", namespace, "get", "pods", "-l", f"job-name={job}", "-o", "json"))
        for pod in listed["items"]:
            states = [one for one in pod["status"].get("containerStatuses") or [] if one["name"] == CONTAINER]
            if any(not {"running", "terminated"}.isdisjoint(one["state"]) for one in states):
                return str(pod["metadata"]["name"])
            seen = json.dumps([one["state"] for one in states] or pod["status"].get("conditions") or [])
        time.sleep(_PAUSE_SECONDS)
    raise SandboxError(
        f"job {namespace}/{job} did not start within {_START_SECONDS:.0f} s: {seen}",
        f"look at it: kubectl -n {namespace} describe job {job}, and its pods",
    )


def _exit_code(kubectl: Kubectl, namespace: str, pod: str) -> int:
    """Of its container, which has ended or is about to: logs end when it does."""
    deadline = time.monotonic() + _ENDED_SECONDS
    while time.monotonic() < deadline:
        try:
            found = json.loads(kubectl("-n", namespace, "get", "pod", pod, "-o", "json"))
        except ProgramError as error:
            raise SandboxError(f"pod {namespace}/{pod} is gone, its outcome unknown", "run it again") from error
        for status in found["status"].get("containerStatuses") or []:
            if status["name"] == CONTAINER and "terminated" in status["state"]:
                return int(status["state"]["terminated"]["exitCode"])
        time.sleep(_PAUSE_SECONDS)
    raise SandboxError(
        f"pod {namespace}/{pod} still runs, and its log has ended", f"follow it: kubectl -n {namespace} logs -f {pod}"
    )
