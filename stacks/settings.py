"""The settings of a stack: every accepted key with its type, default and meaning, and the only reader of Pulumi config.

Nothing here touches the network. Relations between settings are in relations.py; what only the cluster can answer is
in preflight.py.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

import pulumi
from pulumi.runtime.config import CONFIG, get_config_env
from pydantic import Field, ValidationError

from components.errors import DeployError
from signals.catalogue.labels import WORKLOAD_IDENTITY
from signals.rules.inputs import POD_LABELS
from signals.thresholds import Sizing, Thresholds
from stacks.alerting import Alertmanager
from stacks.complaints import PREFIX, explain, misplaced
from stacks.existing import ExistingPrometheus
from stacks.exporters import DcgmExporter, KubeStateMetrics, NodeExporter, Pushgateway
from stacks.fields import (
    Bytes,
    DnsName,
    DnsSubdomain,
    Duration,
    HttpUrl,
    KubeUid,
    LabelValue,
    Mirror,
    Namespace,
    Quantity,
    SecretKey,
    SizeRetention,
    Text,
)
from stacks.grafana import Grafana
from stacks.limits import Limits
from stacks.object_store import ObjectStore
from stacks.recovery import Recovery
from stacks.relations import broken
from stacks.root_secret import Secrets
from stacks.section import Section
from stacks.swanlab import Swanlab
from stacks.telemetry import Logs, OtelCollector, Traces

if TYPE_CHECKING:
    from collections.abc import Mapping


class Cluster(Section):
    """Which cluster, and what its series are called."""

    name: LabelValue = Field(description="value of the label `cluster` on every series")
    environment: LabelValue = Field(description="value of the label `environment` on every series")
    context: Text | None = Field(default=None, description="name of a context in the kubeconfig")
    uid: KubeUid | None = Field(default=None, description="uid of namespace kube-system in this cluster")
    kubeconfig: Text | None = Field(default=None, description="path; without it $KUBECONFIG, then ~/.kube/config")
    node_access: bool = Field(default=False, description="true if the machine that runs smoke is the node itself")


class Images(Section):
    """Where images come from."""

    source: Literal["file", "upstream"] = Field(description="`file` (built here) or `upstream` (stacks/versions.toml)")
    path: Text | None = Field(default=None, description="path of images.json, for source `file`")
    mirror: Mirror | None = Field(
        default=None, description="registry that replaces the upstream host, for source `upstream`"
    )


class Storage(Section):
    """Where claims are provisioned."""

    class_name: DnsSubdomain | None = Field(
        default=None, description="StorageClass; without it the cluster's default class"
    )


class Kubelet(Section):
    """How kubelets are talked to."""

    tls: Literal["verify", "insecure"] = Field(
        default="verify", description="`insecure` where kubelets have self-signed serving certificates, as in kind"
    )


class Network(Section):
    """What guards the pods."""

    policies: bool = Field(default=True, description="false if the cluster must not get NetworkPolicies")


class Requests(Section):
    """What the scheduler sets aside."""

    cpu: Quantity = Field(default="200m", description="processor time, in cores")
    memory: Bytes = Field(default="512Mi", description="memory")


class ResourceLimits(Section):
    """What the container may not pass."""

    memory: Bytes = Field(default="2Gi", description="memory")
    cpu: Quantity | None = Field(
        default=None, description="processor time; without it none, because throttling makes gaps"
    )


class Resources(Section):
    """Resources of the container, as in Kubernetes."""

    requests: Requests = Field(default_factory=Requests, description="keys cpu, memory")
    limits: ResourceLimits = Field(default_factory=ResourceLimits, description="keys memory, cpu")


class AuthSecret(Section):
    """An existing Secret in the stack's namespace."""

    name: DnsSubdomain = Field(description="name of the Secret")
    username_key: SecretKey = Field(default="username", description="key that holds the user name")
    password_key: SecretKey = Field(default="password", description="key that holds the password")


class RemoteWrite(Section):
    """A store that receives every sample as well."""

    name: DnsName = Field(max_length=40, description="unique name")
    url: HttpUrl = Field(description="address, http:// or https://, without credentials")
    secret: AuthSecret | None = Field(default=None, description="existing Secret for basic authentication")


class Prometheus(Section):
    """The Prometheus of the stack."""

    mode: Literal["managed"] = Field(default="managed", description="`managed`: deployed by this stack")
    retention: Duration = Field(description="retention by time, a Prometheus duration of at least 2h")
    retention_size: SizeRetention = Field(description="retention by size, from 100MB to 80 % of the volume")
    volume: Bytes = Field(description="size of the claim, a Kubernetes quantity")
    scrape_interval: Duration = Field(default="30s", description="time between scrapes and rule evaluations, 5s to 2m")
    scrape_timeout: Duration = Field(default="10s", description="at most the scrape interval")
    limits: Limits = Field(default_factory=Limits, description="limits of every scrape")
    resources: Resources = Field(default_factory=Resources, description="keys requests, limits")
    remote_write: tuple[RemoteWrite, ...] = Field(default=(), description="list of stores: name, url, secret")


