"""What the object store must be told: plain, frozen, already validated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from components.object_store.names import NAME

if TYPE_CHECKING:
    from components.images import ImagePin
    from components.prometheus.args import Resources


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """One bucket. owner: the identity that may read, write and list it. public_read: objects are served to anybody.

    locked: with object lock, made for grants; its owner is the administrator, and gets nothing by being it.
    """

    name: str
    owner: str
    public_read: bool = False
    locked: bool = False


@dataclass(frozen=True, kw_only=True)
class Grant:
    """What one identity may do to one bucket, and nothing else: actions of S3 as its policies name them.

    on_objects: of its objects, on_bucket: of the bucket itself.
    """

    identity: str
    bucket: str
    on_objects: tuple[str, ...]
    on_bucket: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ObjectStoreArgs:
    """Everything that decides what the object store runs.

    stack: whose objects the claim holds. volume_bytes: size of the claim. volume: the same as a Kubernetes quantity.
    storage_class: None means the cluster's default. node_port: port of every node that leads to S3 as well, None for
    none. generation: of all keys; a higher one is a rotation. name: of its objects, where that is not the usual one.
    instance: the stack's namespace, where the store is in another. grants: identities beside those of owners.
    """

    stack: str
    namespace: str
    image: ImagePin
    volume: str
    volume_bytes: int
    storage_class: str | None
    resources: Resources
    network_policies: bool
    buckets: tuple[Bucket, ...]
    node_port: int | None = None
    generation: int = 1
    name: str = NAME
    instance: str | None = None
    grants: tuple[Grant, ...] = ()

    @property
    def owners(self) -> tuple[str, ...]:
        """Identities that own a bucket or were granted something, each once, in the order of the buckets."""
        owning = (bucket.owner for bucket in self.buckets if not bucket.locked)
        return tuple(dict.fromkeys((*owning, *(grant.identity for grant in self.grants))))

    @property
    def stack_namespace(self) -> str:
        """The stack's namespace, wherever the store is."""
        return self.instance or self.namespace
