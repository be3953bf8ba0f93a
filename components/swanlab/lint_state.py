"""Rules about what keeps data: claims, passwords, the delivery buffer and stores that run elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from components.swanlab.credentials import VALUES_KEYS
from components.swanlab.finding import Context, Finding, Values, at
from components.swanlab.names import DATABASE, PORTS, SECRET_KEYS, STORES
from components.swanlab.quantity import size_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_GIB: Final = 1024**3
MIN_BUFFER: Final = 60 * _GIB
PARTS: Final = 3
"""A buffer has one part each for scalars, media and logs, and `bufferMaxSize` is that of each."""
_SECRET_OF: Final = {"postgres": "password", "clickhouse": "password", "s3": "secretKey"}
_FIXED: Final = {"postgres": "swanlab-postgres", "clickhouse": "swanlab-clickhouse", "s3": "swanlab-s3"}
"""What the chart takes where it is given nothing: known to everybody who has read it."""
_BESIDE: Final = re.compile(r"mountPath:\s*[\"']?/var/lib/postgresql/?[\"']?\s*$", re.MULTILINE)


def runs_here(values: Values, store: str) -> bool:
    """Whether the chart runs a store itself."""
    return at(values, f"integrations.{store}.enabled") is not True


def passwords(values: Values, context: Context) -> Iterator[Finding]:
    """An empty password is not generated: the chart falls back to one that is printed in its templates."""
    for store, key in _SECRET_OF.items():
        path = f"dependencies.{store}"
        if not runs_here(values, store) or at(values, f"{path}.existingSecret") or store in context.credentialed:
            continue
        if at(values, f"{path}.{key}") in (None, "", _FIXED[store]):
            yield Finding(
                code="empty-password",
                message=f"`{path}.{key}` is empty, and the chart would use `{_FIXED[store]}`, which everybody knows; "
                f"accepted: a password, or `{path}.existingSecret`; fix: let components/swanlab/credentials.py make it",
            )


def nothing_secret(values: Values, _: Context) -> Iterator[Finding]:
    """What stands in values in clear is in every copy of them; a secret comes from the engine or from a Secret."""
    for store, keys in VALUES_KEYS.items():
        for key in keys:
            if key != "username" and at(values, f"dependencies.{store}.{key}"):
                yield Finding(
                    code="secret-in-values",
                    message=f"`dependencies.{store}.{key}` is in clear; accepted: a secret of the engine, which "
                    "components/swanlab/credentials.py adds; fix: remove it",
                )


def claims(values: Values, _: Context) -> Iterator[Finding]:
    """A claim that the release makes goes with the release; a store without one keeps its data in the pod."""
    for store in STORES:
        if runs_here(values, store) and not at(values, f"dependencies.{store}.persistence.existingClaim"):
            yield Finding(
                code="ephemeral-store",
                message=f"`dependencies.{store}.persistence.existingClaim` is empty: the data would go with the "
                "release; accepted: the name of a claim of this stack; fix: values.py",
            )
    if not at(values, "vector.persistence.storageSize"):
        yield Finding(
            code="ephemeral-store",
            message="`vector.persistence.storageSize` is empty: what was acknowledged and not stored would go with the "
            "pod; accepted: a size, as `60Gi`; fix: plumbline:swanlab.buffer.volume",
        )


def redis_writes(values: Values, _: Context) -> Iterator[Finding]:
    """Without the append-only file, sessions and queues since the last dump are gone with the pod."""
    if runs_here(values, "redis") and at(values, "dependencies.redis.persistence.aof.enabled") is not True:
        yield Finding(
            code="redis-aof",
            message="`dependencies.redis.persistence.aof.enabled` is not true: every session and queue since the last "
            "dump is lost with the pod; accepted: true; fix: values.py",
        )


def buffer(values: Values, context: Context) -> Iterator[Finding]:
    """All three parts must fit, or the buffer fills its volume and what comes then is refused or lost."""
    size, part = at(values, "vector.persistence.storageSize"), at(values, "vector.sinks.bufferMaxSize")
    if not size or not isinstance(part, int):
        return
    storage, needed = size_bytes(str(size)), PARTS * part
    if needed >= storage:
        yield Finding(
            code="buffer-size",
            message=f"`vector.sinks.bufferMaxSize` {part} times {PARTS} is {needed} bytes and "
            f"`vector.persistence.storageSize` {size} has {storage}: a full buffer would fill its volume; accepted: "
            f"less than a third; fix: plumbline:swanlab.buffer.max_size below {storage // PARTS // 1024**2}Mi",
        )
    if context.durable and storage < max(MIN_BUFFER, needed):
        yield Finding(
            code="buffer-size",
            message=f"`vector.persistence.storageSize` is {size} on a durable stack; accepted: at least "
            f"{max(MIN_BUFFER, needed) // _GIB}Gi, as the vendor says; fix: plumbline:swanlab.buffer.volume",
        )


def external(values: Values, _: Context) -> Iterator[Finding]:
    """A store elsewhere is reached with a Secret, and its host is used beside it, to wait for the store."""
    for store in STORES:
        if runs_here(values, store):
            continue
        needed = ("existingSecret", *(("host",) if store != "s3" else ()))
        for key in (key for key in needed if not at(values, f"integrations.{store}.{key}")):
            yield Finding(
                code="external-store",
                message=f"`integrations.{store}.{key}` is empty and `integrations.{store}.enabled` true; accepted: "
                f"{_accepted(store, key)}; fix: plumbline:swanlab.stores.{store}",
            )


def _accepted(store: str, key: str) -> str:
    keys = ", ".join(SECRET_KEYS[store])
    return f"the name of a Secret with {keys}" if key == "existingSecret" else "the host that the Secret names as well"


def clickhouse_database(values: Values, _: Context) -> Iterator[Finding]:
    """The buffer writes to `app` whatever the values say: with another one, what is written is never read."""
    database = at(values, "integrations.clickhouse.database")
    if not runs_here(values, "clickhouse") and database != DATABASE:
        yield Finding(
            code="clickhouse-database",
            message=f"`integrations.clickhouse.database` is `{database}`, and the delivery buffer writes to "
            f"`{DATABASE}`; accepted: `{DATABASE}`; fix: plumbline:swanlab.stores.clickhouse.database {DATABASE}",
        )


def buckets(values: Values, _: Context) -> Iterator[Finding]:
    """Buckets and addresses of an object store elsewhere; its public address needs a scheme that fits."""
    if runs_here(values, "s3"):
        return
    for side in ("public", "private"):
        for key in ("endpoint", "bucket"):
            if not at(values, f"integrations.s3.{side}.{key}"):
                yield Finding(
                    code="external-store",
                    message=f"`integrations.s3.{side}.{key}` is empty; fix: plumbline:swanlab.stores.s3.{side}.{key}",
                )
    domain, ssl = str(at(values, "integrations.s3.public.domain") or ""), at(values, "integrations.s3.public.ssl")
    schemes = ("https",) if ssl else ("http", "https")
    if domain and urlsplit(domain).scheme not in schemes:
        yield Finding(
            code="s3-domain",
            message=f"`integrations.s3.public.domain` is `{domain}` and `ssl` is {str(bool(ssl)).lower()}; accepted: "
            f"an address that begins with {' or '.join(f'{scheme}://' for scheme in schemes)}; fix: "
            "plumbline:swanlab.stores.s3.public.domain",
        )


def postgres_mount(templates: dict[str, str], own: Iterable[str]) -> Iterator[Finding]:
    """The image declares a volume at the data directory: a claim mounted above it is shadowed, and data goes with pods.

    templates: path in the chart → text.
    """
    for name, text in templates.items() if "postgres" in own else ():
        if _BESIDE.search(text):
            yield Finding(
                code="postgres-mount",
                message=f"{name} of the chart mounts a volume at /var/lib/postgresql: the image's own volume below it "
                "would take the data, and lose it with the pod; accepted: a mount at /var/lib/postgresql/data; fix: a "
                "chart from 0.4 on (plumbline:swanlab.chart.path)",
            )


def disagreements(store: str, integration: Values, url: str) -> list[str]:
    """Where host, port or database of the values differ from a URL of the store's Secret; nothing secret is said.

    Raises ValueError if its port is no number.
    """
    parts = urlsplit(url)
    database: Any = parts.path.strip("/") or None
    seen = {"host": parts.hostname, "port": parts.port or PORTS[store], "database": database}
    return [
        f"{key} is `{integration[key]}` in the settings and `{seen[key]}` in the Secret of {store}"
        for key in seen
        if seen[key] is not None and str(seen[key]) != str(integration[key])
    ]


RULES: tuple[Callable[[Values, Context], Iterator[Finding]], ...] = (
    passwords,
    nothing_secret,
    claims,
    redis_writes,
    buffer,
    external,
    clickhouse_database,
    buckets,
)