class Settings(Section):
    """Everything under `plumbline:` of one stack. stack: its name, from Pulumi, not from the file."""

    stack: str = Field(exclude=True)
    profile: Literal["throwaway", "durable"] = Field(description="`durable`: data and backend must outlive a mistake")
    cluster: Cluster = Field(description="keys name, environment, context, uid, kubeconfig, node_access")
    namespace: Namespace = Field(description="namespace that the stack creates and owns")
    images: Images = Field(description="keys source, path, mirror")
    storage: Storage = Field(default_factory=Storage, description="key class_name")
    secrets: Secrets = Field(default_factory=Secrets, description="keys root or root_file")
    kubelet: Kubelet = Field(default_factory=Kubelet, description="key tls")
    network: Network = Field(default_factory=Network, description="key policies")
    prometheus: Prometheus | None = Field(
        default=None, description="keys retention, retention_size, volume and optional ones"
    )
    existing_prometheus: ExistingPrometheus | None = Field(
        default=None, description="instead of `prometheus`, one that runs already: keys namespace, labels, …"
    )
    sizing: Sizing = Field(description="how large the cluster is: keys nodes, gpu_nodes, gpus_per_node, pods, …")
    thresholds: Thresholds = Field(default_factory=Thresholds, description="numbers that alerts compare with")
    workload_labels: dict[str, str] = Field(
        default_factory=lambda: dict(POD_LABELS),
        description=f"pod labels that say whose a pod is; keys {', '.join(WORKLOAD_IDENTITY)}",
    )
    runbooks: HttpUrl | None = Field(
        default=None,
        description="base address in front of docs/runbooks in alerts; without it a path in the repository",
    )
    dcgm_exporter: DcgmExporter = Field(default_factory=DcgmExporter, description="GPUs: key mode and optional ones")
    node_exporter: NodeExporter = Field(default_factory=NodeExporter, description="nodes: keys mode, port, …")
    kube_state_metrics: KubeStateMetrics = Field(
        default_factory=KubeStateMetrics, description="Kubernetes objects: keys mode, existing"
    )
    pushgateway: Pushgateway = Field(default_factory=Pushgateway, description="keys mode, volume, push_from")
    alertmanager: Alertmanager = Field(
        default_factory=Alertmanager, description="keys mode, receivers, volume and optional ones"
    )
    object_store: ObjectStore = Field(default_factory=ObjectStore, description="S3: keys mode, volume, buckets, …")
    swanlab: Swanlab = Field(default_factory=Swanlab, description="experiments: keys mode, host, stores, buffer, …")

    recovery: Recovery = Field(
        default_factory=Recovery, description="restore points: keys mode, target, schedule, retention, …"
    )
    otel_collector: OtelCollector = Field(
        default_factory=OtelCollector, description="traces and logs: keys mode, agent, gateway, sampling, redaction, …"
    )
    logs: Logs = Field(default_factory=Logs, description="keys mode, retention, retention_size, volume, external, …")
    traces: Traces = Field(default_factory=Traces, description="keys mode, retention, volume, external, …")
    grafana: Grafana = Field(default_factory=Grafana, description="boards: keys mode, database, admin, plugins, …")

    @property
    def limits(self) -> Limits:
        """Limits of every scrape, of whichever Prometheus there is."""
        section = self.prometheus or self.existing_prometheus
        return section.limits if section else Limits()


def parse(stack: str, config: Mapping[str, str]) -> Settings:
    """Settings from a Pulumi config map (full key → text; objects as JSON). Keys of other namespaces are ignored.

    Raises DeployError with every fault found: first of keys and types, then, if those are right, of relations.
    """
    own = {key.removeprefix(PREFIX): value for key, value in config.items() if key.startswith(PREFIX)}
    faults = misplaced(own, stack, Settings)
    values = {key: _decoded(value) for key, value in own.items() if key != "stack" and "." not in key}
    try:
        settings = Settings.model_validate_json(json.dumps({**values, "stack": stack}))
    except ValidationError as error:
        _refuse(stack, faults + explain(error, stack, Settings))
    _refuse(stack, faults + broken(settings))
    return settings


def from_pulumi() -> Settings:
    """The settings of the stack that Pulumi is running. Raises DeployError, see parse()."""
    return parse(pulumi.get_stack(), _config())


def _config() -> dict[str, str]:
    """Pulumi's public API reads single known keys only; a misspelt one can be seen in the whole map alone."""
    return {**get_config_env(), **CONFIG.get()}


def _decoded(text: str) -> object:
    """Objects and lists arrive as JSON; a plain value, even one that looks like a number, as it is."""
    if text.lstrip().startswith(("{", "[")):
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            return text
    return text


def _refuse(stack: str, faults: list[str]) -> None:
    if faults:
        lines = "\n".join(f"- {fault}" for fault in faults)
        raise DeployError(f"the settings of stack {stack} cannot be used; nothing was changed:\n{lines}")
