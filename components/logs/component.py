"""Registers VictoriaLogs with Pulumi. What is registered is decided in manifests.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from components.kube import register_all
from components.logs.manifests import manifests
from components.logs.names import NAME

if TYPE_CHECKING:
    from components.logs.args import LogsArgs


class Logs(pulumi.ComponentResource):
    """VictoriaLogs with its storage and policies. service_name: Service in the stack's namespace that reaches it."""

    service_name: pulumi.Output[str]

    def __init__(self, name: str, args: LogsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("plumbline:logs:Logs", name, None, opts)
        register_all(name, self, manifests(args), "stateful-set")
        self.service_name = pulumi.Output.from_input(NAME)
        self.register_outputs({"service_name": self.service_name})
