"""Registers node-exporter with Pulumi. What is registered is decided in manifests.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from components.kube import register_all
from components.node_exporter.manifests import manifests
from components.node_exporter.names import NAME

if TYPE_CHECKING:
    from components.node_exporter.args import NodeExporterArgs


class NodeExporter(pulumi.ComponentResource):
    """node-exporter on every node.

    service_name: Service in the namespace of node agents that reaches one of its pods.
    """

    service_name: pulumi.Output[str]

    def __init__(self, name: str, args: NodeExporterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("plumbline:node-exporter:NodeExporter", name, None, opts)
        built = manifests(args)
        register_all(name, self, built, "daemon-set")
        self.service_name = pulumi.Output.from_input(NAME)
        self.register_outputs({"service_name": self.service_name})
