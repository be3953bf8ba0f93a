"""Registers dcgm-exporter with Pulumi. What is registered is decided in manifests.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from components.dcgm_exporter.manifests import manifests
from components.dcgm_exporter.names import NAME
from components.kube import register_all

if TYPE_CHECKING:
    from components.dcgm_exporter.args import DcgmExporterArgs


class DcgmExporter(pulumi.ComponentResource):
    """dcgm-exporter on every node with GPUs, with its counters and policies.

    service_name: Service in the namespace of node agents that reaches one of its pods.
    """

    service_name: pulumi.Output[str]

    def __init__(self, name: str, args: DcgmExporterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("plumbline:dcgm-exporter:DcgmExporter", name, None, opts)
        built = manifests(args)
        register_all(name, self, built, "daemon-set")
        self.service_name = pulumi.Output.from_input(NAME)
        self.register_outputs({"service_name": self.service_name})
