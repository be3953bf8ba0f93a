"""What a stack consists of, decided from settings alone, and its registration in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi

from components.kube import register
from components.naming import PART_OF, labels
from components.network import default_deny_ingress
from components.objects import Manifest, config_map, namespace
from components.policy import enforce
from components.prometheus.component import Prometheus
from components.prometheus.config import render
from components.prometheus.lint import lint
from components.prometheus.manifests import manifests
from stacks.arguments import prometheus_args
from stacks.contract import CONTRACT_CONFIGMAP, CONTRACT_KEY, Contract
from stacks.images import resolve
from stacks.promise import contract

if TYPE_CHECKING:
    import pulumi_kubernetes as k8s

    from components.prometheus.args import PrometheusArgs
    from components.prometheus.config import Rendered
    from stacks.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that a stack will be. foundation: role → manifest of what belongs to no component."""

    prometheus: PrometheusArgs
    rendered: Rendered
    foundation: dict[str, Manifest]
    contract: Contract

    def manifests(self) -> list[Manifest]:
        """Every manifest of the stack, in the order of registration."""
        return [*self.foundation.values(), *manifests(self.prometheus, self.rendered).values()]


def plan(settings: Settings) -> Plan:
    """Decide what to deploy. Reads the image list and nothing else; raises DeployError."""
    args = prometheus_args(settings, resolve(settings.images))
    rendered = render(args)
    promise = contract(settings, args, rendered)
    foundation = {"namespace": namespace(settings.namespace)}
    if settings.network.policies:
        foundation["default-deny-ingress"] = default_deny_ingress(settings.namespace)
    foundation["contract"] = config_map(
        CONTRACT_CONFIGMAP,
        settings.namespace,
        labels(PART_OF, settings.namespace, "contract"),
        {CONTRACT_KEY: promise.model_dump_json(indent=2) + "\n"},
        {},
    )
    return Plan(prometheus=args, rendered=rendered, foundation=foundation, contract=promise)


def deploy(settings: Settings, provider: k8s.Provider) -> Contract:
    """Judge the plan with policy rules and promtool, then register it. Raises DeployError before anything exists."""
    decided = plan(settings)
    enforce(decided.manifests())
    lint(decided.rendered.files)
    parts = dict(decided.foundation)
    own = register("namespace", parts.pop("namespace"), pulumi.ResourceOptions(provider=provider))
    for role, manifest in parts.items():
        register(role, manifest, pulumi.ResourceOptions(provider=provider, depends_on=[own]))
    Prometheus("prometheus", decided.prometheus, pulumi.ResourceOptions(providers=[provider], depends_on=[own]))
    return decided.contract
