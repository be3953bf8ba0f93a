"""What a stack consists of, decided from settings alone, and its registration in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi

from components.kube import register
from components.naming import PART_OF, labels, node_namespace_name
from components.network import default_deny_ingress
from components.objects import Manifest, config_map, critical_pods_quota, namespace, node_namespace
from components.policy import enforce
from stacks.contract import CONTRACT_CONFIGMAP, CONTRACT_KEY, Contract
from stacks.experiment_systems import named_images
from stacks.images import resolve
from stacks.promise import contract
from stacks.systems import roles, systems

if TYPE_CHECKING:
    import pulumi_kubernetes as k8s

    from stacks.settings import Settings
    from stacks.system import System


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that a stack will be. foundation: role → manifest of what belongs to no component."""

    systems: tuple[System, ...]
    foundation: dict[str, Manifest]
    contract: Contract

    def manifests(self) -> list[Manifest]:
        """Every manifest of the stack, in the order of registration."""
        return [*self.foundation.values(), *(m for system in self.systems for m in system.manifests.values())]


def plan(settings: Settings) -> Plan:
    """Decide what to deploy. Reads the image list and nothing else; raises DeployError."""
    images = resolve(settings.images, roles(settings)) | named_images(settings)
    decided = systems(settings, images)
    promise = contract(settings, images, decided)
    return Plan(systems=decided, foundation=_foundation(settings, decided, promise), contract=promise)


def deploy(settings: Settings, provider: k8s.Provider) -> Contract:
    """Judge the plan with policy rules and the programs' own linters, then register it.

    Raises DeployError before anything exists.
    """
    decided = plan(settings)
    enforce(decided.manifests())
    for system in decided.systems:
        system.lint()
    namespaces: list[pulumi.Resource] = []
    for role, manifest in decided.foundation.items():
        after = [] if manifest["kind"] == "Namespace" else list(namespaces)
        made = register(role, manifest, pulumi.ResourceOptions(provider=provider, depends_on=after))
        namespaces += [made] if manifest["kind"] == "Namespace" else []
    registered: dict[str, pulumi.Resource] = {}
    for system in decided.systems:
        after = [*namespaces, *(registered[name] for name in system.after)]
        registered[system.name] = system.register(pulumi.ResourceOptions(providers=[provider], depends_on=after))
    return decided.contract


def _foundation(settings: Settings, decided: tuple[System, ...], promise: Contract) -> dict[str, Manifest]:
    """Namespaces first: everything else lies in one of them."""
    agents = node_namespace_name(settings.namespace)
    existing = settings.existing_prometheus
    found = {"namespace": namespace(settings.namespace, existing.namespace_labels if existing else {})}
    here = {"": settings.namespace}
    if any(system.promise.namespace == agents for system in decided):
        found["node-namespace"] = node_namespace(settings.namespace)
        found["node-quota"] = critical_pods_quota(settings.namespace)
        here["node-"] = agents
    if settings.network.policies:
        for prefix, name in here.items():
            found[f"{prefix}default-deny-ingress"] = default_deny_ingress(name, settings.namespace)
    found["contract"] = config_map(
        CONTRACT_CONFIGMAP,
        settings.namespace,
        labels(PART_OF, settings.namespace, "contract"),
        {CONTRACT_KEY: promise.model_dump_json(indent=2) + "\n"},
        {},
    )
    return found
