"""The values of SwanLab's chart: a pure function of the arguments, with the keys that the chart knows.

Nothing secret is in them. Only where the chart takes no Secret for a store that it runs itself, the caller adds the
password, as a Pulumi secret.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from components.storage import GENERATION
from components.swanlab.args import ExternalClickHouse, ExternalPostgres, ExternalRedis, ExternalS3, StoreKeys
from components.swanlab.names import BUFFER, CLAIMS, IMAGES, SECRETS, SERVICES, STORES
from components.swanlab.quantity import size_bytes
from components.swanlab.resources import resources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from components.images import ImagePin
    from components.swanlab.args import Bucket, SwanlabArgs

Values = dict[str, Any]
NO_CREDENTIALS: Final[Mapping[str, Mapping[str, Any]]] = {}
_USERS: Final = {
    "server": STORES,
    "house": STORES,
    BUFFER: ("clickhouse",),
    "clickhouse": ("clickhouse",),
    "s3": ("s3",),
}
"""Program → stores whose password it reads at start. PostgreSQL itself keeps its password in its data."""


def roles(args_stores: Mapping[str, bool]) -> tuple[str, ...]:
    """Images that are needed, by role. args_stores: store → whether the chart runs it."""
    absent = {("dependencies", store) for store, own in args_stores.items() if not own}
    return tuple(role for role, path in IMAGES.items() if path[:2] not in absent)


def values(args: SwanlabArgs, credentials: Mapping[str, Mapping[str, Any]] = NO_CREDENTIALS) -> Values:
    """The whole values of the release. credentials: store → keys to add to it, for a chart that takes no Secret."""
    return {
        "global": {
            "imagePullSecrets": [{"name": name} for name in args.chart.pull_secrets],
            "settings": {"host": args.public_host or args.host},
        },
        "gateway": {
            **_program(args, "gateway"),
            "identifyImage": _image(args.images["swanlab-identify"]),
            "service": {"type": "ClusterIP"},
        },
        "helper": {"image": _image(args.images["swanlab-helper"])},
        "vector": _buffer(args),
        "service": {name: _program(args, name) for name in SERVICES if name != "gateway"},
        "dependencies": {name: _store(args, name) | dict(credentials.get(name, {})) for name in args.own},
        "integrations": _integrations(args),
    }


def generations(args: SwanlabArgs) -> dict[str, int]:
    """Store → generation of the password that is made here for it."""
    found = {name: store.generation for name, store in args.own.items() if name != "redis"}
    if isinstance(args.s3, ExternalS3) and isinstance(args.s3.credentials, StoreKeys):
        found["s3"] = args.s3.credentials.secret_key.generation
    return found


def _program(args: SwanlabArgs, name: str) -> Values:
    replicas = args.buffer.replicas if name == BUFFER else getattr(args.replicas, name)
    return {"replicas": replicas, **_pod(args, name)}


def _pod(args: SwanlabArgs, name: str) -> Values:
    """What every program has. A changed generation changes the pods' annotations, and so restarts who reads it."""
    known = generations(args)
    read = {f"{GENERATION}-{store}": str(known[store]) for store in _USERS.get(name, ()) if store in known}
    return {
        "image": _image(args.images[f"swanlab-{name}"]),
        "securityContext": {"enabled": True},
        "customPodAnnotations": read,
        "resources": resources(args.size, name),
    }


def _image(pin: ImagePin) -> Values:
    """Repository and tag as the chart joins them with `:`. A digest is part of the tag, or parted at its own colon."""
    name, at, digest = pin.reference.partition("@")
    slash = name.rfind("/")
    colon = name.find(":", slash)
    if colon > 0:
        repository, tag = name[:colon], name[colon + 1 :] + at + digest
    else:
        algorithm, _, tag = digest.partition(":")
        repository = f"{name}@{algorithm}"
    return {"repository": repository, "tag": tag, "pullPolicy": "IfNotPresent"}


def _buffer(args: SwanlabArgs) -> Values:
    return {
        **_program(args, BUFFER),
        "sinks": {"bufferMaxSize": size_bytes(args.buffer.max_size)},
        "persistence": {"storageClass": args.storage_class or "", "storageSize": args.buffer.volume},
    }


def _store(args: SwanlabArgs, name: str) -> Values:
    persistence: Values = {
        "storageClass": args.storage_class or "",
        "storageSize": args.own[name].volume,
        "existingClaim": CLAIMS[name],
    }
    if name == "redis":
        # With dumps alone, every session and queue since the last dump is gone with the pod.
        persistence["aof"] = {"enabled": True, "appendFsync": "everysec"}
    found = {**_pod(args, name), "persistence": persistence}
    if name == "s3":
        found["mcImage"] = _image(args.images["swanlab-mc"])
    if name == "clickhouse":
        found["monitor"] = {"enable": True}
    if args.chart.takes_secrets:
        found["existingSecret"] = SECRETS[name]
    return found


def _integrations(args: SwanlabArgs) -> Values:
    found: dict[str, Values] = {name: {"enabled": False} for name in STORES}
    if isinstance(args.postgres, ExternalPostgres):
        found["postgres"] = _external(args.postgres) | {"port": args.postgres.port}
    if isinstance(args.redis, ExternalRedis):
        found["redis"] = _external(args.redis) | {"port": args.redis.port}
    if isinstance(args.clickhouse, ExternalClickHouse):
        ports = {"httpPort": args.clickhouse.http_port, "tcpPort": args.clickhouse.tcp_port}
        found["clickhouse"] = _external(args.clickhouse) | ports
    if isinstance(args.s3, ExternalS3):
        made_here = isinstance(args.s3.credentials, StoreKeys)
        found["s3"] = {
            "enabled": True,
            "public": {**_bucket(args.s3.public), "domain": args.s3.public.domain or ""},
            "private": _bucket(args.s3.private),
            "existingSecret": SECRETS["s3"] if made_here else args.s3.credentials,
        }
    return found


def _external(store: ExternalPostgres | ExternalRedis | ExternalClickHouse) -> Values:
    return {"enabled": True, "host": store.host, "database": store.database, "existingSecret": store.secret}


def _bucket(wanted: Bucket) -> Values:
    return {
        "ssl": wanted.ssl,
        "endpoint": wanted.endpoint,
        "region": wanted.region,
        "port": wanted.port,
        "pathStyle": wanted.path_style,
        "bucket": wanted.bucket,
    }
