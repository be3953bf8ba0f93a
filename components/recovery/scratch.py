"""Stores that live as long as a verification: containers of its pod that start before it and go with it.

They run the images of the live stores, so that what is restored meets the very programs that it came from. Each is
started by what its image starts by itself, the official ones and those that are built here alike. They listen on
loopback where they can be told to; nothing reaches the pod in any case (network.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from components.grafana.names import DATA_PATH as GRAFANA_PATH
from components.grafana.names import USER as GRAFANA_USER
from components.pods import NOBODY, quantities, restricted_container
from components.recovery.args import ClickHouse, Grafana, Postgres
from components.recovery.config import (
    ALERTMANAGER_PORT,
    CLICKHOUSE_PORT,
    GRAFANA_PORT,
    LOOPBACK,
    POSTGRES_PORT,
    REDIS_PORT,
)
from components.recovery.names import (
    ALERTMANAGER_FILE,
    ALERTMANAGER_PATH,
    CONFIG,
    SCRATCH,
    SCRATCH_PASSWORD,
    SCRATCH_USER_KEY,
)

if TYPE_CHECKING:
    from components.objects import Manifest
    from components.recovery.args import RecoveryArgs, Scratch

_POSTGRES_USER: Final = 999
_REDIS_USER: Final = 999
_CLICKHOUSE_USER: Final = 101
"""Whom the official images run as."""
_START_SECONDS: Final = 300
_TMP: Final = "256Mi"
_GRAFANA_DATA: Final = "1Gi"
_REDIS_SCRIPT: Final = f"""\
PATH="$PATH:/opt/redis-stack/bin"
set -- --dir /data --bind {LOOPBACK} --port {REDIS_PORT} --save '' --appendonly no
for module in redisearch redistimeseries rejson redisbloom; do
  if [ -e "/opt/redis-stack/lib/$module.so" ]; then set -- "$@" --loadmodule "/opt/redis-stack/lib/$module.so"; fi
done
exec redis-server "$@"
"""
"""Keys of a module can be restored where the module is; redis-stack has these, a plain Redis has none."""


def sidecars(args: RecoveryArgs) -> list[Manifest]:
    """Containers in the order in which they start; each must answer before the next one does."""
    stores = args.scratch
    found = [_postgres(args, stores.postgres), _clickhouse(args, stores.clickhouse), _redis(stores.redis)]
    if stores.alertmanager is not None:
        found.append(_alertmanager(stores.alertmanager))
    if stores.grafana is not None:
        found.append(_grafana(args, stores.grafana))
    return found


def volumes(args: RecoveryArgs) -> list[Manifest]:
    """A claim for each store that is made with the pod and deleted with it, and room for sockets and logs."""
    stores = args.scratch
    sized = {"postgres": stores.postgres, "clickhouse": stores.clickhouse, "redis": stores.redis}
    found = [_ephemeral(name, store.volume, args.storage_class) for name, store in sized.items()]
    small = ["postgres-tmp", "postgres-run", "clickhouse-tmp", "clickhouse-logs", "clickhouse-users", "redis-tmp"]
    if stores.alertmanager is not None:
        found.append({"name": "alertmanager-config", "configMap": {"name": CONFIG, "items": [_item()]}})
        small.append("alertmanager-data")
    if stores.grafana is not None:
        found.append({"name": "grafana-data", "emptyDir": {"sizeLimit": _GRAFANA_DATA}})
        small.append("grafana-tmp")
    return found + [{"name": name, "emptyDir": {"sizeLimit": _TMP}} for name in small]


def claims(args: RecoveryArgs) -> tuple[str, ...]:
    """Sizes of the claims that one verification makes."""
    stores = args.scratch
    return (stores.postgres.volume, stores.clickhouse.volume, stores.redis.volume)


def alertmanager_config() -> str:
    """An Alertmanager that tells nobody anything."""
    return "route:\n  receiver: nobody\nreceivers:\n  - name: nobody\n"


def _item() -> dict[str, str]:
    return {"key": ALERTMANAGER_FILE, "path": ALERTMANAGER_FILE}


def _ephemeral(name: str, size: str, storage_class: str | None) -> Manifest:
    spec: Manifest = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    if storage_class is not None:
        spec["storageClassName"] = storage_class
    return {"name": f"{name}-data", "ephemeral": {"volumeClaimTemplate": {"spec": spec}}}


def _postgres(args: RecoveryArgs, wanted: Scratch) -> Manifest:
    """Its data lies below the volume's root, which belongs to root: a server refuses a directory of somebody else."""
    return _sidecar(
        "postgres",
        wanted,
        _POSTGRES_USER,
        args=["-c", f"listen_addresses={LOOPBACK}", "-c", f"port={POSTGRES_PORT}", "-c", "fsync=off"],
        env=[
            {"name": "PGDATA", "value": "/var/lib/postgresql/data/scratch"},
            {"name": "POSTGRES_DB", "value": _database(args, "postgres")},
            _from_secret("POSTGRES_USER", SCRATCH_USER_KEY),
            _from_secret("POSTGRES_PASSWORD", SCRATCH_PASSWORD),
        ],
        mounts={
            "postgres-data": "/var/lib/postgresql/data",
            "postgres-run": "/var/run/postgresql",
            "postgres-tmp": "/tmp",  # noqa: S108  # a volume of the pod
        },
        # By TCP: while its data is made, a server answers at its socket alone.
        asked=["pg_isready", "-q", "-h", LOOPBACK, "-p", str(POSTGRES_PORT)],
    )


