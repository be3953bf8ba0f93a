"""Composition root: settings → preflight → provider → bundle → outputs. Every decision is made in stacks/."""

from __future__ import annotations

import pulumi

from stacks.bundle import deploy
from stacks.preflight import preflight
from stacks.provider import kubernetes_provider
from stacks.settings import from_pulumi

settings = from_pulumi()
where = preflight(settings)
contract = deploy(settings, kubernetes_provider(settings, where))
pulumi.export("contract", contract.model_dump(mode="json"))
