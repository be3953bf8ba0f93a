"""What pods of Grafana, and others that ask it, must be told of the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.grafana.names import ADMIN_ROLE
from components.prometheus.args import Resources
from components.secrets import Existing, Generated
from stacks.fields import quantity_value

if TYPE_CHECKING:
    from components.secrets import SecretSource
    from stacks.alerting import SecretEntry
    from stacks.grafana import Grafana


def admin_password(wanted: Grafana) -> SecretSource:
    """Where the password of its administrator comes from."""
    return source(wanted.admin.secret, ADMIN_ROLE, wanted.admin.generation)


def source(wanted: SecretEntry | None, role: str, generation: int) -> SecretSource:
    """A Secret that the settings name, or else what is derived for a role."""
    if wanted is None:
        return Generated(role=role, generation=generation)
    return Existing(name=wanted.name, key=wanted.key)


def grafana_resources(wanted: Grafana) -> Resources:
    """What its pod may take, and one that holds a copy of it."""
    half = str(int(quantity_value(wanted.memory)) // 2)
    return Resources(cpu_request="50m", memory_request=half, memory_limit=wanted.memory)
