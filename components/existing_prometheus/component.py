"""Registers what an existing Prometheus is given. What is registered is decided in manifests.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from components.existing_prometheus.manifests import render
from components.kube import child, register
from components.naming import logical_name

if TYPE_CHECKING:
    from components.existing_prometheus.args import ExistingPrometheusArgs


class ExistingPrometheus(pulumi.ComponentResource):
    """Monitors and rules for a Prometheus that an operator runs for somebody else.

    revision: which rendered content was registered; the Prometheus shows it once the operator has handed it over.
    """

    revision: pulumi.Output[str]

    def __init__(self, name: str, args: ExistingPrometheusArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("plumbline:existing_prometheus:ExistingPrometheus", name, None, opts)
        rendered = render(args)
        for role, manifest in rendered.manifests.items():
            register(logical_name(name, role), manifest, child(self))
        self.revision = pulumi.Output.from_input(rendered.revision)
        self.register_outputs({"revision": self.revision})
