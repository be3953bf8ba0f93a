"""Section of the settings: SwanLab, which keeps what training runs log."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from stacks.fields import Bytes, DnsName, DnsSubdomain, Duration, HttpUrl, ImageRef, SecretKey, Text
from stacks.section import Section

Mode = Literal["chart", "external"]
_MODE = "`chart`: run by SwanLab's chart on a claim of this stack; `external`: runs elsewhere"
_MOVED = "place from which the data was moved here, as the refusal names it: acknowledges the move"
_SECRET = "existing Secret in SwanLab's namespace with"  # noqa: S105  # a description
Host = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?$")]
Volume = Annotated[Bytes, Field(pattern=r"^[1-9][0-9]*(Mi|Gi|Ti)$")]
Port = Annotated[int, Field(gt=0, lt=65536)]
Count = Annotated[int, Field(ge=1, le=64)]


class Chart(Section):
    """Where the chart comes from, if not from the repository in stacks/versions.toml."""

    path: Text | None = Field(default=None, description="directory or .tgz of the chart, for sites without its address")
    pull_secrets: tuple[DnsSubdomain, ...] = Field(
        default=(), description="Secrets in SwanLab's namespace with the login of the image registry: list of names"
    )


class ApiKey(Section):
    """Where the key is with which checks log in. It exists after activation, not before."""

    name: DnsSubdomain = Field(default="swanlab-api-key", description="name of a Secret in SwanLab's namespace")
    key: SecretKey = Field(default="api-key", description="key in it")


class Postgres(Section):
    """Accounts, projects, runs, API keys."""

    mode: Mode = Field(default="chart", description=_MODE)
    moved_from: Text | None = Field(default=None, description=_MOVED)
    volume: Volume = Field(default="100Gi", description="for mode `chart`: size of the claim in Mi, Gi or Ti")
    generation: int = Field(default=1, ge=1, description="for mode `chart`: one more than before rotates the password")
    host: Host | None = Field(default=None, description="for mode `external`: host name or address, without port")
    port: Port = Field(default=5432, description="for mode `external`: port")
    database: Text = Field(default="app", description="for mode `external`: name of the database, made beforehand")
    secret: DnsSubdomain | None = Field(
        default=None, description=f"for mode `external`: {_SECRET} keys username, password, primaryUrl, replicaUrl"
    )


class Redis(Section):
    """Sessions and queues."""

    mode: Mode = Field(default="chart", description=_MODE)
    moved_from: Text | None = Field(default=None, description=_MOVED)
    volume: Volume = Field(default="50Gi", description="for mode `chart`: size of the claim in Mi, Gi or Ti")
    host: Host | None = Field(default=None, description="for mode `external`: host name or address, without port")
    port: Port = Field(default=6379, description="for mode `external`: port")
    database: int = Field(default=0, ge=0, le=15, description="for mode `external`: number of the database, 0 to 15")
    secret: DnsSubdomain | None = Field(default=None, description=f"for mode `external`: {_SECRET} key url")


class ClickHouse(Section):
    """Points, index of media, terminal logs."""

    mode: Mode = Field(default="chart", description=_MODE)
    moved_from: Text | None = Field(default=None, description=_MOVED)
    volume: Volume = Field(default="1000Gi", description="for mode `chart`: size of the claim in Mi, Gi or Ti")
    generation: int = Field(default=1, ge=1, description="for mode `chart`: one more than before rotates the password")
    host: Host | None = Field(default=None, description="for mode `external`: host name or address, without port")
    http_port: Port = Field(default=8123, description="for mode `external`: port of the HTTP interface")
    tcp_port: Port = Field(default=9000, description="for mode `external`: port of the native interface")
    database: Text = Field(default="app", description="for mode `external`: `app`, the one that the buffer writes to")
    secret: DnsSubdomain | None = Field(
        default=None, description=f"for mode `external`: {_SECRET} keys username, password"
    )


class Bucket(Section):
    """A bucket and how it is reached."""

    bucket: DnsSubdomain = Field(description="name of the bucket, made beforehand")
    endpoint: Host = Field(description="host name or address, without scheme and port")
    port: Port = Field(default=443, description="port")
    ssl: bool = Field(default=True, description="false for http")
    region: Text = Field(default="us-east-1", description="region that signatures name")
    path_style: bool = Field(default=True, description="false where the bucket is part of the host name")
    domain: HttpUrl | None = Field(
        default=None, description="address in front of public objects, with scheme; without it the endpoint"
    )


class S3(Section):
    """Images, audio, files that runs log."""

    mode: Mode = Field(default="chart", description=_MODE)
    moved_from: Text | None = Field(default=None, description=_MOVED)
    volume: Volume = Field(default="1000Gi", description="for mode `chart`: size of the claim in Mi, Gi or Ti")
    generation: int = Field(default=1, ge=1, description="for mode `chart`: one more than before rotates the key")
    public: Bucket | None = Field(
        default=None,
        description="for mode `external`, as browsers and SDKs reach it: keys bucket, endpoint, port, ssl, region, "
        "path_style, domain",
    )
    private: Bucket | None = Field(
        default=None, description="for mode `external`, as the servers reach it: keys as in `public`"
    )
    secret: DnsSubdomain | None = Field(
        default=None,
        description=f"for mode `external`: {_SECRET} keys accessKey, secretKey; without it this stack's object store",
    )


class Stores(Section):
    """Where each kind of state is."""

    postgres: Postgres = Field(default_factory=Postgres, description="keys mode, volume, generation or host, secret, …")
    redis: Redis = Field(default_factory=Redis, description="keys mode, volume or host, secret, …")
    clickhouse: ClickHouse = Field(
        default_factory=ClickHouse, description="keys mode, volume, generation or host, secret, …"
    )
    s3: S3 = Field(default_factory=S3, description="keys mode, volume, generation or public, private, secret")


class Buffer(Section):
    """The delivery buffer: what is acknowledged and not stored yet. It is state like every other."""

    replicas: Count = Field(default=2, description="pods, each with a claim; 2 as the vendor says, 1 to try things on")
    volume: Volume = Field(
        default="60Gi", description="size of each claim in Mi, Gi or Ti, from 60Gi on a durable stack"
    )
    max_size: Bytes = Field(
        default="10Gi", description="of each of the three parts of a buffer: less than a third of the volume"
    )


class Replicas(Section):
    """Pods of the programs without state."""

    gateway: Count = Field(default=2, description="pods of the gateway")
    server: Count = Field(default=3, description="pods of the server")
    auth: Count = Field(default=2, description="pods of the login service")
    house: Count = Field(default=3, description="pods that take metrics")
    cloud: Count = Field(default=1, description="pods of the older pages")
    next: Count = Field(default=2, description="pods of the pages")


class Ingress(Section):
    """What the proxy in front of the gateway lets through. It is somebody else's; checks hold it to this."""

    body_limit: Bytes = Field(default="64Mi", description="largest request body, at least 64Mi")
    read_timeout: Duration = Field(default="60s", description="how long an answer may take, at least 60s")


