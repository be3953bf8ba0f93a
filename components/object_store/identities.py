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
    CONFIG_SECRET,
    KEYS_SECRET,
    NAME,
    access_key_entry,
    object_labels,
    secret_key_entry,
)
from components.secrets import Generated, password, secret_manifest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from components.object_store.args import Bucket, ObjectStoreArgs
    from components.objects import Manifest

_OWNER_ACTIONS = ("Read", "Write", "List", "Tagging")


def key_of(identity: str, generation: int) -> Generated:
    """Where the secret key of an identity comes from: for programs of the stack that use the store as well."""
    return Generated(role=f"{NAME}-{identity}", generation=generation)


def render(buckets: tuple[Bucket, ...], keys: Mapping[str, str]) -> str:
    """`s3.json` of `weed server -s3.config`. keys: identity → secret key, for the administrator and each owner.

    Nobody without a key is known, but where buckets are public: then `anonymous` may read their objects, and neither
    list nor write. Actions: `<action>:<bucket>`, as weed/s3api/s3_constants/s3_actions.go spells them.
    """
    actions: dict[str, list[str]] = {ADMIN: ["Admin"]}
    for bucket in buckets:
        actions.setdefault(bucket.owner, []).extend(f"{action}:{bucket.name}" for action in _OWNER_ACTIONS)
    identities: list[Manifest] = [
        {
            "name": identity,
            "credentials": [{"accessKey": identity, "secretKey": keys[identity]}],
            "actions": allowed,
        }
        for identity, allowed in actions.items()
    ]
    public = [f"Read:{bucket.name}" for bucket in buckets if bucket.public_read]
    if public:
        identities.append({"name": ANONYMOUS, "actions": public})
    return json.dumps({"identities": identities}, indent=2) + "\n"


def secrets(args: ObjectStoreArgs, root: pulumi.Output[str]) -> dict[str, Manifest]:
    """Role → Secret. root: the root secret of the stack. The first is mounted by the store, the second by its users."""
    names = (ADMIN, *args.owners)
    keys = {name: password(root, key_of(name, args.generation)) for name in names}
    whole = pulumi.Output.all(**keys).apply(lambda known: render(args.buckets, known))
    entries: dict[str, pulumi.Input[str]] = {}
    for name in names:
        entries |= {access_key_entry(name): name, secret_key_entry(name): keys[name]}
    own = object_labels(args.namespace)
    return {
        "identities": secret_manifest(CONFIG_SECRET, args.namespace, own, {CONFIG_FILE: whole}),
        "keys": secret_manifest(KEYS_SECRET, args.namespace, own, entries),
    }
