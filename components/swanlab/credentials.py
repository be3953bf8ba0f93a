"""Secrets of the stores: derived passwords in the shapes that the chart reads, and nothing of them anywhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pulumi

from components.secrets import Generated, password, secret_manifest
from components.swanlab.args import ExternalS3, OwnStore, StoreKeys
from components.swanlab.names import DATABASE, PORTS, ROTATION, SECRETS, USERNAME, object_labels, service_name
from components.swanlab.values import NO_CREDENTIALS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from components.objects import Manifest
    from components.swanlab.args import SwanlabArgs

PREVIOUS_KEY: Final = "previous"
"""Key of Secret ROTATION: the passwords of all earlier generations, the newest first, with a space between."""


def source(store: str, generation: int) -> Generated:
    """Which derived value is the password of a store that the chart runs."""
    return Generated(role=SECRETS[store], generation=generation)


def rotates(args: SwanlabArgs) -> bool:
    """Whether PostgreSQL's data may still know an older password: it takes the variable at its first start alone."""
    return isinstance(args.postgres, OwnStore) and args.postgres.generation > 1


def secret_manifests(args: SwanlabArgs, root: pulumi.Output[str]) -> dict[str, Manifest]:
    """Role → Secret in SwanLab's namespace, for each that is made here. root: the root secret of the stack."""
    contents: dict[str, tuple[str, dict[str, pulumi.Input[str]]]] = {
        f"secret-{store}": (SECRETS[store], _content(args, store, root)) for store in args.own
    }
    if isinstance(args.s3, ExternalS3) and isinstance(args.s3.credentials, StoreKeys):
        keys = args.s3.credentials
        secret_key = password(root, keys.secret_key)
        contents["secret-s3"] = (SECRETS["s3"], {"accessKey": keys.access_key, "secretKey": secret_key})
    if rotates(args):
        earlier = range(args.own["postgres"].generation - 1, 0, -1)
        known = pulumi.Output.all(*(password(root, source("postgres", number)) for number in earlier))
        contents["secret-rotation"] = (ROTATION, {PREVIOUS_KEY: known.apply(" ".join)})
    own = object_labels(args.instance)
    return {role: secret_manifest(name, args.namespace, own, data) for role, (name, data) in contents.items()}


def values_credentials(args: SwanlabArgs, root: pulumi.Output[str]) -> Mapping[str, Mapping[str, Any]]:
    """Store → values that hold its password, for a chart that takes no Secret; empty for one that does."""
    if args.chart.takes_secrets:
        return NO_CREDENTIALS
    return {
        store: {key: value for key, value in _content(args, store, root).items() if key in VALUES_KEYS[store]}
        for store in args.own
        if store in VALUES_KEYS
    }


VALUES_KEYS: Final = {
    "postgres": ("username", "password"),
    "clickhouse": ("username", "password"),
    "s3": ("accessKey", "secretKey"),
}


def _content(args: SwanlabArgs, store: str, root: pulumi.Output[str]) -> dict[str, pulumi.Input[str]]:
    address = f"{service_name(store)}:{PORTS[store]}"
    if store == "redis":
        return {"url": f"redis://{address}/0"}
    value = password(root, source(store, args.own[store].generation))
    if store == "s3":
        return {"accessKey": USERNAME, "secretKey": value}
    found: dict[str, pulumi.Input[str]] = {"username": USERNAME, "password": value}
    if store == "postgres":
        url = pulumi.Output.concat("postgresql://", USERNAME, ":", value, "@", address, "/", DATABASE)
        found |= {"primaryUrl": url, "replicaUrl": url}
    return found
