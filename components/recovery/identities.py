"""Secrets of recovery: keys of the target's accounts, the key that signs manifests, passwords of scratch stores.

All are derived from the root secret: a stack that is made anew over a kept bucket signs and reads as before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.object_store.identities import identities_secret, secret_keys
from components.object_store.names import ADMIN
from components.recovery.args import Grafana
from components.recovery.config import LOOPBACK, REDIS_PORT
from components.recovery.names import (
    ACCESS_KEY,
    GRAFANA_LOGIN,
    GRAFANA_PASSWORD,
    PRUNER,
    READER,
    SCRATCH,
    SCRATCH_PASSWORD,
    SCRATCH_URL,
    SCRATCH_USER,
    SCRATCH_USER_KEY,
    SECRET_KEY,
    SIGNING,
    SIGNING_KEY,
    STORE_ADMIN,
    WRITER,
    object_labels,
)
from components.secrets import Generated, password, secret_manifest

if TYPE_CHECKING:
    import pulumi

    from components.object_store.args import ObjectStoreArgs
    from components.objects import Manifest
    from components.recovery.args import RecoveryArgs


def secrets(args: RecoveryArgs, root: pulumi.Output[str]) -> dict[str, Manifest]:
    """Role → Secret, each in the namespaces whose pods mount it. root: the root secret of the stack."""
    signing = {SIGNING_KEY: password(root, Generated(role=SIGNING))}
    login: dict[str, pulumi.Input[str]] = {
        SCRATCH_USER_KEY: SCRATCH_USER,
        SCRATCH_PASSWORD: password(root, Generated(role=SCRATCH)),
        SCRATCH_URL: f"redis://{LOOPBACK}:{REDIS_PORT}/0",
    }
    own = object_labels(args.instance)
    found = {
        "secret-signing-create": secret_manifest(SIGNING, args.swanlab_namespace, own, signing),
        "secret-signing": secret_manifest(SIGNING, args.namespace, own, signing),
        "secret-scratch": secret_manifest(SCRATCH, args.namespace, own, login),
    }
    for store in args.stores:
        if isinstance(store, Grafana) and isinstance(store.password, Generated):
            shown = {GRAFANA_PASSWORD: password(root, store.password)}
            found["secret-grafana"] = secret_manifest(GRAFANA_LOGIN, args.swanlab_namespace, own, shown)
    return found | (_of_store(args, args.target.own, root) if args.target.own is not None else {})


def _of_store(args: RecoveryArgs, store: ObjectStoreArgs, root: pulumi.Output[str]) -> dict[str, Manifest]:
    """Where the bucket is somebody else's, these Secrets are as well."""
    keys = secret_keys(store, root)
    own = object_labels(args.instance)

    def account(name: str, identity: str, where: str) -> Manifest:
        return secret_manifest(name, where, own, {ACCESS_KEY: identity, SECRET_KEY: keys[identity]})

    return {
        "secret-store-identities": identities_secret(store, keys),
        "secret-store-admin": account(STORE_ADMIN, ADMIN, args.namespace),
        "secret-writer-create": account(WRITER, WRITER, args.swanlab_namespace),
        "secret-writer": account(WRITER, WRITER, args.namespace),
        "secret-reader-restore": account(READER, READER, args.swanlab_namespace),
        "secret-reader": account(READER, READER, args.namespace),
        "secret-pruner": account(PRUNER, PRUNER, args.namespace),
    }
