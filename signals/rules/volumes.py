"""Alerts about the room in claims, from the kubelets. The claim of Prometheus has an alert of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.rules.model import Alert, Group, Severity

if TYPE_CHECKING:
    from signals.rules.inputs import RuleInputs

_CLAIM = "cluster, environment, namespace, persistentvolumeclaim"
_NAME = "{{ $labels.namespace }}/{{ $labels.persistentvolumeclaim }}"
_WHERE = f"Claim {_NAME} (cluster {{{{ $labels.cluster }}}})"
_CAUSES = "Likely causes: checkpoints or datasets that nobody deletes, a retention that does not fit the claim, logs."


def volume_groups(inputs: RuleInputs) -> tuple[Group, ...]:
    """None where no kubelet is scraped: nobody else tells how full a claim is."""
    if "kubelet" not in inputs.jobs:
        return ()
    # Where no Prometheus of ours runs, a claim of that name is just another one.
    others = ', persistentvolumeclaim!="prometheus-data"' if "prometheus" in inputs.jobs else ""
    free, size = (f'kubelet_volume_stats_{what}_bytes{{job="kubelet"{others}}}' for what in ("available", "capacity"))
    # A claim whose pod has moved is told of by two kubelets for a while.
    share = f"max by ({_CLAIM}) ({free})\n/ max by ({_CLAIM}) ({size} > 0)"
    limits = inputs.thresholds
    rules = (_nearly_full(share, limits.volume_free_low), _filling(share, free, limits.filesystem_free_low))
    return (Group(name="plumbline-volumes", rules=rules),)


def _nearly_full(share: str, low: float) -> Alert:
    return Alert(
        alert="VolumeNearlyFull",
        expr=f"{share}\n< {low}",
        wait="15m",
        severity=Severity.P2,
        summary=f"Claim {_NAME} is nearly full",
        description=f"{_WHERE} has {{{{ $value | humanizePercentage }}}} free. When it is full, writes fail, and what "
        f"writes may crash or lose data. {_CAUSES}",
        runbook="kubernetes-storage",
    )


def _filling(share: str, free: str, low: float) -> Alert:
    """Both a line and a level, as for file systems of nodes."""
    return Alert(
        alert="VolumeFillingUp",
        expr=f"{share}\n< {low}\nand\nmax by ({_CLAIM}) (predict_linear({free}[6h], 86400)) < 0",
        wait="30m",
        severity=Severity.P2,
        summary=f"Claim {_NAME} will be full within a day",
        description=f"{_WHERE} has {{{{ $value | humanizePercentage }}}} free, and at the pace of the last six hours "
        f"nothing is left in a day. {_CAUSES}",
        runbook="kubernetes-storage",
    )
