"""Registers the object store with Pulumi. What is registered is decided in manifests.py and identities.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from components.kube import register_all
from components.object_store.identities import secrets
from components.object_store.manifests import manifests
from components.object_store.names import NAME
from components.secrets import marked

if TYPE_CHECKING:
    from components.object_store.args import ObjectStoreArgs


class ObjectStore(pulumi.ComponentResource):
    """The object store with its storage, keys and policies. service_name: Service in the stack's namespace.

    root: the root secret of the stack, from which the keys are derived.
    """

    service_name: pulumi.Output[str]

    def __init__(
        self, name: str, args: ObjectStoreArgs, root: pulumi.Output[str], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("plumbline:object-store:ObjectStore", name, None, opts)
        built = manifests(args)
        built["data"] = marked(built["data"], root)
        register_all(name, self, secrets(args, root) | built, "stateful-set")
        self.service_name = pulumi.Output.from_input(NAME)
        self.register_outputs({"service_name": self.service_name})
