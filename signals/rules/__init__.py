"""Rules, rendered as files for a Prometheus that reads them natively."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.rules.model import Group, rule_file
from signals.rules.prometheus import prometheus_alerts
from signals.rules.remote_write import remote_write_alerts
from signals.rules.targets import target_alerts, target_records

if TYPE_CHECKING:
    from collections.abc import Iterable

    from signals.catalogue.model import Producer


def groups(producers: Iterable[Producer]) -> dict[str, tuple[Group, ...]]:
    """File name → its groups, for the jobs of these producers. The sentinel is not among them."""
    return {
        "rules-prometheus.yml": (prometheus_alerts(), remote_write_alerts()),
        "rules-targets.yml": (target_records(), target_alerts(page.job for page in producers)),
    }


def rule_files(producers: Iterable[Producer]) -> dict[str, str]:
    """File name → YAML text."""
    return {name: rule_file(found) for name, found in groups(producers).items()}