class EnvironmentIn(Section):
    """A namespace whose pods are told how to reach SwanLab."""

    namespace: DnsName = Field(description="an existing namespace")
    project: Text | None = Field(default=None, description="project of runs that name none")
    workspace: Text | None = Field(default=None, description="workspace of runs that name none")
    log_dir: Text | None = Field(default=None, description="persistent directory of the pods for what was not sent")


class Licence(Section):
    """What activation and renewal of the licence need."""

    egress: Literal["open", "none"] = Field(
        default="open", description="`open`: pods reach api.swanlab.cn by https; `none`: they do not, for a stand-in"
    )


class Swanlab(Section):
    """SwanLab, by its own chart."""

    mode: Literal["managed", "off"] = Field(default="off", description="`managed`: deployed by this stack; `off`")
    host: HttpUrl | None = Field(
        default=None, description="address of the gateway for pods, with scheme and without path; else its Service"
    )
    public_host: HttpUrl | None = Field(default=None, description="the same for people, where they get in")
    chart: Chart = Field(default_factory=Chart, description="keys path, pull_secrets")
    sdk: Text = Field(
        default="0.8.4", pattern=r"^\d+\.\d+\.\d+$", description="version of the SDK that checks use, as `0.8.4`"
    )
    sdk_image: ImageRef | None = Field(
        default=None, description="image with Python and that SDK, to check from a pod; on stack local it is built"
    )
    gate_image: ImageRef | None = Field(
        default=None, description="image of gate/, which waits for SwanLab and watches it; on stack local it is built"
    )
    api_key: ApiKey = Field(default_factory=ApiKey, description="keys name, key")
    stores: Stores = Field(default_factory=Stores, description="keys postgres, redis, clickhouse, s3")
    buffer: Buffer = Field(default_factory=Buffer, description="keys replicas, volume, max_size")
    replicas: Replicas = Field(default_factory=Replicas, description="keys gateway, server, auth, house, cloud, next")
    size: Literal["small", "standard"] = Field(
        default="standard", description="resources of the pods: `standard`, or `small` to try things on"
    )
    ingress: Ingress = Field(default_factory=Ingress, description="keys body_limit, read_timeout")
    environment_in: tuple[EnvironmentIn, ...] = Field(
        default=(), description="list of namespaces that get ConfigMap swanlab-environment: namespace, project, …"
    )
    licence: Licence = Field(default_factory=Licence, description="key egress")
