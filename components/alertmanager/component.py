"""Registers Alertmanager with Pulumi. What is registered is decided in manifests.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from components.alertmanager.config import render
from components.alertmanager.manifests import manifests
from components.alertmanager.names import NAME
from components.kube import register_all

if TYPE_CHECKING:
    from components.alertmanager.args import AlertmanagerArgs


class Alertmanager(pulumi.ComponentResource):
    """Alertmanager with its storage, configuration and policies.

    revision: which rendered configuration was registered. service_name: Service in the stack's namespace that reaches
    it.
    """

    revision: pulumi.Output[str]
    service_name: pulumi.Output[str]

    def __init__(self, name: str, args: AlertmanagerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("plumbline:alertmanager:Alertmanager", name, None, opts)
        rendered = render(args)
        built = manifests(args, rendered)
        register_all(name, self, built, "stateful-set")
        self.revision = pulumi.Output.from_input(rendered.revision)
        self.service_name = pulumi.Output.from_input(NAME)
        self.register_outputs({"revision": self.revision, "service_name": self.service_name})
