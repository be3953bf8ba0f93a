"""Registers the Pushgateway with Pulumi. What is registered is decided in manifests.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from components.kube import register_all
from components.pushgateway.manifests import manifests
from components.pushgateway.names import NAME

if TYPE_CHECKING:
    from components.pushgateway.args import PushgatewayArgs


class Pushgateway(pulumi.ComponentResource):
    """The Pushgateway with its storage and policies. service_name: Service in the stack's namespace that reaches it."""

    service_name: pulumi.Output[str]

    def __init__(self, name: str, args: PushgatewayArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("plumbline:pushgateway:Pushgateway", name, None, opts)
        built = manifests(args)
        register_all(name, self, built, "stateful-set")
        self.service_name = pulumi.Output.from_input(NAME)
        self.register_outputs({"service_name": self.service_name})
