"""The section of the settings for the S3 that a stack brings itself, and the arguments that follow from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field

from components.errors import DeployError
from components.object_store.args import Bucket as BucketArgs
from components.object_store.args import ObjectStoreArgs
from components.object_store.names import CLAIM, NAME
from components.prometheus.args import Resources
from stacks.claims import given, lowered, own_claims
from stacks.fields import Bytes, DnsName, quantity_bytes
from stacks.root_secret import check_same_root
from stacks.section import Section

if TYPE_CHECKING:
    from components.images import ImagePin
    from stacks.cluster import Reader
    from stacks.settings import Settings

_RESOURCES = Resources(cpu_request="50m", memory_request="256Mi", memory_limit="1Gi")
_MIN_BUCKET_NAME = 3


def _bucket_name(text: str) -> str:
    """Of a DNS label S3 takes those of 3 characters and more."""
    if len(text) < _MIN_BUCKET_NAME:
        raise ValueError(f"`{text}` is not the name of a bucket: accepted are 3 to 63 characters")
    return text


class Bucket(Section):
    """One bucket of the object store."""

    name: Annotated[DnsName, AfterValidator(_bucket_name)] = Field(description="its name, 3 to 63 characters")
    owner: DnsName | None = Field(
        default=None, description="identity that may read and write it; without it one of the bucket's own name"
    )
    public_read: bool = Field(default=False, description="true if anybody may read its objects; nobody lists or writes")


class ObjectStore(Section):
    """S3 for a stack that has none (SeaweedFS in one pod)."""

    mode: Literal["managed", "off"] = Field(
        default="off", description="`managed`: deployed by this stack; `off`: none, or somebody else's"
    )
    volume: Bytes = Field(default="20Gi", description="size of the claim, a Kubernetes quantity")
    buckets: tuple[Bucket, ...] = Field(default=(), description="list of buckets: name, owner, public_read")
    node_port: int | None = Field(
        default=None, ge=30000, le=32767, description="port of every node at which S3 is reached from outside"
    )
    generation: int = Field(default=1, ge=1, description="of its keys; a higher number is a rotation")


def buckets(wanted: ObjectStore) -> tuple[BucketArgs, ...]:
    """The buckets, each with its owner."""
    return tuple(
        BucketArgs(name=bucket.name, owner=bucket.owner or bucket.name, public_read=bucket.public_read)
        for bucket in wanted.buckets
    )


def object_store_args(settings: Settings, wanted: ObjectStore, images: dict[str, ImagePin]) -> ObjectStoreArgs:
    """Arguments of the object store. images: role → image."""
    return ObjectStoreArgs(
        stack=settings.stack,
        namespace=settings.namespace,
        image=images[NAME],
        volume=wanted.volume,
        volume_bytes=quantity_bytes(wanted.volume),
        storage_class=settings.storage.class_name,
        resources=_RESOURCES,
        network_policies=settings.network.policies,
        buckets=buckets(wanted),
        node_port=wanted.node_port,
        generation=wanted.generation,
    )


def check_object_store(reader: Reader, settings: Settings) -> None:
    """Another root secret, or an older generation, would lock out who has the keys of now. Raises DeployError."""
    live = own_claims(reader, settings.namespace, settings.stack)
    check_same_root(settings, settings.namespace, live)
    known, wanted = given(live[CLAIM]) if CLAIM in live else 1, settings.object_store.generation
    for line in lowered("plumbline:object_store.generation", f"{settings.namespace}/{CLAIM}", known, wanted):
        raise DeployError(line)
