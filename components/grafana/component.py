"""Registers Grafana with Pulumi. What is registered is decided in manifests.py and config.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from components.grafana.config import render
from components.grafana.manifests import manifests, secrets
from components.grafana.names import NAME
from components.kube import register_all
from components.secrets import marked

if TYPE_CHECKING:
    from components.grafana.args import GrafanaArgs


class Grafana(pulumi.ComponentResource):
    """Grafana with its configuration, boards, storage and policies. service_name: Service in the stack's namespace.

    revision: of the configuration. root: the root secret of the stack, None where nothing is derived from it.
    """

    revision: pulumi.Output[str]
    service_name: pulumi.Output[str]

    def __init__(
        self, name: str, args: GrafanaArgs, root: pulumi.Output[str] | None, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("plumbline:grafana:Grafana", name, None, opts)
        rendered = render(args)
        built = manifests(args, rendered)
        if root is not None:
            built = secrets(args, root) | built
            if "data" in built:
                built["data"] = marked(built["data"], root)
        register_all(name, self, built, "deployment", read_once="config")
        self.revision = pulumi.Output.from_input(rendered.revision)
        self.service_name = pulumi.Output.from_input(NAME)
        self.register_outputs({"revision": self.revision, "service_name": self.service_name})
