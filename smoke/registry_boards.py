"""Checks of boards: what people see is there, and is one number where they see one."""

from __future__ import annotations

from smoke.model import Check
from smoke.registry_grafana import grafana

_PANEL = (
    "run its query by hand (`make status` says where Prometheus is): a metric that is gone was renamed, or its job is "
    "down; compare with signals/catalogue"
)


def boards() -> tuple[Check, ...]:
    """Of every stack whose Prometheus can be asked, with or without a Grafana; then those of Grafana itself."""
    return (
        Check(
            id="boards.choices",
            requirement="B7",
            claim="Every choice at the top of a board offers something, and this stack's own cluster",
            remedy=_PANEL,
            needs=("metrics",),
            spans=True,
        ),
        Check(
            id="boards.answered",
            requirement="B7",
            claim="Every panel of every board answers, and none is empty but by design",
            remedy=_PANEL,
            needs=("metrics",),
            spans=True,
        ),
        *grafana(),
    )
