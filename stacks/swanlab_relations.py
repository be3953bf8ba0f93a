"""Relations between the settings of SwanLab: each value is right by itself, together they lose data or cannot work."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from components.object_store.names import NAME, PORT
from components.swanlab.lint_state import MIN_BUFFER, PARTS
from components.swanlab.names import DATABASE
from stacks.fields import duration_seconds, quantity_bytes
from stacks.swanlab_endpoints import in_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stacks.settings import Settings
    from stacks.swanlab import S3, Bucket, Swanlab

KEY = "plumbline:swanlab"
_MIN_BODY = "64Mi"
_MIN_TIMEOUT = "60s"
_GIB = 1024**3


def broken(settings: Settings) -> list[str]:
    """One sentence per broken relation: the values, the rule, and what to change. Nothing where SwanLab is off."""
    wanted = settings.swanlab
    if wanted.mode == "off":
        return []
    return [
        *_hosts(wanted),
        *_buffer(wanted, durable=settings.profile == "durable"),
        *_stores(wanted),
        *_s3(settings, wanted.stores.s3),
        *_ingress(wanted),
        *_environment(wanted),
        *_licence(settings),
        *_built(settings),
    ]


def _hosts(wanted: Swanlab) -> Iterator[str]:
    """An SDK drops every path of its host, so a gateway below one is never found."""
    for key, url in (("host", wanted.host), ("public_host", wanted.public_host)):
        parts = urlsplit(url or "")
        if parts.path or parts.query or parts.fragment:
            yield (
                f"{KEY}.{key} is `{url}`, and an SDK drops everything behind the host; accepted: scheme, host and "
                f"perhaps a port; fix: pulumi config set --path '{KEY}.{key}' {parts.scheme}://{parts.netloc}"
            )


def _buffer(wanted: Swanlab, *, durable: bool) -> Iterator[str]:
    buffer = wanted.buffer
    volume, part = quantity_bytes(buffer.volume), quantity_bytes(buffer.max_size)
    if PARTS * part >= volume:
        yield (
            f"{KEY}.buffer.max_size {buffer.max_size} times {PARTS} does not fit into {KEY}.buffer.volume "
            f"{buffer.volume}: a full buffer would fill its volume, and what comes then is lost; accepted: less than a "
            f"third, here below {volume // PARTS // 1024**2}Mi; fix: a smaller max_size or a larger volume"
        )
    if durable and volume < MIN_BUFFER:
        yield (
            f"{KEY}.buffer.volume is {buffer.volume} on a durable stack; accepted: at least {MIN_BUFFER // _GIB}Gi, as "
            f"the vendor says; fix: pulumi config set --path '{KEY}.buffer.volume' {MIN_BUFFER // _GIB}Gi"
        )
    accepted = (2,) if durable else (1, 2)
    if buffer.replicas not in accepted:
        yield (
            f"{KEY}.buffer.replicas is {buffer.replicas}; accepted: {' or '.join(str(n) for n in accepted)}, as the "
            f"vendor says; fix: pulumi config set --path '{KEY}.buffer.replicas' 2"
        )


def _stores(wanted: Swanlab) -> Iterator[str]:
    stores = wanted.stores
    for name, store in (("postgres", stores.postgres), ("redis", stores.redis), ("clickhouse", stores.clickhouse)):
        given = {"host": store.host, "secret": store.secret}
        missing = [key for key, value in given.items() if value is None]
        if store.mode == "external" and missing:
            yield (
                f"{KEY}.stores.{name}.mode is `external` and {' and '.join(missing)} "
                f"{'is' if len(missing) == 1 else 'are'} missing; accepted: both; fix: name them, or mode `chart`"
            )
        there = [key for key, value in given.items() if value is not None]
        if store.mode == "chart" and there:
            yield (
                f"{KEY}.stores.{name}.mode is `chart`, and {' and '.join(there)} of another one "
                f"{'is' if len(there) == 1 else 'are'} named, which would not be used; accepted: neither; fix: remove "
                "them, or mode `external`"
            )
    database = stores.clickhouse.database
    if stores.clickhouse.mode == "external" and database != DATABASE:
        yield (
            f"{KEY}.stores.clickhouse.database is `{database}`, and the delivery buffer writes to `{DATABASE}` "
            f"whatever it is told, so what is logged is never read; accepted: `{DATABASE}`; fix: that one"
        )


def _s3(settings: Settings, wanted: S3) -> Iterator[str]:
    key = f"{KEY}.stores.s3"
    if wanted.mode == "chart":
        there = [name for name in ("public", "private", "secret") if getattr(wanted, name) is not None]
        if there:
            yield (
                f"{key}.mode is `chart`, and {', '.join(there)} of another one would not be used; accepted: none of "
                "them; fix: remove them, or mode `external`"
            )
        return
    if wanted.public is None or wanted.private is None:
        missing = [name for name in ("public", "private") if getattr(wanted, name) is None]
        yield f"{key}.mode is `external` and {' and '.join(missing)} is missing; accepted: both; fix: name the buckets"
        return
    yield from _buckets(settings, wanted.public, wanted.private)
    if wanted.secret is None:
        yield from _own_object_store(settings, wanted.public.bucket, wanted.private.bucket)
        yield from _own_address(settings, wanted.private)


def _buckets(settings: Settings, public: Bucket, private: Bucket) -> Iterator[str]:
    key = f"{KEY}.stores.s3"
    if public.bucket == private.bucket:
        yield (
            f"{key}.public.bucket and {key}.private.bucket are both `{public.bucket}`: everybody could read what "
            "private projects log; accepted: two buckets; fix: another one for `private`, without public access"
        )
    domain = urlsplit(public.domain or "")
    if public.ssl and domain.scheme == "http":
        yield (
            f"{key}.public.domain is `{public.domain}` and {key}.public.ssl is true; accepted: an https:// one; "
            f"fix: pulumi config set --path '{key}.public.domain' https://{domain.netloc}{domain.path}"
        )
    if public.endpoint.endswith((".svc", ".cluster.local")) and settings.swanlab.public_host is not None:
        yield (
            f"{key}.public.endpoint is `{public.endpoint}`, which only pods reach, and {KEY}.public_host lets people "
            "in, whose browsers fetch media from it; accepted: an address that they reach; fix: that one"
        )


def _own_object_store(settings: Settings, public: str, private: str) -> Iterator[str]:
    """Without a Secret it is the object store of this stack, and one key must open both buckets."""
    store, key = settings.object_store, "plumbline:object_store"
    if store.mode == "off":
        yield (
            f"{KEY}.stores.s3.mode is `external` without a secret, and {key}.mode `off`; accepted: an existing Secret "
            f"with accessKey and secretKey, or the object store of this stack; fix: {KEY}.stores.s3.secret"
        )
        return
    known = {bucket.name: bucket for bucket in store.buckets}
    missing = [name for name in (public, private) if name not in known]
    if missing:
        yield f"{key}.buckets has no {' and no '.join(missing)}, which {KEY}.stores.s3 names; fix: add them there"
        return
    owners = {known[name].owner or name for name in (public, private)}
    if len(owners) > 1:
        yield (
            f"buckets {public} and {private} of {key} have the owners {' and '.join(sorted(owners))}, and SwanLab has "
            "one key for both; accepted: one owner; fix: the same `owner` for both"
        )
    if known[private].public_read:
        yield f"{key} lets everybody read {private}, where private projects keep media; fix: public_read false"
    if not known[public].public_read:
        yield f"{key} lets nobody read {public} without a key, and browsers have none; fix: public_read true"


def _own_address(settings: Settings, private: Bucket) -> Iterator[str]:
    """What is changed in one place and forgotten in the other: the namespace, or how the store is spoken to."""
    key = f"{KEY}.stores.s3.private"
    short = f"{NAME}.{settings.namespace}"
    names = (short, f"{short}.svc", f"{short}.svc.cluster.local")
    if private.endpoint.startswith(f"{NAME}.") and in_cluster(private.endpoint) and private.endpoint not in names:
        yield (
            f"{key}.endpoint is `{private.endpoint}`, and the object store of this stack is `{names[1]}`: another's "
            f"would be told the key; accepted: that name; fix: pulumi config set --path '{key}.endpoint' {names[1]}"
        )
    spoken = {"port": PORT, "ssl": False, "path_style": True}
    for part, right in spoken.items():
        if private.endpoint in names and getattr(private, part) != right:
            told = str(right).lower()
            yield (
                f"{key}.{part} is {str(getattr(private, part)).lower()}, and the object store of this stack is spoken "
                f"to with {told}; accepted: {told}; fix: pulumi config set --path '{key}.{part}' {told}"
            )


def _ingress(wanted: Swanlab) -> Iterator[str]:
    """A batch of points is over 1 MB, a part of a file 32 MB, and what is refused with 413 the SDK throws away."""
    ingress = wanted.ingress
    if quantity_bytes(ingress.body_limit) < quantity_bytes(_MIN_BODY):
        yield (
            f"{KEY}.ingress.body_limit is {ingress.body_limit}: an SDK throws away what is refused as too large; "
            f"accepted: at least {_MIN_BODY}; fix: raise it at the proxy, then pulumi config set --path "
            f"'{KEY}.ingress.body_limit' {_MIN_BODY}"
        )
    if duration_seconds(ingress.read_timeout) < duration_seconds(_MIN_TIMEOUT):
        yield (
            f"{KEY}.ingress.read_timeout is {ingress.read_timeout}: an SDK waits {_MIN_TIMEOUT}; accepted: at least "
            f"that; fix: raise it at the proxy, then pulumi config set --path '{KEY}.ingress.read_timeout' 60s"
        )


def _environment(wanted: Swanlab) -> Iterator[str]:
    names = [entry.namespace for entry in wanted.environment_in]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{KEY}.environment_in names {name} {names.count(name)} times; accepted: once; fix: remove one"


def _licence(settings: Settings) -> Iterator[str]:
    """The licence is activated and renewed online: without a way out, no SDK can log in."""
    if settings.swanlab.licence.egress == "none" and settings.images.source == "upstream":
        yield (
            f"{KEY}.licence.egress is `none`, and the vendor's images (plumbline:images.source `upstream`) let nobody "
            "in without a licence that api.swanlab.cn confirms; accepted: `open`; fix: let pods of SwanLab's namespace "
            f"reach it by https, then pulumi config set --path '{KEY}.licence.egress' open"
        )


def _built(settings: Settings) -> Iterator[str]:
    """Images of ours: none of an upstream, so elsewhere than on the embedded cluster the settings name them."""
    if settings.images.source != "file":
        return
    for key in ("sdk_image", "gate_image"):
        if getattr(settings.swanlab, key) is not None:
            yield (
                f"{KEY}.{key} is for upstream images, but plumbline:images.source is `file`, and that image is built "
                f"here; accepted: one of both; fix: pulumi config rm --path '{KEY}.{key}'"
            )
