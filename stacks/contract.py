"""Outputs contract v1: what a deployed stack promises, read by smoke, recovery and people.

Imports nothing of Pulumi, so that a checker can read it anywhere. The same document is written to
`.out/<stack>/contract.json` and to ConfigMap `plumbline-contract`. It names secrets and never holds their values.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from signals.alertmanager_config import Receiver
from signals.rules.inputs import RuleInputs

CONTRACT_CONFIGMAP = "plumbline-contract"
CONTRACT_KEY = "contract.json"


Capability = Literal[
    "metrics",
    "prometheus-managed",
    "gpu",
    "kube-state",
    "alerting",
    "alert-sink",
    "push",
    "object-store",
    "experiments",
    "experiments-pod",
    "recovery",
    "telemetry",
    "logs",
    "traces",
    "grafana",
    "node-access",
    "disruptive",
]
CAPABILITIES: dict[Capability, str] = {
    "metrics": "a Prometheus can be asked",
    "prometheus-managed": "that Prometheus is deployed by this stack",
    "gpu": "a GPU exporter is scraped",
    "kube-state": "kube-state-metrics is scraped",
    "alerting": "an Alertmanager of this stack is told what fires",
    "alert-sink": "what it sends can be read back",
    "push": "a Pushgateway of this stack takes metrics",
    "object-store": "an object store of this stack speaks S3",
    "experiments": "SwanLab takes what an SDK logs",
    "experiments-pod": "an image with the pinned SDK can run in the cluster",
    "recovery": "restore points of SwanLab are made, verified and pruned by this stack",
    "telemetry": "a collector of this stack takes OTLP and the logs of containers",
    "logs": "VictoriaLogs of this stack can be asked",
    "traces": "Jaeger of this stack can be asked",
    "grafana": "Grafana of this stack can be asked",
    "node-access": "the machine that runs smoke is the node",
    "disruptive": "pods may be killed by `make prove`",
}


class Part(BaseModel):
    """Base of every part of the contract: immutable, and unknown keys are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Cluster(Part):
    """Which cluster this is. `uid` is the uid of namespace kube-system; checked before every action."""

    uid: str
    context: str
    name: str = Field(description="value of the label `cluster` on every series")
    environment: str = Field(description="value of the label `environment` on every series")


class Endpoint(Part):
    """A service: reached by `url` if set, else by a forward through the API server. namespace: None is the stack's."""

    service: str
    namespace: str | None = None
    port: int
    scheme: Literal["http", "https"] = "http"
    url: str | None = None


class SecretRef(Part):
    """Where a secret lies; never its value."""

    namespace: str
    name: str
    key: str


class Image(Part):
    """The image that a container must run. `image_id` is the config digest of a locally built image."""

    container: str
    reference: str
    image_id: str | None = None


class Workload(Part):
    """A workload and the number of pods it must have ready.

    None for a DaemonSet: one on every node it selects, and at least one; 0 for one that may have no node at all.
    init_images: references, of which init containers may run any; their names are those of somebody else's chart.
    """

    kind: Literal["StatefulSet", "Deployment", "DaemonSet"]
    name: str
    replicas: int | None = Field(ge=0)
    images: tuple[Image, ...]
    init_images: tuple[str, ...] = ()


class Claim(Part):
    """A persistent volume claim that must be bound. `size` is a Kubernetes quantity, for example `10Gi`."""

    name: str
    size: str
    mounted_at: str


class Component(Part):
    """One deployed system.

    `revision` identifies the rendered configuration; where set, the running program must show it.
    `flags` are command-line flags which the program's own API must report with these values.
    `tier` is what a claim about this component is worth: `live` for the real program, `simulated` for a stand-in.
    `namespace` is where its workloads are, None = the stack's. `managed` is false for a program that somebody else
    deploys and this stack uses.
    """

    tier: Literal["simulated", "live", "gpu"]
    managed: bool = True
    namespace: str | None = None
    workloads: tuple[Workload, ...] = ()
    claims: tuple[Claim, ...] = ()
    endpoints: dict[str, Endpoint] = {}
    secrets: dict[str, SecretRef] = {}
    revision: str | None = None
    flags: dict[str, str] = {}


