"""The world with recovery: a stand-in for the cluster in front of the real object store with its locks."""

from __future__ import annotations

import base64
import json
import time
from typing import TYPE_CHECKING, Any

from minio import Minio
from minio.commonconfig import COMPLIANCE
from minio.objectlockconfig import DAYS, ObjectLockConfig

from signals import recovery_metrics as told_by
from smoke.main import main
from tests.offline.recovery.locked import LOCKED, secret
from tests.offline.smoke import objects
from tests.offline.smoke.conftest import check_of
from tests.offline.smoke.promql import Series
from tests.offline.smoke.recovery_objects import DAY, HERE, HOUR, SWANLAB, cron_job, job, pod, promised

if TYPE_CHECKING:
    from tests.offline.recovery.locked import Locked
    from tests.offline.smoke.conftest import World

Json = dict[str, Any]
JOBS, POINTS, TARGET = "recovery.jobs", "recovery.points", "recovery.target"
STORE = "recovery-store"


class Site:
    """The world with recovery, ten days old and in order. Damage it, then run smoke on it."""

    def __init__(self, world: World) -> None:
        self.world, self.now = world, time.time()
        self.own: Json = {"own": False, "target": "http://127.0.0.1:1", "bucket": LOCKED}
        self.runs: dict[str, Json] = {}
        for space in (HERE, SWANLAB):
            for kind in ("pods", "persistentvolumeclaims"):
                self.objects[f"/api/v1/namespaces/{space}/{kind}"] = []
            self.objects[f"/apis/batch/v1/namespaces/{space}/jobs"] = []
        self.pods(SWANLAB).append(_standing("house-0", SWANLAB))
        self.pods(HERE).append(_standing(f"{STORE}-0", HERE))
        self.objects[f"/apis/apps/v1/namespaces/{HERE}/statefulsets/{STORE}"] = objects.stateful_set()
        for command, age in {"create": 2 * HOUR, "verify": 5 * HOUR, "prune": 3 * HOUR, "restore": None}.items():
            self.made(command, 10 * DAY)
            if age is not None:
                self.ran(command, age)
        self.tell(told_by.LAST_POINT, told_by.CREATE, self.now - 2 * HOUR)
        self.tell(told_by.LAST_VERIFIED, told_by.VERIFY, self.now - 5 * HOUR)
        self.tell(told_by.DIFFERENCES, told_by.VERIFY, 0)
        self.reader("reader")

    @property
    def objects(self) -> dict[str, Any]:
        """Path → object of the API server."""
        return self.world.api.objects

    def pods(self, space: str) -> list[Json]:
        """Pods of a namespace."""
        found: list[Json] = self.objects[f"/api/v1/namespaces/{space}/pods"]
        return found

    def made(self, command: str, age: float) -> Json:
        """Its CronJob, anew. age: seconds."""
        live = cron_job(command, self.now - age)
        space, name = live["metadata"]["namespace"], live["metadata"]["name"]
        self.objects[f"/apis/batch/v1/namespaces/{space}/cronjobs/{name}"] = live
        return live

    def ran(self, command: str, age: float, failed: str = "", *, ended: bool = True) -> Json:
        """A Job of it, and its pod."""
        started = self.now - age
        one = job(command, started, started + 60 if ended else None, failed)
        space = one["metadata"]["namespace"]
        self.objects[f"/apis/batch/v1/namespaces/{space}/jobs"].append(one)
        state = ("Failed" if failed else "Succeeded") if ended else "Running"
        self.pods(space).append(pod(one, state))
        return self.pods(space)[-1]

    def tell(self, metric: str, job_name: str, value: float | None, cluster: str = "local") -> None:
        """What was pushed, None for nothing."""
        series = self.world.prometheus.series
        labels = {"__name__": metric, "job": job_name, "cluster": cluster}
        series[:] = [one for one in series if one.labels != labels]
        series.extend([] if value is None else [Series(labels, value)])

    def reader(self, account: str) -> None:
        """Whose key the Secret of the reader holds."""
        keys = {"accessKey": account, "secretKey": secret(account)}
        data = {key: base64.b64encode(value.encode()).decode() for key, value in keys.items()}
        self.objects[f"/api/v1/namespaces/{HERE}/secrets/recovery-reader"] = {"data": data}

    def run(self, *only: str, impact: str = "sentinel") -> tuple[int, dict[str, str], Json]:
        """Run these checks; gives exit code, id → evidence, and the report."""
        document = objects.contract().model_dump(mode="json")
        document["components"]["prometheus"]["endpoints"]["http"]["url"] = self.world.prometheus_address
        document["components"] |= {"recovery": _component(), "swanlab": {"tier": "live", "namespace": SWANLAB}}
        document["capabilities"] += ["recovery"]
        document["recovery"] = promised(**self.own).model_dump(mode="json")
        (self.world.directory / "contract.json").write_text(json.dumps(document))
        code = main(self.world.arguments("--impact", impact, "--only", *only))
        report = self.world.report()
        return code, {name: check_of(report, name)["evidence"] for name in only}, report


def _standing(name: str, space: str) -> Json:
    made = objects.pod()
    made["metadata"] |= {"name": name, "namespace": space, "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z"}
    if space == SWANLAB:
        made["metadata"]["labels"] = {"app": "house"}
    return made


def _component() -> Json:
    image = {"container": "prometheus", "reference": objects.REFERENCE, "image_id": objects.IMAGE_ID}
    return {
        "tier": "live",
        "namespace": HERE,
        "workloads": [{"kind": "StatefulSet", "name": STORE, "replicas": 1, "images": [image]}],
    }


def lock(store: Locked, bucket: str) -> None:
    """Give a bucket a default retention of seven days."""
    admin = Minio(store.endpoint.removeprefix("http://"), "admin", secret("admin"), secure=False, region="us-east-1")
    admin.set_object_lock_config(bucket, ObjectLockConfig(COMPLIANCE, 7, DAYS))
