"""Registers agents and gateway with Pulumi. What is registered is decided in manifests.py and config.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pulumi

from components.kube import register, started_for
from components.naming import logical_name
from components.objects import DEBUG_UID
from components.otel_collector.config import render_agent, render_gateway
from components.otel_collector.manifests import debug_role, manifests
from components.otel_collector.names import AGENT, GATEWAY

if TYPE_CHECKING:
    from components.otel_collector.args import OtelCollectorArgs

_READ_ONCE: Final = {"StatefulSet": "gateway-config", "DaemonSet": "agent-config"}
"""Kind of what runs → role of its configuration."""


class OtelCollector(pulumi.ComponentResource):
    """Agents on every node and the gateway that they send to.

    agent_revision, gateway_revision: of their configurations. agent_service: Service in the namespace of node agents
    that reaches the agent of the sender's node. gateway_service: Service in the stack's namespace.
    """

    agent_revision: pulumi.Output[str]
    gateway_revision: pulumi.Output[str]
    agent_service: pulumi.Output[str]
    gateway_service: pulumi.Output[str]

    def __init__(self, name: str, args: OtelCollectorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("plumbline:otel-collector:OtelCollector", name, None, opts)
        agent, gateway = render_agent(args), render_gateway(args)
        # One after another: of several replicas one is restarted at a time, and agents wait for what they send to.
        before: dict[str, pulumi.CustomResource] = {}
        for role, manifest in manifests(args, agent, gateway).items():
            config = _READ_ONCE.get(manifest["kind"])
            opts_ = pulumi.ResourceOptions(parent=self, depends_on=list(before.values()) if config else [])
            made = started_for(manifest, before[config]) if config else manifest
            if manifest["kind"] == "DaemonSet":
                made = started_for(made, before[debug_role(args)], DEBUG_UID)
            before[role] = register(logical_name(name, role), made, opts_)
        self.agent_revision = pulumi.Output.from_input(agent.revision)
        self.gateway_revision = pulumi.Output.from_input(gateway.revision)
        self.agent_service = pulumi.Output.from_input(AGENT)
        self.gateway_service = pulumi.Output.from_input(GATEWAY)
        self.register_outputs(
            {
                "agent_revision": self.agent_revision,
                "gateway_revision": self.gateway_revision,
                "agent_service": self.agent_service,
                "gateway_service": self.gateway_service,
            }
        )
