"""Relations between the settings of the object store: each value is right by itself, together they cannot work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.object_store.names import ADMIN, ANONYMOUS
from stacks.object_store import buckets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stacks.object_store import ObjectStore
    from stacks.settings import Settings

KEY = "plumbline:object_store"


def broken(settings: Settings) -> list[str]:
    """One sentence per broken relation: the values, the rule, and what to change. Nothing where the store is off."""
    wanted = settings.object_store
    if wanted.mode == "off":
        return []
    return [*_policies(settings), *_buckets(wanted)]


def _policies(settings: Settings) -> Iterator[str]:
    """Its gRPC port takes orders from whoever reaches it."""
    if not settings.network.policies:
        yield (
            f"{KEY}.mode is `managed` and plumbline:network.policies is false: one port of the store asks for no key "
            "and is closed by a NetworkPolicy alone; accepted: policies true, or mode `off` and an S3 of somebody "
            "else; fix: pulumi config set --path 'plumbline:network.policies' true"
        )


def _buckets(wanted: ObjectStore) -> Iterator[str]:
    if not wanted.buckets:
        yield (
            f"{KEY}.mode is `managed` and {KEY}.buckets is empty, so nobody could write to it; accepted: one bucket or "
            f"more; fix: pulumi config set --path '{KEY}.buckets[0].name' <name>, or mode `off`"
        )
    names = [bucket.name for bucket in wanted.buckets]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{KEY}.buckets has {names.count(name)} named {name}; accepted: each name once; fix: remove one"
    for bucket in buckets(wanted):
        if bucket.owner in (ADMIN, ANONYMOUS):
            yield (
                f"{KEY}.buckets has {bucket.name} with the owner `{bucket.owner}`, a name of the store's own (without "
                f"`owner` it is the bucket's); accepted: any but `{ADMIN}` and `{ANONYMOUS}`; fix: another owner"
            )
