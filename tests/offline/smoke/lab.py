"""The world with SwanLab and an object store: their pods, claims and Secrets, and drivers that need no SDK."""

from __future__ import annotations

import base64
import json
import sys
from typing import TYPE_CHECKING, Any

from smoke.main import main
from smoke.sdk.environments import read_lock
from tests.offline.smoke import objects
from tests.offline.smoke.fake_swanlab import KEY, FakeStore, FakeSwanLab

if TYPE_CHECKING:
    from pathlib import Path

    from tests.offline.smoke.conftest import World

Json = dict[str, Any]

SPACE = f"{objects.NAMESPACE}-swanlab"
BASE = f"/api/v1/namespaces/{SPACE}"
LARGE = 4 * 1024**2
PGDATA = "/var/lib/postgresql/data"
CAPABILITIES = ["object-store", "experiments", "experiments-pod", "disruptive"]
STORES = {
    "postgres": ("postgres", "swanlab-postgres-pvc", PGDATA),
    "redis": ("redis", "swanlab-redis-pvc", "/data"),
    "clickhouse": ("clickhouse", "swanlab-clickhouse-pvc", "/var/lib/clickhouse"),
    "buffer": ("vector", "data-swanlab-self-hosted-vector-0", "/data"),
}
# Mounts as every store's container sees them; each looks at its own.
EXEC = "".join(f"mount /dev/vda1 {point} ext4 rw 0 0\n" for point in ("/", PGDATA, "/data", "/var/lib/clickhouse"))
# Stands in for the Python of an environment: `-I driver.py plan.json`.
DRIVER = """#!{python}
import os, sys, urllib.request
with open(sys.argv[-1], "rb") as plan:
    asked = urllib.request.Request(os.environ["SWANLAB_API_HOST"] + "/fake/play", plan.read())
asked.add_header("authorization", os.environ["SWANLAB_API_KEY"])
print(urllib.request.urlopen(asked).read().decode())
"""


