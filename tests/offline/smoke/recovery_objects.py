"""Recovery as the API server shows it, for one healthy stack. Tests damage copies of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from smoke.judge.recovery import Seen
from stacks.contract import Recovery
from tests.offline.smoke import objects

Json = dict[str, Any]

HERE = f"{objects.NAMESPACE}-recovery"
SWANLAB = f"{objects.NAMESPACE}-swanlab"
NOW = 1_800_000_000.0
HOUR, DAY = 3600, 86400
REFERENCE = "plumbline.local/recovery:0.1.0-1a2b3c4d"
IMAGE_ID = "sha256:" + "ef" * 32
WHERE = {"create": SWANLAB, "verify": HERE, "prune": HERE, "restore": SWANLAB}
PERIODS = {"create": 6 * HOUR, "verify": DAY, "prune": DAY, "restore": None}


def at(moment: float) -> str:
    """Unix time as Kubernetes writes it."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def promised(**changes: object) -> Recovery:
    """What the contract promises: points every 6 hours, verified every day, 8 hours may be lost."""
    image = {"container": "recovery", "reference": REFERENCE, "image_id": IMAGE_ID}
    reader = {"namespace": HERE, "name": "recovery-reader"}
    document = {
        "namespace": HERE,
        "jobs": {
            command: {
                "namespace": WHERE[command],
                "name": f"recovery-{command}",
                "period_seconds": period,
                "image": image,
            }
            for command, period in PERIODS.items()
        },
        "target": f"http://recovery-store.{HERE}.svc:8333",
        "bucket": "recovery",
        "region": "us-east-1",
        "own": True,
        "reader_access": {**reader, "key": "accessKey"},
        "reader_secret": {**reader, "key": "secretKey"},
        "signing": {"namespace": HERE, "name": "recovery-signing", "key": "key"},
        "lock_days": 7,
        "rpo_seconds": 8 * HOUR,
        "rto_seconds": 4 * HOUR,
        "gate_max_age_seconds": DAY,
        "sealed": False,
    }
    return Recovery.model_validate(document | changes)


def cron_job(command: str, made: float, **status: float) -> Json:
    """The CronJob. made: Unix time. status: its moments as Unix times."""
    context = {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    container = {"name": "recovery", "image": REFERENCE, "securityContext": {**context}}
    sidecars = [{"name": "postgres", "image": "postgres:1", "restartPolicy": "Always", "securityContext": context}]
    return {
        "kind": "CronJob",
        "metadata": {
            "name": f"recovery-{command}",
            "namespace": WHERE[command],
            "uid": f"cron-{command}",
            "creationTimestamp": at(made),
        },
        "spec": {
            "suspend": command == "restore",
            "concurrencyPolicy": "Forbid",
            "jobTemplate": {
                "spec": {"template": {"spec": {"initContainers": sidecars, "containers": [container]}}},
            },
        },
        "status": {name: at(moment) for name, moment in status.items()},
    }


def job(command: str, started: float, ended: float | None, failed: str = "", **annotations: str) -> Json:
    """A Job that the CronJob has started. failed: the reason, empty for one that ended well."""
    conditions = []
    if ended is not None:
        kind = {"type": "Failed", "reason": failed, "message": "it says why"} if failed else {"type": "Complete"}
        conditions = [{**kind, "status": "True", "lastTransitionTime": at(ended)}]
    name = f"recovery-{command}-{int(started) // 60}"
    return {
        "metadata": {
            "name": name,
            "namespace": WHERE[command],
            "uid": f"uid-{name}",
            "creationTimestamp": at(started),
            "labels": {"app.kubernetes.io/name": f"recovery-{command}"},
            "annotations": {"batch.kubernetes.io/cronjob-scheduled-timestamp": at(started), **annotations},
            "ownerReferences": [{"kind": "CronJob", "name": f"recovery-{command}", "uid": f"cron-{command}"}],
        },
        "status": {
            "conditions": conditions,
            **({"completionTime": at(ended)} if ended is not None and not failed else {}),
        },
    }


def pod(of: Json, phase: str = "Succeeded", **status: object) -> Json:
    """The pod of a Job. status: of its container."""
    meta = of["metadata"]
    state = {"name": "recovery", "restartCount": 0, "imageID": IMAGE_ID, "state": {}, **status}
    return {
        "metadata": {
            "name": f"{meta['name']}-x",
            "namespace": meta["namespace"],
            "uid": f"pod-{meta['name']}",
            "creationTimestamp": meta["creationTimestamp"],
            "labels": meta["labels"],
            "ownerReferences": [{"kind": "Job", "name": meta["name"], "uid": meta["uid"]}],
        },
        "spec": {"containers": [{"name": "recovery", "image": REFERENCE}]},
        "status": {"phase": phase, "startTime": meta["creationTimestamp"], "containerStatuses": [state]},
    }


def claim(of: Json) -> Json:
    """A claim that was made with a pod and goes with it."""
    meta = of["metadata"]
    owner = {"kind": "Pod", "name": meta["name"], "uid": meta["uid"]}
    return {"metadata": {"name": f"{meta['name']}-data", "namespace": meta["namespace"], "ownerReferences": [owner]}}


def seen(command: str, live: Json | None, jobs: list[Json], pods: list[Json] | None = None) -> Seen:
    """The CronJob of a command as a check sees it."""
    return Seen(promised().jobs[command], live, jobs, [pod(one) for one in jobs] if pods is None else pods)  # type: ignore[index]  # commands of tests are plain texts


def healthy() -> dict[str, Seen]:
    """CronJobs of a stack that is ten days old, each of which has ended well when it was due."""
    ages = {"create": 2 * HOUR, "verify": 5 * HOUR, "prune": 3 * HOUR}
    found = {}
    for command, age in ages.items():
        ran = job(command, NOW - age, NOW - age + 600)
        found[command] = seen(command, cron_job(command, NOW - 10 * DAY, lastScheduleTime=NOW - age), [ran])
    found["restore"] = seen("restore", cron_job("restore", NOW - 10 * DAY), [])
    return found
