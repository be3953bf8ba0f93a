"""An alert of each severity that smoke sets off, to prove that its page arrives and that its end does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.catalogue.pushgateway import PAGE_PROOF
from signals.rules.model import Alert, Group, Severity
from signals.rules.routes import PAGE_PROOF_ALERT, PROOF_LABEL

if TYPE_CHECKING:
    from signals.rules.inputs import RuleInputs


def page_proof_groups(inputs: RuleInputs) -> tuple[Group, ...]:
    """Silent unless smoke pushes. It ends when smoke deletes the group from the Pushgateway.

    Only `severity` and `proof` set it apart: it takes the very route of a real alert. The short interval keeps the
    proof short.
    """
    if not inputs.alert_pipeline:
        return ()
    return (Group(name="plumbline-page-proof", interval="5s", rules=tuple(_proof(severity) for severity in Severity)),)


def _proof(severity: Severity) -> Alert:
    return Alert(
        alert=PAGE_PROOF_ALERT,
        expr=f'max by (cluster, environment, {PROOF_LABEL}) ({PAGE_PROOF}{{severity="{severity.value}"}}) == 1',
        wait="0s",
        severity=severity,
        summary=f"Proof {{{{ $labels.proof }}}}: a page of severity {severity.value} arrives",
        description=f"Nothing is wrong in cluster {{{{ $labels.cluster }}}}. The smoke suite checks that a page of "
        f"severity {severity.value} reaches its receiver, and takes it back by itself. Likely causes: somebody runs "
        "the smoke suite, or one that ran was killed before it could clean up.",
        runbook="alerting-page-proof",
    )
