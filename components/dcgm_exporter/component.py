"""Registers dcgm-exporter with Pulumi. What is registered is decided in manifests.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from components.dcgm_exporter.manifests import manifests
from components.dcgm_exporter.names import NAME
from components.kube import child, register
from components.naming import logical_name

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
        workload = built.pop("daemon-set")
        others = [register(logical_name(name, role), built[role], child(self)) for role in built]
        # Started before them, the pods would fail to mount their counters and back off for minutes.
        after = pulumi.ResourceOptions(parent=self, depends_on=others)
        register(logical_name(name, "daemon-set"), workload, after)
        self.service_name = pulumi.Output.from_input(NAME)
        self.register_outputs({"service_name": self.service_name})
