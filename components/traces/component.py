"""Registers Jaeger with Pulumi. What is registered is decided in manifests.py and config.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from components.kube import register_all
from components.traces.config import render
from components.traces.manifests import manifests
from components.traces.names import NAME

if TYPE_CHECKING:
    from components.traces.args import TracesArgs


class Traces(pulumi.ComponentResource):
    """Jaeger with its configuration, storage and policies. service_name: Service in the stack's namespace.

    revision: of the configuration.
    """

    revision: pulumi.Output[str]
    service_name: pulumi.Output[str]

    def __init__(self, name: str, args: TracesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("plumbline:traces:Traces", name, None, opts)
        rendered = render(args)
        register_all(name, self, manifests(args, rendered), "stateful-set", read_once="config")
        self.revision = pulumi.Output.from_input(rendered.revision)
        self.service_name = pulumi.Output.from_input(NAME)
        self.register_outputs({"revision": self.revision, "service_name": self.service_name})
