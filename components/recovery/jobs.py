"""The CronJobs: who makes points, who verifies them, who deletes those that are no longer kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from components.objects import Manifest, metadata
from components.pods import quantities, restricted_container, restricted_pod
from components.recovery import scratch
from components.recovery.args import Alertmanager
from components.recovery.names import (
    CONFIG,
    CONFIG_FILE,
    CONFIG_PATH,
    CONTAINER,
    CREATE,
    CRON_JOBS,
    RESTORE_FILE,
    SCRATCH,
    SECRETS_PATH,
    SIGNING,
    WORK_PATH,
    object_labels,
)

if TYPE_CHECKING:
    from components.recovery.args import Command, RecoveryArgs

TIME_ZONE: Final = "Etc/UTC"
"""In a zone with summer time one night has no 02:30, and another has two."""
_START_WITHIN_SECONDS: Final = 600
_LONGEST_SECONDS: Final = 24 * 3600
"""A run that hangs would keep every later one from starting, and no alert about a failed Job would ever fire."""
_ATTEMPTS: Final = 2
_HISTORY: Final = 3
_KEPT_SECONDS: Final = 900
"""Claims of a verification go with its pod, and the pod with its Job: until then they take up the quota."""
_ARGUMENTS: Final[dict[Command, tuple[str, ...]]] = {
    "create": ("create", "--mode", "online"),
    "verify": ("verify", "--latest"),
    "prune": ("prune",),
    "restore": ("list",),
}
"""People who start a Job to restore name the word themselves; without one it changes nothing."""
_NEVER: Final = "0 0 1 1 *"
"""A CronJob must have a schedule, also one that is suspended."""


def cron_jobs(args: RecoveryArgs) -> dict[str, Manifest]:
    """Role → CronJob."""
    return {
        "cron-job-create": _cron_job(args, "create", args.swanlab_namespace, _create_pod(args)),
        "cron-job-verify": _cron_job(args, "verify", args.namespace, _verify_pod(args), kept=_KEPT_SECONDS),
        "cron-job-prune": _cron_job(args, "prune", args.namespace, _prune_pod(args)),
        "cron-job-restore": _cron_job(args, "restore", args.swanlab_namespace, _restore_pod(args)),
    }


def arguments(command: Command) -> list[str]:
    """The command line, see recovery/__main__.py."""
    file = RESTORE_FILE if command == "restore" else CONFIG_FILE
    return ["--config", f"{CONFIG_PATH}/{file}", *_ARGUMENTS[command]]


def create_secrets(args: RecoveryArgs) -> tuple[str, ...]:
    """Secrets that the creating pod mounts: of the live stores, those to seal, of two accounts, and the signing key.

    The reader's: both accounts are tried before each point, and what the target has is not sent again.
    """
    sealed = args.sealed if args.recovery_public_key is not None else ()
    target = args.target
    return tuple(dict.fromkeys((*_live_secrets(args), *sealed, target.writer.secret, target.reader.secret, SIGNING)))


def _live_secrets(args: RecoveryArgs) -> tuple[str, ...]:
    return tuple(dict.fromkeys(store.secret for store in args.stores if not isinstance(store, Alertmanager)))


def _create_pod(args: RecoveryArgs) -> Manifest:
    """Its account may scale what a quiesced point stops."""
    pod = _pod(args, "create", create_secrets(args))
    return {**pod, "serviceAccountName": CREATE, "automountServiceAccountToken": True}


def _restore_pod(args: RecoveryArgs) -> Manifest:
    """It writes into live stores, reads points, and has the key of no other account."""
    pod = _pod(args, "restore", (*_live_secrets(args), args.target.reader.secret, SIGNING))
    return {**pod, "serviceAccountName": CREATE, "automountServiceAccountToken": True}


def _verify_pod(args: RecoveryArgs) -> Manifest:
    """One pod with stores of its own, and no credential of a live one. The verdict is written beside the point."""
    target = args.target
    pod = _pod(args, "verify", (target.reader.secret, target.writer.secret, SIGNING, SCRATCH))
    return {
        **pod,
        "initContainers": scratch.sidecars(args),
        "volumes": [*pod["volumes"], *scratch.volumes(args)],
    }


def _prune_pod(args: RecoveryArgs) -> Manifest:
    return _pod(args, "prune", (args.target.reader.secret, args.target.pruner.secret, SIGNING))


def _pod(args: RecoveryArgs, command: Command, secrets: tuple[str, ...]) -> Manifest:
    return {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "restartPolicy": "OnFailure",
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "securityContext": restricted_pod(),
        "containers": [_container(args, command, secrets)],
        "volumes": [
            {"name": "config", "configMap": {"name": CONFIG}},
            {"name": "work", "emptyDir": {"sizeLimit": args.volume_work}},
            {"name": "tmp", "emptyDir": {"sizeLimit": "256Mi"}},
            *(_secret(name, optional=name in args.may_be_absent) for name in secrets),
        ],
    }


def _container(args: RecoveryArgs, command: Command, secrets: tuple[str, ...]) -> Manifest:
    """Keys are files: a variable is shown by whatever shows a process."""
    mounts: list[dict[str, Any]] = [
        {"name": "config", "mountPath": CONFIG_PATH, "readOnly": True},
        {"name": "work", "mountPath": WORK_PATH},
        {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108  # a volume of the pod
        *({"name": _volume(name), "mountPath": f"{SECRETS_PATH}/{name}", "readOnly": True} for name in secrets),
    ]
    return {
        "name": CONTAINER,
        "image": args.image.reference,
        "imagePullPolicy": "IfNotPresent",
        "args": arguments(command),
        "resources": quantities(args.resources),
        "securityContext": restricted_container(),
        "volumeMounts": mounts,
    }


def _secret(name: str, *, optional: bool) -> Manifest:
    found: Manifest = {"secretName": name, "defaultMode": 0o440}
    return {"name": _volume(name), "secret": {**found, **({"optional": True} if optional else {})}}


def _volume(secret: str) -> str:
    """The name of a volume has no dot, that of a Secret may."""
    return f"secret-{secret.replace('.', '-')}"


def _cron_job(args: RecoveryArgs, command: Command, namespace: str, pod: Manifest, kept: int | None = None) -> Manifest:
    """kept: seconds that an ended Job stays, None: by the limits of the history."""
    name = CRON_JOBS[command]
    labels = object_labels(args.instance, name, args.image.version)
    shown = {"kubectl.kubernetes.io/default-container": CONTAINER}
    job: Manifest = {
        "backoffLimit": _ATTEMPTS,
        "activeDeadlineSeconds": _LONGEST_SECONDS,
        "template": {"metadata": {"labels": labels, "annotations": shown}, "spec": pod},
    }
    if kept is not None:
        job["ttlSecondsAfterFinished"] = kept
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": metadata(name, labels, namespace),
        "spec": {
            "schedule": args.schedules[command].cron if command in args.schedules else _NEVER,
            **({"suspend": True} if command not in args.schedules else {}),
            "timeZone": TIME_ZONE,
            "concurrencyPolicy": "Forbid",
            "startingDeadlineSeconds": _START_WITHIN_SECONDS,
            "successfulJobsHistoryLimit": _HISTORY,
            "failedJobsHistoryLimit": _HISTORY,
            "jobTemplate": {"metadata": {"labels": labels}, "spec": job},
        },
    }


def job_memory(args: RecoveryArgs) -> tuple[str, ...]:
    """Limits of memory of a verification's containers, the largest pod of the namespace."""
    verify = _verify_pod(args)
    return tuple(c["resources"]["limits"]["memory"] for c in (*verify["initContainers"], *verify["containers"]))
