"""Registers what a Grafana of somebody else is given. What is registered is decided in existing.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from components.grafana.existing import render
from components.kube import child, register
from components.naming import logical_name

if TYPE_CHECKING:
    from components.grafana.args import ExistingGrafanaArgs


class ExistingGrafana(pulumi.ComponentResource):
    """Datasources and boards for a Grafana that somebody else runs. revision: which content was registered."""

    revision: pulumi.Output[str]

    def __init__(self, name: str, args: ExistingGrafanaArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("plumbline:grafana:ExistingGrafana", name, None, opts)
        content = render(args)
        for role, manifest in content.manifests.items():
            register(logical_name(name, role), manifest, child(self))
        self.revision = pulumi.Output.from_input(content.revision)
        self.register_outputs({"revision": self.revision})