def _clickhouse(args: RecoveryArgs, wanted: Scratch) -> Manifest:
    """The official image writes its user into a file beside its configuration, and logs into a directory."""
    return _sidecar(
        "clickhouse",
        wanted,
        _CLICKHOUSE_USER,
        env=[
            {"name": "CLICKHOUSE_DB", "value": _database(args, "clickhouse")},
            _from_secret("CLICKHOUSE_USER", SCRATCH_USER_KEY),
            _from_secret("CLICKHOUSE_PASSWORD", SCRATCH_PASSWORD),
        ],
        mounts={
            "clickhouse-data": "/var/lib/clickhouse",
            "clickhouse-logs": "/var/log/clickhouse-server",
            "clickhouse-users": "/etc/clickhouse-server/users.d",
            "clickhouse-tmp": "/tmp",  # noqa: S108  # a volume of the pod
        },
        asked=["wget", "-q", "-O", "/dev/null", f"http://{LOOPBACK}:{CLICKHOUSE_PORT}/ping"],
    )


def _redis(wanted: Scratch) -> Manifest:
    return _sidecar(
        "redis",
        wanted,
        _REDIS_USER,
        command=["/bin/sh", "-euc", _REDIS_SCRIPT],
        mounts={"redis-data": "/data", "redis-tmp": "/tmp"},  # noqa: S108  # a volume of the pod
        asked=["/bin/sh", "-c", _pong()],
    )


def _pong() -> str:
    """A Redis that still loads answers as well, but not with PONG."""
    ask = f"redis-cli -h {LOOPBACK} -p {REDIS_PORT} ping"
    return f'PATH="$PATH:/opt/redis-stack/bin"; [ "$({ask})" = PONG ]'


def _alertmanager(wanted: Scratch) -> Manifest:
    return _sidecar(
        "alertmanager",
        wanted,
        NOBODY,
        args=[
            f"--config.file={ALERTMANAGER_PATH}/{ALERTMANAGER_FILE}",
            "--storage.path=/alertmanager",
            f"--web.listen-address={LOOPBACK}:{ALERTMANAGER_PORT}",
            "--cluster.listen-address=",
        ],
        mounts={"alertmanager-config": ALERTMANAGER_PATH, "alertmanager-data": "/alertmanager"},
        asked=["wget", "-q", "-O", "/dev/null", f"http://{LOOPBACK}:{ALERTMANAGER_PORT}/-/ready"],
    )


def _grafana(args: RecoveryArgs, wanted: Scratch) -> Manifest:
    """An empty one: nothing is provisioned, fetched from the internet or told to anybody."""
    login = next(store.login for store in args.stores if isinstance(store, Grafana))
    settings = {
        "GF_SECURITY_ADMIN_USER": login,
        "GF_SERVER_HTTP_ADDR": LOOPBACK,
        "GF_SERVER_HTTP_PORT": str(GRAFANA_PORT),
        "GF_PLUGINS_PREINSTALL_DISABLED": "true",
        "GF_ANALYTICS_REPORTING_ENABLED": "false",
        "GF_ANALYTICS_CHECK_FOR_UPDATES": "false",
        "GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES": "false",
        "GF_NEWS_NEWS_FEED_ENABLED": "false",
        "GF_UNIFIED_ALERTING_EXECUTE_ALERTS": "false",
    }
    return _sidecar(
        "grafana",
        wanted,
        GRAFANA_USER,
        env=[
            *({"name": name, "value": value} for name, value in settings.items()),
            _from_secret("GF_SECURITY_ADMIN_PASSWORD", SCRATCH_PASSWORD),
        ],
        mounts={"grafana-data": GRAFANA_PATH, "grafana-tmp": "/tmp"},  # noqa: S108  # a volume of the pod
        asked=["wget", "-q", "-O", "/dev/null", f"http://{LOOPBACK}:{GRAFANA_PORT}/api/health"],
    )


def _sidecar(  # noqa: PLR0913  # each is part of what a container is
    name: str,
    wanted: Scratch,
    user: int,
    *,
    mounts: dict[str, str],
    asked: list[str],
    command: list[str] | None = None,
    args: list[str] | None = None,
    env: list[dict[str, Any]] | None = None,
) -> Manifest:
    """A container that runs beside the main one: `restartPolicy` makes it so. asked: command that says it answers."""
    started: Manifest = {**({"command": command} if command else {}), **({"args": args} if args else {})}
    return {
        "name": name,
        "image": wanted.image.reference,
        "imagePullPolicy": "IfNotPresent",
        "restartPolicy": "Always",
        **started,
        **({"env": env} if env else {}),
        "resources": quantities(wanted.resources),
        "securityContext": {**restricted_container(), "runAsUser": user, "runAsGroup": user},
        "startupProbe": {
            "exec": {"command": asked},
            "periodSeconds": 2,
            "timeoutSeconds": 5,
            "failureThreshold": _START_SECONDS // 2,
        },
        "volumeMounts": [{"name": volume, "mountPath": path} for volume, path in mounts.items()],
    }


def _database(args: RecoveryArgs, kind: str) -> str:
    wanted = Postgres if kind == "postgres" else ClickHouse
    return next(store.database for store in args.stores if isinstance(store, wanted))


def _from_secret(name: str, key: str) -> dict[str, Any]:
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": SCRATCH, "key": key}}}
