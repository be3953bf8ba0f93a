"""What the Prometheus component must be told: plain, frozen, already validated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.images import ImagePin
    from components.scrape import PodTargets, ScrapeJob
    from signals.rules.inputs import RuleInputs


@dataclass(frozen=True, kw_only=True)
class ScrapeLimits:
    """Limits of every scrape job; a scrape that passes one is thrown away whole and alerted.

    samples: per scrape, after relabelling. labels: per sample. label_name_length, label_value_length: bytes.
    body_size: uncompressed, with a unit of Prometheus (`64MB`). targets: per job.
    """

    samples: int
    labels: int
    label_name_length: int
    label_value_length: int
    body_size: str
    targets: int


@dataclass(frozen=True, kw_only=True)
class Resources:
    """Kubernetes quantities. cpu_limit None means none: throttling a scrape loop makes gaps when the node is busy."""

    cpu_request: str
    memory_request: str
    memory_limit: str
    cpu_limit: str | None = None


@dataclass(frozen=True, kw_only=True)
class BasicAuth:
    """An existing Secret in the stack's namespace and the keys in it that hold user name and password."""

    secret: str
    username_key: str
    password_key: str


@dataclass(frozen=True, kw_only=True)
class RemoteWrite:
    """A store that receives every sample as well. name: unique, a DNS label."""

    name: str
    url: str
    basic_auth: BasicAuth | None = None


@dataclass(frozen=True, kw_only=True)
class AlertmanagerTarget:
    """An Alertmanager that receives what fires: pods, or one at an address. scheme: http or https.

    pods: found by the API server, each told by itself. Through a Service, a connection that was made while the
    Service had no endpoint, or to one that is gone, is kept and used again. address: `host:port`.
    """

    pods: PodTargets | None = None
    address: str | None = None
    scheme: str = "http"
    path_prefix: str = ""


@dataclass(frozen=True, kw_only=True)
class PrometheusArgs:
    """Everything that decides what Prometheus runs.

    stack: whose data the claim holds. cluster, environment: values of those labels on every series. retention,
    scrape_interval, scrape_timeout: Prometheus durations. retention_size: size with a unit, powers of two. volume:
    Kubernetes quantity.
    storage_class: None means the cluster's default. verify_kubelets: check their serving certificates against the
    cluster's authority. jobs: what is scraped. rules: inputs of every rule file. alertmanagers: who is told what fires.
    """

    stack: str
    namespace: str
    cluster: str
    environment: str
    image: ImagePin
    retention: str
    retention_size: str
    volume: str
    storage_class: str | None
    scrape_interval: str
    scrape_timeout: str
    limits: ScrapeLimits
    resources: Resources
    verify_kubelets: bool
    network_policies: bool
    jobs: tuple[ScrapeJob, ...]
    rules: RuleInputs
    alertmanagers: tuple[AlertmanagerTarget, ...] = ()
    remote_write: tuple[RemoteWrite, ...] = ()
