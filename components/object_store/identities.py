"""Who may do what: SeaweedFS' identities, and the Secrets that hold their keys.

An identity's access key is its name, which every signed address shows. Its secret key is derived
(components/secrets.py): the same after `destroy` over a kept claim, another one with the next generation.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pulumi

from components.object_store.names import (
    ADMIN,
    ANONYMOUS,
    CONFIG_FILE,
    KEYS_SECRET,
    NAME,
    access_key_entry,
    config_secret,
    object_labels,
    secret_key_entry,
)
from components.secrets import Generated, password, secret_manifest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from components.object_store.args import Bucket, Grant, ObjectStoreArgs
    from components.objects import Manifest

_OWNER_ACTIONS = ("Read", "Write", "List", "Tagging")


def key_of(identity: str, generation: int, store: str = NAME) -> Generated:
    """Where the secret key of an identity comes from: for programs of the stack that use the store as well."""
    return Generated(role=f"{store}-{identity}", generation=generation)


def render(buckets: tuple[Bucket, ...], keys: Mapping[str, str], grants: tuple[Grant, ...] = ()) -> str:
    """`s3.json` of `weed server -s3.config`. keys: identity → secret key, for the administrator and each other.

    Nobody without a key is known, but where buckets are public: then `anonymous` may read their objects, and neither
    list nor write. Actions: `<action>:<bucket>`, as weed/s3api/s3_constants/s3_actions.go spells them. Who may write
    by an action may delete as well, so grants are policies.
    """
    actions: dict[str, list[str]] = {ADMIN: ["Admin"]}
    for bucket in (bucket for bucket in buckets if not bucket.locked):
        actions.setdefault(bucket.owner, []).extend(f"{action}:{bucket.name}" for action in _OWNER_ACTIONS)
    identities: list[Manifest] = [
        {
            "name": identity,
            "credentials": [{"accessKey": identity, "secretKey": keys[identity]}],
            "actions": allowed,
        }
        for identity, allowed in actions.items()
    ]
    identities += [
        {
            "name": grant.identity,
            "credentials": [{"accessKey": grant.identity, "secretKey": keys[grant.identity]}],
            "policyNames": [grant.identity],
        }
        for grant in grants
    ]
    public = [f"Read:{bucket.name}" for bucket in buckets if bucket.public_read]
    if public:
        identities.append({"name": ANONYMOUS, "actions": public})
    policies = [{"name": grant.identity, "content": json.dumps(_policy(grant))} for grant in grants]
    return json.dumps({"identities": identities} | ({"policies": policies} if policies else {}), indent=2) + "\n"


def _policy(grant: Grant) -> Manifest:
    name = f"arn:aws:s3:::{grant.bucket}"
    statements = [
        {"Effect": "Allow", "Action": list(actions), "Resource": [resource]}
        for actions, resource in ((grant.on_objects, f"{name}/*"), (grant.on_bucket, name))
        if actions
    ]
    return {"Version": "2012-10-17", "Statement": statements}


def secrets(args: ObjectStoreArgs, root: pulumi.Output[str]) -> dict[str, Manifest]:
    """Role → Secret. root: the root secret of the stack. The first is mounted by the store, the second by its users."""
    keys = secret_keys(args, root)
    entries: dict[str, pulumi.Input[str]] = {}
    for name, key in keys.items():
        entries |= {access_key_entry(name): name, secret_key_entry(name): key}
    own = object_labels(args.stack_namespace, name=args.name)
    return {
        "identities": identities_secret(args, keys),
        "keys": secret_manifest(KEYS_SECRET, args.namespace, own, entries),
    }


def secret_keys(args: ObjectStoreArgs, root: pulumi.Output[str]) -> dict[str, pulumi.Output[str]]:
    """Identity → secret key, for each identity of the store."""
    return {name: password(root, key_of(name, args.generation, args.name)) for name in (ADMIN, *args.owners)}


def identities_secret(args: ObjectStoreArgs, keys: Mapping[str, pulumi.Output[str]]) -> Manifest:
    """The Secret that the store reads. keys: see `secret_keys`."""
    whole = pulumi.Output.all(**keys).apply(lambda known: render(args.buckets, known, args.grants))
    own = object_labels(args.stack_namespace, name=args.name)
    return secret_manifest(config_secret(args.name), args.namespace, own, {CONFIG_FILE: whole})
