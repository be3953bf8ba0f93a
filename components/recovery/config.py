"""The program's configuration, as recovery/config.py reads it: addresses, paths of files, and no secret."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Literal

from components.recovery.args import Alertmanager, ClickHouse, Grafana, Objects, Postgres, Redis
from components.recovery.names import (
    SCRATCH,
    SCRATCH_PASSWORD,
    SCRATCH_URL,
    SCRATCH_USER_KEY,
    SECRETS_PATH,
    SIGNING,
    SIGNING_KEY,
    WORK_PATH,
    secret_file,
)

if TYPE_CHECKING:
    from components.recovery.args import Account, RecoveryArgs, Store

Json = dict[str, Any]
Side = Literal["create", "restore", "recovery"]
"""Whose configuration: of the pods that make points, of those that restore them, both beside the live stores, or of
those in recovery's own namespace."""

_CROSSED: Final[dict[str, type]] = {"postgres": Postgres, "clickhouse": ClickHouse}
LOOPBACK: Final = "127.0.0.1"
POSTGRES_PORT: Final = 5432
CLICKHOUSE_PORT: Final = 8123
REDIS_PORT: Final = 6379
ALERTMANAGER_PORT: Final = 9093
GRAFANA_PORT: Final = 3000


def render(args: RecoveryArgs, side: Side) -> str:
    """The file. What a side may not use is not in it: live stores here, another's account there."""
    here = side == "recovery"
    target = args.target
    content = {
        "stack": args.stack,
        "cluster_uid": args.cluster_uid,
        "target": {
            "endpoint": target.endpoint,
            "bucket": target.bucket,
            "region": target.region,
            "retention_days": target.lock_days,
            "signing_key_file": secret_file(SIGNING, SIGNING_KEY),
            "writer": _account(target.writer) if side != "restore" else None,
            "reader": _account(target.reader),
            "pruner": _account(target.pruner) if here else None,
        },
        "recovery_public_key": args.recovery_public_key,
        "work": WORK_PATH,
        "metrics_url": args.metrics_url,
        "period_seconds": {command: schedule.period_seconds for command, schedule in args.schedules.items()},
        "retention": {"keep_last": args.retention.keep_last, "keep_days": args.retention.keep_days},
        "rpo_seconds": args.rpo_seconds,
        "rto_seconds": args.rto_seconds,
        "cross_check": _cross_check(args) if here and args.cross_check else None,
        "quiesce": None if here else _quiesce(args),
        "stores": [] if here else _live(args),
        "scratch": _scratch(args) if here else [],
    }
    return json.dumps(content, indent=2) + "\n"


def _account(account: Account) -> Json:
    return {
        "access_key_file": secret_file(account.secret, account.access_key),
        "secret_key_file": secret_file(account.secret, account.secret_key),
    }


def _quiesce(args: RecoveryArgs) -> Json:
    wanted = args.quiesce
    return {
        "namespace": args.swanlab_namespace,
        "order": list(wanted.order),
        "buffer": wanted.buffer,
        "seconds": wanted.seconds,
    }


def _cross_check(args: RecoveryArgs) -> Json:
    """Stores that tell of each other: a run in one has its points in another, and its media in the buckets."""
    names = {kind: store.name for store in args.stores for kind, made in _CROSSED.items() if isinstance(store, made)}
    private, public = (store.name for store in args.stores if isinstance(store, Objects))
    return {**names, "private": private, "public": public}


def _live(args: RecoveryArgs) -> list[Json]:
    """Every live store. Secrets are among them where somebody holds the private half of a key to seal them with."""
    found = [_store(store) for store in args.stores]
    if args.recovery_public_key is not None:
        directories = [f"{SECRETS_PATH}/{name}" for name in args.sealed]
        sealing = {"directories": directories, "recovery_public_key": args.recovery_public_key}
        found.append({"kind": "secrets", "name": "stack-secrets", **sealing})
    return found


def _store(store: Store) -> Json:
    if isinstance(store, Postgres):
        place: Json = {"host": store.host, "port": store.port, "database": store.database}
        return {"kind": "postgres", "name": store.name, **place, **_login(store.secret)}
    if isinstance(store, ClickHouse):
        place = {"url": store.url, "database": store.database}
        return {"kind": "clickhouse", "name": store.name, **place, **_login(store.secret)}
    if isinstance(store, Redis):
        return {"kind": "redis", "name": store.name, "url_file": secret_file(store.secret, "url")}
    if isinstance(store, Objects):
        place = {"endpoint": store.endpoint, "bucket": store.bucket, "region": store.region}
        keys = {
            "access_key_file": secret_file(store.secret, "accessKey"),
            "secret_key_file": secret_file(store.secret, "secretKey"),
        }
        return {"kind": "objects", "name": store.name, **place, **keys}
    if isinstance(store, Grafana):
        return _grafana(store, store.url, secret_file(store.secret, store.key))
    return {"kind": "alertmanager", "name": store.name, "url": store.url}


def _grafana(store: Grafana, url: str, password_file: str) -> Json:
    asked = {"url": url, "login": store.login, "password_file": password_file}
    return {"kind": "grafana", "name": store.name, **asked, "folder": store.folder}


def _login(secret: str) -> Json:
    return {"username_file": secret_file(secret, "username"), "password_file": secret_file(secret, "password")}


def _scratch(args: RecoveryArgs) -> list[Json]:
    """The stores of the verifying pod under the names of the live ones. A bucket has none: it is read back instead."""
    return [section for store in args.stores if (section := _scratch_of(store, args)) is not None]


def _scratch_of(store: Store, args: RecoveryArgs) -> Json | None:
    login = {
        "username_file": secret_file(SCRATCH, SCRATCH_USER_KEY),
        "password_file": secret_file(SCRATCH, SCRATCH_PASSWORD),
    }
    if isinstance(store, Postgres):
        place: Json = {"host": LOOPBACK, "port": POSTGRES_PORT, "database": store.database}
        return {"kind": "postgres", "name": store.name, **place, **login}
    if isinstance(store, ClickHouse):
        place = {"url": f"http://{LOOPBACK}:{CLICKHOUSE_PORT}", "database": store.database}
        return {"kind": "clickhouse", "name": store.name, **place, **login}
    if isinstance(store, Redis):
        return {"kind": "redis", "name": store.name, "url_file": secret_file(SCRATCH, SCRATCH_URL)}
    if isinstance(store, Alertmanager) and args.scratch.alertmanager is not None:
        url = f"http://{LOOPBACK}:{ALERTMANAGER_PORT}"
        return {"kind": "alertmanager", "name": store.name, "url": url, "scratch": True}
    if isinstance(store, Grafana) and args.scratch.grafana is not None:
        url = f"http://{LOOPBACK}:{GRAFANA_PORT}"
        return {**_grafana(store, url, secret_file(SCRATCH, SCRATCH_PASSWORD)), "scratch": True}
    return None