class ScrapeJob(Part):
    """A scrape job that must exist with at least this many healthy targets.

    node_selector: for a producer with one target per node, the labels of the nodes that must have one. static: nodes
    outside the cluster that must have one as well. max_series: what the whole job may store.
    """

    job: str
    min_targets: int = Field(ge=0)
    node_selector: dict[str, str] = {}
    static: tuple[str, ...] = ()
    max_series: int = Field(ge=1)


class Store(Part):
    """Where SwanLab keeps one kind of its state.

    mode: `chart` (deployed by its chart, on a claim of this stack) or `external`. claims: names of the claims in mode
    `chart`, in SwanLab's namespace. place: where the data is: the claim, or `host:port/database`, for S3
    `endpoint:port/private bucket,public bucket`; empty for the delivery buffer, which is where its claims are.
    """

    mode: Literal["chart", "external"]
    claims: tuple[str, ...] = ()
    place: str = ""


class Experiments(Part):
    """What is promised of SwanLab beyond its component `swanlab`.

    sdk: pinned version of the SDK, as in smoke/sdk_matrix.toml. host: address of the gateway for pods, scheme and no
    path. public_host: the same for people, None where nobody but pods and port-forwards gets in. login: where the
    key is with which checks log in. sdk_image: image with the pinned SDK, None where there is none. stores: postgres,
    clickhouse, redis, s3, buffer. public_bucket: address of the bucket for media in an S3 that this stack does not run,
    None where this does or where pods alone reach it. body_limit: what a proxy before the gateway must let through,
    in bytes.
    """

    sdk: str
    host: str
    public_host: str | None = None
    login: SecretRef
    sdk_image: str | None = None
    stores: dict[str, Store]
    public_bucket: str | None = None
    body_limit: int = Field(ge=1)


class Bucket(Part):
    """A bucket that must be there.

    owner: identity that reads, writes and lists it. access, secret: where both halves of its key are. public_read:
    anybody reads its objects by name, and does nothing else.
    """

    name: str
    owner: str
    access: SecretRef
    secret: SecretRef
    public_read: bool = False


class ObjectStore(Part):
    """What is promised of the object store beyond its component `object-store`."""

    buckets: tuple[Bucket, ...] = Field(min_length=1)


class RecoveryJob(Part):
    """A CronJob of recovery. period_seconds: the longest time that its schedule lets pass between two runs.

    None for one without a schedule, from which people start Jobs.
    """

    namespace: str
    name: str
    period_seconds: int | None = Field(default=None, ge=60)
    image: Image


class Recovery(Part):
    """What is promised of restore points beyond the component `recovery`.

    namespace: recovery's own. jobs: create, verify, prune, restore. target: address of S3 with scheme; bucket: in it.
    own: whether this stack runs that S3. reader_access, reader_secret: both halves of the key that reads the bucket.
    signing: key with which manifests are signed. lock_days: for which nobody deletes an object. rpo_seconds,
    rto_seconds: how much may be lost, and how long a restore may take. gate_max_age_seconds: an upgrade needs a
    verified point that is younger. sealed: whether Secrets of the stack are in a point.
    """

    namespace: str
    jobs: dict[Literal["create", "verify", "prune", "restore"], RecoveryJob]
    target: str
    bucket: str
    region: str
    own: bool
    reader_access: SecretRef
    reader_secret: SecretRef
    signing: SecretRef
    lock_days: int = Field(ge=1)
    rpo_seconds: int = Field(ge=1)
    rto_seconds: int = Field(ge=1)
    gate_max_age_seconds: int = Field(ge=1)
    sealed: bool


