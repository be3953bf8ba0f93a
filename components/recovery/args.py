"""What recovery must be told: plain, frozen, already validated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from components.recovery.names import (
    ACCESS_KEY,
    GRAFANA_LOGIN,
    GRAFANA_PASSWORD,
    PRUNER,
    READER,
    SECRET_KEY,
    WRITER,
)
from components.secrets import Existing

if TYPE_CHECKING:
    from components.images import ImagePin
    from components.object_store.args import ObjectStoreArgs
    from components.prometheus.args import Resources
    from components.secrets import SecretSource

Command = Literal["create", "verify", "prune", "restore"]


@dataclass(frozen=True, kw_only=True)
class Account:
    """Who asks the target. secret: name of the Secret with both halves of the key, in each namespace that uses it."""

    secret: str
    access_key: str = ACCESS_KEY
    secret_key: str = SECRET_KEY


@dataclass(frozen=True, kw_only=True)
class Target:
    """The bucket of the restore points. endpoint: with scheme. lock_days: how long nobody deletes an object.

    own: arguments of the object store that this component runs for it, None for one of somebody else.
    """

    endpoint: str
    bucket: str
    region: str
    lock_days: int
    writer: Account = Account(secret=WRITER)
    reader: Account = Account(secret=READER)
    pruner: Account = Account(secret=PRUNER)
    own: ObjectStoreArgs | None = None


@dataclass(frozen=True, kw_only=True)
class Postgres:
    """A live PostgreSQL. secret: with keys username, password."""

    name: str
    host: str
    port: int
    database: str
    secret: str


@dataclass(frozen=True, kw_only=True)
class ClickHouse:
    """A live ClickHouse. url: of its HTTP interface. secret: with keys username, password."""

    name: str
    url: str
    database: str
    secret: str


@dataclass(frozen=True, kw_only=True)
class Redis:
    """A live Redis. secret: with key url."""

    name: str
    secret: str


@dataclass(frozen=True, kw_only=True)
class Objects:
    """A live bucket. endpoint: with scheme. secret: with keys accessKey, secretKey."""

    name: str
    endpoint: str
    bucket: str
    region: str
    secret: str


@dataclass(frozen=True, kw_only=True)
class Alertmanager:
    """A live Alertmanager, whose silences are kept."""

    name: str
    url: str


@dataclass(frozen=True, kw_only=True)
class Grafana:
    """A live Grafana, of which is kept what people made. login: name of its administrator. folder: uid of the folder
    that its deployment fills. password: where it comes from; one of somebody else's Secrets is also in SwanLab's
    namespace, under the same name.
    """

    name: str
    url: str
    login: str
    folder: str
    password: SecretSource

    @property
    def secret(self) -> str:
        """Name of the Secret that the pods mount."""
        return self.password.name if isinstance(self.password, Existing) else GRAFANA_LOGIN

    @property
    def key(self) -> str:
        """Entry of it that holds the password."""
        return self.password.key if isinstance(self.password, Existing) else GRAFANA_PASSWORD


Store = Postgres | ClickHouse | Redis | Objects | Alertmanager | Grafana


@dataclass(frozen=True, kw_only=True)
class Scratch:
    """A store that lives as long as a verification. volume: Kubernetes quantity."""

    image: ImagePin
    volume: str
    resources: Resources


@dataclass(frozen=True, kw_only=True)
class ScratchStores:
    """All of them. Sizes follow from what the live stores have. alertmanager, grafana: None where none is live."""

    postgres: Scratch
    clickhouse: Scratch
    redis: Scratch
    alertmanager: Scratch | None
    grafana: Scratch | None = None


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """When a command runs. cron: five fields, in UTC. period_seconds: longest time between two runs."""

    cron: str
    period_seconds: int


@dataclass(frozen=True, kw_only=True)
class Retention:
    """Points that stay: the newest `keep_last`, and each that is younger than `keep_days`."""

    keep_last: int
    keep_days: int


@dataclass(frozen=True, kw_only=True)
class Quiesce:
    """Who is stopped while a quiesced point is made. order: Deployments. buffer: StatefulSet that must be empty then.

    seconds: how long that may take at most.
    """

    order: tuple[str, ...]
    buffer: str
    seconds: int


@dataclass(frozen=True, kw_only=True)
class RecoveryArgs:
    """Everything that decides how restore points are made, verified and pruned.

    instance: the stack's namespace. namespace: recovery's own. swanlab_namespace: where the live stores' Secrets are.
    sealed: Secrets in SwanLab's namespace that go into a point, sealed; may_be_absent: those of them that may come
    later. recovery_public_key: for whom they are sealed, None: they are left out. metrics_url: of the Pushgateway.
    cross_check: whether a verification holds the stores against each other.
    volume_work: most that a run keeps on disk. storage_class: of the scratch stores' volumes, None is the default.
    alertmanager_pods, grafana_pods: labels of the live Alertmanager's and Grafana's pods, None for none.
    """

    stack: str
    cluster_uid: str
    instance: str
    namespace: str
    swanlab_namespace: str
    image: ImagePin
    target: Target
    stores: tuple[Store, ...]
    sealed: tuple[str, ...]
    may_be_absent: tuple[str, ...]
    scratch: ScratchStores
    schedules: dict[Command, Schedule]
    retention: Retention
    rpo_seconds: int
    rto_seconds: int
    recovery_public_key: str | None
    cross_check: bool
    metrics_url: str | None
    quiesce: Quiesce
    resources: Resources
    volume_work: str
    storage_class: str | None
    network_policies: bool
    alertmanager_pods: dict[str, str] | None = None
    grafana_pods: dict[str, str] | None = None
