"""Registers the gate with Pulumi. What is registered is decided in manifests.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from components.kube import register_all
from components.swanlab_gate.manifests import manifests
from components.swanlab_gate.names import NAME

if TYPE_CHECKING:
    from components.swanlab_gate.args import SwanlabGateArgs


class SwanlabGate(pulumi.ComponentResource):
    """The gate, which is ready when SwanLab is. service_name: Service in SwanLab's namespace.

    It goes behind SwanLab (`depends_on`), and whatever needs SwanLab goes behind it.
    """

    service_name: pulumi.Output[str]

    def __init__(self, name: str, args: SwanlabGateArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("plumbline:swanlab-gate:SwanlabGate", name, None, opts)
        register_all(name, self, manifests(args), "deployment")
        self.service_name = pulumi.Output.from_input(NAME)
        self.register_outputs({"service_name": self.service_name})