class Collector(Part):
    """One tier of the collector.

    namespace, kind, name: its workload. revision: of its configuration, which the metrics of each of its pods show as
    label `plumbline_revision` of `target_info`. otlp: where it takes OTLP over HTTP. metrics_port: in each pod, of its
    own metrics. span_metrics_port: of what it counts from spans and takes by OTLP, None where it exposes none.
    arguments: with which the container of that name is started; each file that they name is a ConfigMap's, the first
    that of the revision. debug_revision: of the second, before anybody writes it, None where there is none.
    """

    namespace: str
    kind: Literal["DaemonSet", "StatefulSet"]
    name: str
    revision: str
    arguments: tuple[str, ...] = ()
    debug_revision: str | None = None
    otlp: Endpoint
    metrics_port: int
    span_metrics_port: int | None = None


class Sampling(Part):
    """Which traces are kept, as a whole: all with an error, all that took slow_ms or longer, and a share of the rest.

    keep_percent: share of the rest. tenants: value of the resource attribute `team` → share of its traces, in percent.
    decision_wait_seconds: from the first span of a trace to its decision, unless its root comes:
    decision_wait_after_root_seconds later it is decided. A gateway that is killed loses the traces that wait.
    traces_in_memory: how many may wait at a time, in one gateway.
    """

    keep_percent: float = Field(ge=0, le=100)
    slow_ms: int = Field(ge=1)
    decision_wait_seconds: int = Field(ge=1)
    decision_wait_after_root_seconds: int = Field(ge=1)
    traces_in_memory: int = Field(ge=1)
    tenants: dict[str, float] = {}


class LogStore(Part):
    """What VictoriaLogs keeps. retention_bytes: older days go when the data is larger; the last two days stay."""

    retention_seconds: int = Field(ge=86400)
    retention_bytes: int = Field(ge=1)


class TraceStore(Part):
    """What Jaeger keeps. revision: of its configuration, shown as that of a Collector. arguments: see Collector."""

    retention_seconds: int = Field(ge=1)
    revision: str
    arguments: tuple[str, ...] = ()


class Telemetry(Part):
    """What is promised of traces and logs beyond the components `victoria-logs` and `jaeger`.

    agent, gateway: the two tiers, None where neither is deployed. signals: that the gateway takes by OTLP. sampling:
    None where no traces are kept. resource_attributes: put on everything that leaves the gateway. identity: names of
    attributes by which a workload says whose it is; they are kept. logs, traces: the stores of this stack, None for
    those of somebody else.
    """

    agent: Collector | None = None
    gateway: Collector | None = None
    signals: tuple[Literal["traces", "logs", "metrics"], ...] = ()
    sampling: Sampling | None = None
    resource_attributes: dict[str, str] = {}
    identity: tuple[str, ...] = ()
    logs: LogStore | None = None
    traces: TraceStore | None = None


class DataSource(Part):
    """A datasource that Grafana must have, field by field. url: as its pods reach the store."""

    uid: str
    name: str
    type: str
    url: str


class Grafana(Part):
    """What is promised of Grafana beyond the component `grafana`.

    folder: uid of the folder that holds every board, None in a Grafana of somebody else, which makes its own. boards:
    uid → SHA-256 of the file, which is the board's JSON with keys in order, an indent of one and a line's end.
    """

    folder: str | None = None
    datasources: tuple[DataSource, ...]
    boards: dict[str, str]


class Contract(Part):
    """The whole contract of one stack.

    `capabilities` say what may be checked: see CAPABILITIES.
    `rules` are the inputs from which every rule file can be rendered again and compared, `receivers` those of
    Alertmanager's configuration; they name files of Secrets, never their content.
    `expected_checks` are the ids of the checks that must run; one that does not run is red.
    """

    version: Literal[1] = 1
    stack: str
    cluster: Cluster
    namespace: str
    capabilities: tuple[Capability, ...]
    components: dict[str, Component]
    scrape: tuple[ScrapeJob, ...]
    rules: RuleInputs
    receivers: tuple[Receiver, ...] = ()
    experiments: Experiments | None = None
    object_store: ObjectStore | None = None
    recovery: Recovery | None = None
    telemetry: Telemetry | None = None
    grafana: Grafana | None = None
    expected_checks: tuple[str, ...]
