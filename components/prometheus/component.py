"""Registers Prometheus with Pulumi. What is registered is decided in manifests.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from components.kube import register_all
from components.prometheus.config import render
from components.prometheus.manifests import manifests
from components.prometheus.names import NAME

if TYPE_CHECKING:
    from components.prometheus.args import PrometheusArgs


class Prometheus(pulumi.ComponentResource):
    """Prometheus with its storage, discovery rights, rules and policies.

    revision: which rendered configuration was registered; the running one shows it in its sentinel rule.
    service_name: Service in the stack's namespace that reaches it.
    """

    revision: pulumi.Output[str]
    service_name: pulumi.Output[str]

    def __init__(self, name: str, args: PrometheusArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("plumbline:prometheus:Prometheus", name, None, opts)
        rendered = render(args)
        built = manifests(args, rendered)
        register_all(name, self, built, "stateful-set")
        self.revision = pulumi.Output.from_input(rendered.revision)
        self.service_name = pulumi.Output.from_input(NAME)
        self.register_outputs({"revision": self.revision, "service_name": self.service_name})
