"""What the object store must be told: plain, frozen, already validated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.images import ImagePin
    from components.prometheus.args import Resources


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """One bucket. owner: the identity that may read, write and list it. public_read: objects are served to anybody."""

    name: str
    owner: str
    public_read: bool = False


@dataclass(frozen=True, kw_only=True)
class ObjectStoreArgs:
    """Everything that decides what the object store runs.

    stack: whose objects the claim holds. volume_bytes: size of the claim. volume: the same as a Kubernetes quantity.
    storage_class: None means the cluster's default. node_port: port of every node that leads to S3 as well, None for
    none. generation: of all keys; a higher one is a rotation.
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

    @property
    def owners(self) -> tuple[str, ...]:
        """Identities that own a bucket, each once, in the order of the buckets."""
        return tuple(dict.fromkeys(bucket.owner for bucket in self.buckets))
