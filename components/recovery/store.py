"""The bucket that a stack brings itself: an object store of its own with object lock, on a claim of its own.

It is a second store and not a bucket of the first: one mistake, or one stolen key, must not reach both.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from components.naming import PART_OF
from components.network import namespaced_pods
from components.object_store.args import Bucket, Grant, ObjectStoreArgs
from components.object_store.manifests import manifests as object_store_manifests
from components.object_store.names import ADMIN, PORT, REGION, selector
from components.objects import Manifest, config_map, metadata
from components.pods import quantities, restricted_container
from components.prometheus.args import Resources
from components.recovery.names import (
    ACCESS_KEY,
    BUCKET,
    KEEPER,
    PRUNER,
    READER,
    SECRET_KEY,
    STORE,
    STORE_ADMIN,
    WRITER,
    beside_live_stores,
    object_labels,
    secret_file,
)

if TYPE_CHECKING:
    from components.images import ImagePin
    from components.recovery.args import RecoveryArgs

SCRIPT: Final = Path(__file__).with_name("keep_lock.py")
_REVISION: Final = f"{PART_OF}/keep-lock"
_SCRIPT_PATH: Final = "/opt/keep-lock"
_READY_PATH: Final = "/run/keep-lock"
_READY: Final = f"{_READY_PATH}/ready"
_STORE: Final = Resources(cpu_request="50m", memory_request="256Mi", memory_limit="1Gi")
KEEPER_RESOURCES: Final = Resources(cpu_request="5m", memory_request="48Mi", memory_limit="128Mi")

_READS_OBJECTS: Final = ("s3:GetObject", "s3:GetObjectVersion", "s3:GetObjectRetention")
_READS_BUCKET: Final = (
    *("s3:ListBucket", "s3:ListBucketVersions"),
    *("s3:GetBucketVersioning", "s3:GetBucketObjectLockConfiguration"),
)
GRANTS: Final = (
    Grant(identity=WRITER, bucket=BUCKET, on_objects=("s3:PutObject",)),
    Grant(identity=READER, bucket=BUCKET, on_objects=_READS_OBJECTS, on_bucket=_READS_BUCKET),
    Grant(
        identity=PRUNER,
        bucket=BUCKET,
        on_objects=(*_READS_OBJECTS, "s3:DeleteObject", "s3:DeleteObjectVersion"),
        on_bucket=_READS_BUCKET,
    ),
)
"""The writer puts and does nothing else: whoever has its key can neither read, list nor delete what is there."""


def own_store_args(  # noqa: PLR0913  # what a store is made of, each from another setting
    *,
    stack: str,
    instance: str,
    namespace: str,
    image: ImagePin,
    volume: str,
    volume_bytes: int,
    storage_class: str | None,
    network_policies: bool,
    generation: int,
) -> ObjectStoreArgs:
    """Arguments of the store. instance: the stack's namespace. namespace: recovery's own."""
    return ObjectStoreArgs(
        stack=stack,
        namespace=namespace,
        image=image,
        volume=volume,
        volume_bytes=volume_bytes,
        storage_class=storage_class,
        resources=_STORE,
        network_policies=network_policies,
        buckets=(Bucket(name=BUCKET, owner=ADMIN, locked=True),),
        generation=generation,
        name=STORE,
        instance=instance,
        grants=GRANTS,
    )


def own_endpoint(namespace: str) -> str:
    """Address of the store. namespace: recovery's own."""
    return f"http://{STORE}.{namespace}.svc:{PORT}"


def own_region() -> str:
    """The store takes a signature of any region."""
    return REGION


def store_manifests(args: RecoveryArgs, own: ObjectStoreArgs) -> dict[str, Manifest]:
    """Role → manifest, the workload last. Raises DeployError, see components/object_store/options.py."""
    found = {f"store-{role}": manifest for role, manifest in object_store_manifests(own).items()}
    found["store-network-policy"] = _network_policy(args)
    script = {SCRIPT.name: SCRIPT.read_text(encoding="utf-8")}
    found["store-keep-lock"] = config_map(KEEPER, args.namespace, object_labels(args.instance), script, {})
    found["store-stateful-set"] = _with_keeper(found.pop("store-stateful-set"), args)
    return found


def _network_policy(args: RecoveryArgs) -> Manifest:
    """S3 alone, to the pods that make or restore points and to this namespace. Every other port takes orders."""
    beside = beside_live_stores(args.instance)
    sources = [*(namespaced_pods(args.swanlab_namespace, labels) for labels in beside), {"podSelector": {}}]
    rule = {"from": sources, "ports": [{"port": PORT, "protocol": "TCP"}]}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(STORE, object_labels(args.instance), args.namespace),
        "spec": {
            "podSelector": {"matchLabels": selector(args.instance, STORE)},
            "ingress": [rule],
            "policyTypes": ["Ingress"],
        },
    }


def _with_keeper(workload: Manifest, args: RecoveryArgs) -> Manifest:
    """The pod counts as ready with both: without the default retention the lock locks nothing."""
    template = workload["spec"]["template"]
    pod = template["spec"]
    volumes: list[dict[str, Any]] = [
        {"name": "keep-lock", "configMap": {"name": KEEPER}},
        {"name": "keep-lock-ready", "emptyDir": {"sizeLimit": "1Mi"}},
        {"name": "admin", "secret": {"secretName": STORE_ADMIN, "defaultMode": 0o440}},
    ]
    joined = {**pod, "containers": [*pod["containers"], _keeper(args)], "volumes": [*pod["volumes"], *volumes]}
    # Another script starts it anew, as another number of days does: it reads both at its start alone.
    script = hashlib.sha256(SCRIPT.read_bytes()).hexdigest()[:16]
    annotations = {**template["metadata"]["annotations"], _REVISION: script}
    meta = {**template["metadata"], "annotations": annotations}
    return {**workload, "spec": {**workload["spec"], "template": {"metadata": meta, "spec": joined}}}


def _keeper(args: RecoveryArgs) -> Manifest:
    return {
        "name": KEEPER,
        "image": args.image.reference,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/usr/bin/python3", "-P", f"{_SCRIPT_PATH}/{SCRIPT.name}"],
        "args": [
            f"--endpoint=127.0.0.1:{PORT}",
            f"--bucket={args.target.bucket}",
            f"--days={args.target.lock_days}",
            f"--access-key-file={secret_file(STORE_ADMIN, ACCESS_KEY)}",
            f"--secret-key-file={secret_file(STORE_ADMIN, SECRET_KEY)}",
            f"--ready-file={_READY}",
        ],
        "resources": quantities(KEEPER_RESOURCES),
        "securityContext": restricted_container(),
        "readinessProbe": {"exec": {"command": ["test", "-f", _READY]}, "periodSeconds": 5, "failureThreshold": 3},
        "volumeMounts": [
            {"name": "keep-lock", "mountPath": _SCRIPT_PATH, "readOnly": True},
            {"name": "keep-lock-ready", "mountPath": _READY_PATH},
            {"name": "admin", "mountPath": secret_file(STORE_ADMIN, "").rstrip("/"), "readOnly": True},
        ],
    }
