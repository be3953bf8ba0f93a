"""Registers kube-state-metrics with Pulumi. What is registered is decided in manifests.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from components.kube import child, register
from components.kube_state_metrics.manifests import manifests
from components.kube_state_metrics.names import NAME
from components.naming import logical_name

if TYPE_CHECKING:
    from components.kube_state_metrics.args import KubeStateMetricsArgs


class KubeStateMetrics(pulumi.ComponentResource):
    """kube-state-metrics with its rights and policies.

    service_name: Service in the stack's namespace that reaches it.
    """

    service_name: pulumi.Output[str]

    def __init__(self, name: str, args: KubeStateMetricsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("plumbline:kube-state-metrics:KubeStateMetrics", name, None, opts)
        built = manifests(args)
        workload = built.pop("deployment")
        others = [register(logical_name(name, role), built[role], child(self)) for role in built]
        # Started before them, it would be refused every list and back off.
        after = pulumi.ResourceOptions(parent=self, depends_on=others)
        register(logical_name(name, "deployment"), workload, after)
        self.service_name = pulumi.Output.from_input(NAME)
        self.register_outputs({"service_name": self.service_name})