class Lab:
    """SwanLab in the world. Damage its parts, then run smoke on it. dies: called when a pod of SwanLab is killed."""

    def __init__(self, world: World, swanlab: str, store: str) -> None:
        self.world = world
        self.swanlab, self.store = FakeSwanLab(), FakeStore()
        self.addresses = (swanlab, store)
        self.logs: dict[str, str] = {}
        self.phase = "Succeeded"
        self.killed: list[str] = []
        self._get, self._delete, self._create = world.api.get, world.api.delete, world.api.create
        for name in ("get", "delete", "create"):
            setattr(world.api, name, getattr(self, name))
        self._add_objects()
        self._add_environment(world.directory / "home")

    @property
    def pods(self) -> list[Json]:
        """Pods of SwanLab's namespace."""
        found: list[Json] = self.world.api.objects[f"{BASE}/pods"]
        return found

    def contract(self, **changes: object) -> Json:
        """The outputs contract."""
        own = objects.contract().model_dump(mode="json")
        own |= {
            "capabilities": CAPABILITIES,
            "components": own["components"] | self._components(),
            "experiments": self._experiments(),
            "object_store": {"buckets": [bucket("swanlab-private"), bucket("swanlab-public", public_read=True)]},
            "expected_checks": ["cluster.identity"],
        }
        own["components"]["prometheus"]["endpoints"]["http"]["url"] = self.world.prometheus_address
        return own | changes

    def run(self, *only: str, impact: str = "sentinel", **changes: object) -> tuple[int, Json]:
        """Run these checks; gives exit code and report."""
        path: Path = self.world.directory / "contract.json"
        path.write_text(json.dumps(self.contract(**changes)))
        code = main(self.world.arguments("--impact", impact, "--only", *only))
        return code, self.world.report()

    def left(self) -> list[str]:
        """Everything of smoke's own that is there."""
        made = [o["metadata"]["name"] for k in ("pods", "configmaps") for o in self.world.api.objects[f"{BASE}/{k}"]]
        own = [name for name in made if name.startswith("plumbline-")]
        return [*own, *(run.name for run in self.swanlab.runs.values()), *self.store.objects]

    def get(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        """Answer a GET as the API server does, label selectors and logs included."""
        if path.endswith("/log") and path.startswith(f"{BASE}/pods/"):
            return 200, self.logs.get(path.split("/")[-2], "")
        code, found = self._get(path, query)
        label, _, value = query.get("labelSelector", "").partition("=")
        if label and value and "items" in found:
            return code, {
                "items": [o for o in found["items"] if (o["metadata"].get("labels") or {}).get(label) == value]
            }
        if code != 404 or not path.startswith(f"{BASE}/"):
            return code, found
        kind, _, name = path.removeprefix(f"{BASE}/").partition("/")
        listed = self.world.api.objects.get(f"{BASE}/{kind}", [])
        one = next((o for o in listed if o["metadata"]["name"] == name), None)
        return (200, one) if one else (code, found)

    def create(self, path: str, body: Json) -> tuple[int, Any]:
        """Create an object of smoke's own; a pod has run at once."""
        if not path.startswith(BASE):
            return self._create(path, body)
        body["metadata"] |= {"uid": f"made-{len(self.world.api.asked)}", "namespace": SPACE}
        if body["kind"] == "Pod":
            plan = next(o["data"]["plan.json"] for o in self.world.api.objects[f"{BASE}/configmaps"])
            self.logs[body["metadata"]["name"]] = self.swanlab.play(json.loads(plan))
            body["status"] = {"phase": self.phase}
        self.world.api.objects[path].append(body)
        return 201, body

    def delete(self, path: str, body: Json) -> tuple[int, Any]:
        """Delete an object of smoke's own; another pod of the same name takes the place of any other at once."""
        uid, listed = body["preconditions"]["uid"], self.world.api.objects.get(path.rpartition("/")[0], [])
        found = next((o for o in listed if o["metadata"]["uid"] == uid), None)
        if found is None or not path.startswith((BASE, f"/api/v1/namespaces/{objects.NAMESPACE}/pods/object-store")):
            return self._delete(path, body)
        if found["metadata"]["name"].startswith("plumbline-"):
            listed.remove(found)
        else:
            found["metadata"]["uid"] += "+"
            self.killed.append(found["metadata"]["name"])
        return 200, {}

    def _add_objects(self) -> None:
        held = self.world.api.objects
        for kind in ("pods", "configmaps"):
            held[f"{BASE}/{kind}"] = []
        for service, claim, point in STORES.values():
            self.pods.append(pod(f"{service}-0", service, claim, point))
            held[f"{BASE}/persistentvolumeclaims/{claim}"] = {"metadata": {"name": claim, "uid": f"uid-{claim}"}}
        self.pods.append(pod("server-0", "server", None, "/tmp"))  # noqa: S108  # in a manifest
        key = base64.b64encode(KEY.encode()).decode()
        held[f"{BASE}/secrets/swanlab-api-key"] = {"data": {"api-key": key}}
        text = {"swanlab-access-key": "swanlab", "swanlab-secret-key": "verysecret"}
        text |= {"media-access-key": "media", "media-secret-key": "verysecret2"}
        data = {name: base64.b64encode(value.encode()).decode() for name, value in text.items()}
        held[f"/api/v1/namespaces/{objects.NAMESPACE}/secrets/object-store-keys"] = {"data": data}
        store = pod("object-store-0", "object-store", None, "/data")
        store["metadata"]["labels"] |= {"app.kubernetes.io/name": "object-store"}
        held[f"/api/v1/namespaces/{objects.NAMESPACE}/pods"].append(store)
        sets = f"/apis/apps/v1/namespaces/{objects.NAMESPACE}/statefulsets"
        selector = {"matchLabels": {"app.kubernetes.io/name": "object-store"}}
        held[f"{sets}/object-store"] = {"metadata": {"name": "object-store"}, "spec": {"selector": selector}}

    def _add_environment(self, home: Path) -> None:
        """An environment that is there already, with a Python that plays the driver."""
        python = home / "cache" / "sdk" / read_lock("0.8.4").name / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(DRIVER.format(python=sys.executable))
        python.chmod(0o755)
        (self.world.directory / "bin" / "exec").write_text(f"{EXEC}end -\n")
        for store in ("postgres", "redis", "clickhouse"):
            self.keeps(store, STORES[store][2])

    def keeps(self, store: str, directory: str) -> None:
        """Say where the program of a store keeps its state."""
        (self.world.directory / "bin" / f"exec-{store}").write_text(f"at {directory}\nend\n")

    def _components(self) -> Json:
        swanlab, store = self.addresses
        claims = [{"name": claim, "size": "1Gi", "mounted_at": point} for _, claim, point in STORES.values()]
        endpoint = {"service": "swanlab-self-hosted", "namespace": SPACE, "port": 80, "url": swanlab}
        image = {"container": "object-store", "reference": "weed:1"}
        return {
            "swanlab": {
                **{"tier": "simulated", "namespace": SPACE, "claims": claims},
                "endpoints": {"http": endpoint, "gate": endpoint},
            },
            "object-store": {
                "tier": "live",
                "workloads": [{"kind": "StatefulSet", "name": "object-store", "replicas": 1, "images": [image]}],
                "endpoints": {"http": {"service": "object-store", "port": 8333, "url": store}},
            },
        }

    def _experiments(self) -> Json:
        stores: Json = {name: {"mode": "chart", "claims": [claim]} for name, (_, claim, _) in STORES.items()}
        return {
            "sdk": "0.8.4",
            "host": f"http://swanlab-self-hosted.{SPACE}.svc",
            "login": _ref(SPACE, "swanlab-api-key", "api-key"),
            "sdk_image": "sdk:1",
            "stores": {**stores, "s3": {"mode": "external"}},
            "body_limit": LARGE,
        }


def pod(name: str, service: str, claim: str | None, point: str) -> Json:
    """A running pod of SwanLab, with its state on a claim."""
    source: Json = {"persistentVolumeClaim": {"claimName": claim}} if claim else {"emptyDir": {}}
    status = objects.pod()["status"]
    status["containerStatuses"][0]["name"] = service
    return {
        "metadata": {"name": name, "namespace": SPACE, "uid": name, "labels": {"app.kubernetes.io/service": service}},
        "spec": {
            "containers": [{"name": service, "volumeMounts": [{"name": "data", "mountPath": point}]}],
            "volumes": [{"name": "data", **source}],
        },
        "status": status,
    }


def bucket(name: str, owner: str = "swanlab", *, public_read: bool = False) -> Json:
    """A bucket as the contract promises it."""
    roles = {"access": f"{owner}-access-key", "secret": f"{owner}-secret-key"}
    refs = {role: _ref(objects.NAMESPACE, "object-store-keys", entry) for role, entry in roles.items()}
    return {"name": name, "owner": owner, "public_read": public_read, **refs}


def _ref(namespace: str, name: str, key: str) -> Json:
    return {"namespace": namespace, "name": name, "key": key}
