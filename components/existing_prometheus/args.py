"""What must be told to hand content to a Prometheus that somebody else runs: plain, frozen, already validated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.prometheus.args import ScrapeLimits
    from components.scrape import ScrapeJob
    from signals.rules.inputs import RuleInputs


@dataclass(frozen=True, kw_only=True)
class ExistingPrometheusArgs:
    """Everything that decides which monitors and rules there are.

    namespace: the stack's, in which they lie. prometheus_namespace: where the Prometheus runs. labels: by which its
    object selects monitors and rules. service_account: its account, if that must be given the right to find the stack's
    pods. cluster, environment: values of those labels on every series. interval, timeout:
    Prometheus durations of a scrape. verify_kubelets: check their serving certificates against the cluster's authority.
    jobs: what is scraped. rules: inputs of every rule file. opened: jobs whose pods this stack closes to everybody;
    each gets a policy that lets the Prometheus in.
    """

    namespace: str
    prometheus_namespace: str
    labels: dict[str, str]
    service_account: str | None
    cluster: str
    environment: str
    interval: str
    timeout: str
    limits: ScrapeLimits
    verify_kubelets: bool
    jobs: tuple[ScrapeJob, ...]
    rules: RuleInputs
    opened: tuple[str, ...]
