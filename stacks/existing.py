"""The section of the settings for a Prometheus that a team already runs with the Prometheus operator."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from components.existing_prometheus.names import PORT, SERVICE
from stacks.fields import DnsName, DnsSubdomain, Duration, HttpUrl, LabelValue
from stacks.limits import Limits
from stacks.section import Section


class ExistingPrometheus(Section):
    """A Prometheus that a team already runs: it gets monitors and rules, and the stack deploys none of its own."""

    namespace: DnsName = Field(description="namespace of its object of kind Prometheus")
    name: DnsSubdomain | None = Field(
        default=None, description="name of that object; not needed where the namespace has one"
    )
    labels: dict[str, LabelValue] = Field(
        min_length=1, description="labels by which it selects monitors and rules, `release: kube-prometheus-stack`"
    )
    namespace_labels: dict[str, LabelValue] = Field(
        default_factory=dict, description="labels by which it selects namespaces; put on the stack's own"
    )
    service: DnsName = Field(default=SERVICE, description="Service through which smoke asks it")
    port: int = Field(default=PORT, gt=0, lt=65536, description="port of that Service")
    scheme: Literal["http", "https"] = Field(default="http", description="`http` or `https`")
    url: HttpUrl | None = Field(default=None, description="address at which smoke asks it, instead of the Service")
    service_account: DnsSubdomain | None = Field(
        default=None, description="its ServiceAccount, where that may not list the pods of every namespace"
    )
    interval: Duration = Field(default="30s", description="time between scrapes, 5s to 2m")
    timeout: Duration = Field(default="10s", description="of a scrape; at most the interval")
    jobs: tuple[Literal["apiserver", "kubelet", "cadvisor"], ...] = Field(
        default=(), description="jobs about the cluster itself that it does not have yet"
    )
    tells_our_alertmanager: bool = Field(
        default=False, description="true if its alerts go to the Alertmanager of this stack as well"
    )
    limits: Limits = Field(default_factory=Limits, description="limits of every scrape")
