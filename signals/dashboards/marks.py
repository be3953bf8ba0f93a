"""Marks in time that every board has: what fired, what was rolled out, what was verified."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.dashboards.firing import alerts
from signals.dashboards.model import Annotation
from signals.dashboards.variables import chosen
from signals.recovery_metrics import LAST_VERIFIED
from signals.rules.sentinel import REVISION_METRIC

if TYPE_CHECKING:
    from signals.rules.inputs import RuleInputs

_WINDOW: Final = "2m"


def marks(inputs: RuleInputs) -> tuple[Annotation, ...]:
    """Those of jobs that there are."""
    found = [_alerts(), _configuration()]
    if "kube-state-metrics" in inputs.jobs:
        found.append(_releases())
    if inputs.recovery is not None:
        found.append(_verified())
    return tuple(found)


def _alerts() -> Annotation:
    firing = alerts('severity=~"P0|P1|P2"')
    expr = f"max by (alertname, severity) ({firing})"
    return Annotation(title="Alerts", expr=expr, text="{{severity}} {{alertname}}", colour="red")


def _configuration() -> Annotation:
    """A new revision of the rules: somebody deployed this stack. The series has no label of a cluster."""
    expr = f"{REVISION_METRIC} unless {REVISION_METRIC} offset {_WINDOW}"
    return Annotation(title="Configuration", expr=expr, text="rules {{revision}}", colour="blue")


def _releases() -> Annotation:
    """An image that no pod of the namespace ran before."""
    running = f"group by (namespace, image) ({chosen('kube_pod_container_info')}"
    expr = f"{running})\nunless\n{running} offset {_WINDOW})"
    return Annotation(title="Releases", expr=expr, text="{{namespace}}: {{image}}", colour="purple")


def _verified() -> Annotation:
    expr = f"max by (cluster) (changes({chosen(LAST_VERIFIED)}[{_WINDOW}])) > 0"
    return Annotation(title="Verified restore points", expr=expr, text="restored and compared", colour="green")
