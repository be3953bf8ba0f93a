"""Registers kube-state-metrics with Pulumi. What is registered is decided in manifests.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from components.kube import register_all
from components.kube_state_metrics.manifests import manifests
from components.kube_state_metrics.names import NAME

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
        register_all(name, self, built, "deployment")
        self.service_name = pulumi.Output.from_input(NAME)
        self.register_outputs({"service_name": self.service_name})
