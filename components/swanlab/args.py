"""What the SwanLab component must be told: plain, frozen, already validated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from components.images import ImagePin
    from components.secrets import Generated

Size = Literal["small", "standard"]


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Which chart. repository: address of a chart repository, or path: a directory or .tgz; exactly one.

    takes_secrets: the chart knows `dependencies.<store>.existingSecret`. The official one does not (up to the newest
    that could be read): it makes its Secrets from values, which are then Pulumi secrets. pull_secrets: names of
    Secrets in SwanLab's namespace with the login of the image registry.
    """

    version: str
    repository: str | None = None
    path: str | None = None
    takes_secrets: bool = False
    pull_secrets: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OwnStore:
    """A store that the chart runs on a claim of ours. volume: Kubernetes quantity. generation: of its password."""

    volume: str
    generation: int = 1


@dataclass(frozen=True, kw_only=True)
class ExternalPostgres:
    """A PostgreSQL elsewhere. secret: existing Secret with username, password, primaryUrl, replicaUrl."""

    host: str
    port: int
    database: str
    secret: str

    @property
    def place(self) -> str:
        """`host:port/database`."""
        return f"{self.host}:{self.port}/{self.database}"


@dataclass(frozen=True, kw_only=True)
class ExternalRedis:
    """A Redis elsewhere. database: number. secret: existing Secret with url."""

    host: str
    port: int
    database: int
    secret: str

    @property
    def place(self) -> str:
        """`host:port/database`."""
        return f"{self.host}:{self.port}/{self.database}"


@dataclass(frozen=True, kw_only=True)
class ExternalClickHouse:
    """A ClickHouse elsewhere. secret: existing Secret with username, password."""

    host: str
    http_port: int
    tcp_port: int
    database: str
    secret: str

    @property
    def place(self) -> str:
        """`host:port/database`, with the port of the HTTP interface."""
        return f"{self.host}:{self.http_port}/{self.database}"


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """A bucket and how it is reached. domain: address with scheme in front of public objects, None for none."""

    endpoint: str
    port: int
    bucket: str
    ssl: bool
    region: str
    path_style: bool
    domain: str | None = None


@dataclass(frozen=True, kw_only=True)
class StoreKeys:
    """Keys of the stack's own object store, derived like its own."""

    access_key: str
    secret_key: Generated


@dataclass(frozen=True, kw_only=True)
class ExternalS3:
    """An object store outside of the chart. private: reached by the servers. public: by browsers and SDKs.

    credentials: name of an existing Secret with accessKey and secretKey, or keys of the stack's own object store.
    """

    public: Bucket
    private: Bucket
    credentials: str | StoreKeys

    @property
    def place(self) -> str:
        """`endpoint:port/private bucket,public bucket`. The public endpoint may be another way to the same store."""
        return f"{self.private.endpoint}:{self.private.port}/{self.private.bucket},{self.public.bucket}"


Store = OwnStore | ExternalPostgres | ExternalRedis | ExternalClickHouse | ExternalS3


@dataclass(frozen=True, kw_only=True)
class Buffer:
    """The delivery buffer: what is acknowledged to an SDK and not stored yet. A claim of `volume` per replica.

    max_size: quantity, of each of its three parts.
    """

    replicas: int
    volume: str
    max_size: str


@dataclass(frozen=True, kw_only=True)
class Replicas:
    """Pods of each program without state."""

    gateway: int = 2
    server: int = 3
    auth: int = 2
    house: int = 3
    cloud: int = 1
    next: int = 2


@dataclass(frozen=True, kw_only=True)
class Environment:
    """What pods of a namespace are told of SwanLab. project, workspace, log_dir: defaults of their runs."""

    namespace: str
    project: str | None = None
    workspace: str | None = None
    log_dir: str | None = None


@dataclass(frozen=True, kw_only=True)
class SwanlabArgs:
    """Everything that decides what SwanLab runs.

    stack: whose data the claims hold. instance: the stack's namespace. namespace: SwanLab's own. images: role →
    image, for `roles`. host: address of the gateway for pods, with scheme and without path; public_host: for people.
    size: of the pods' resources. scraped_from: namespace of Prometheus. storage_class: None means the cluster's
    default. durable: the data must outlive a mistake. moved_from: store → place from which its data was moved.
    """

    stack: str
    instance: str
    namespace: str
    chart: Chart
    images: dict[str, ImagePin]
    host: str
    public_host: str | None
    postgres: OwnStore | ExternalPostgres
    redis: OwnStore | ExternalRedis
    clickhouse: OwnStore | ExternalClickHouse
    s3: OwnStore | ExternalS3
    buffer: Buffer
    scraped_from: str
    storage_class: str | None
    network_policies: bool
    durable: bool
    size: Size = "standard"
    replicas: Replicas = field(default_factory=Replicas)
    environment: tuple[Environment, ...] = ()
    moved_from: dict[str, str] = field(default_factory=dict)

    @property
    def stores(self) -> dict[str, Store]:
        """Every store by its name in the chart."""
        return {"postgres": self.postgres, "redis": self.redis, "clickhouse": self.clickhouse, "s3": self.s3}

    @property
    def own(self) -> dict[str, OwnStore]:
        """The stores that the chart runs."""
        return {name: store for name, store in self.stores.items() if isinstance(store, OwnStore)}
