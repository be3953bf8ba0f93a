"""The report as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from smoke.redact import bounded

if TYPE_CHECKING:
    from smoke.model import Run


def render(run: Run) -> str:
    """`{verdict, stack, cluster_uid, versions, started, checks: […]}`, and what the run says about itself."""
    document = {
        "verdict": run.verdict,
        "stack": run.stack,
        "cluster_uid": run.cluster_uid,
        "versions": run.versions,
        "started": run.started,
        "seconds": round(run.seconds, 1),
        "impact": run.impact,
        "selected": list(run.selected),
        "interrupted": run.interrupted,
        "faults": [bounded(fault) for fault in run.faults],
        "checks": [asdict(outcome) for outcome in run.outcomes],
        "diagnostics": run.diagnostics,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
