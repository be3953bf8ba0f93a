"""The report as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from smoke import conformance
from smoke.redact import bounded

if TYPE_CHECKING:
    from smoke.drawing.drawn import DrawnBoard
    from smoke.model import Run

Json = dict[str, Any]


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
        "conformance": [_standing(found) for found in conformance.findings(run.outcomes)],
        "boards": [_board(board) for board in run.boards],
        "diagnostics": run.diagnostics,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _standing(found: conformance.Finding) -> Json:
    checks = [outcome.id for outcome in found.checks]
    return {"id": found.requirement.id, "standing": found.standing, "reason": found.reason, "checks": checks}


def _board(board: DrawnBoard) -> Json:
    """Whether each panel has something to show, without what it shows."""
    panels = [
        {"title": one.panel.title, "faults": list(one.faults), "empty": one.empty, "seconds": round(one.seconds, 3)}
        for one in board.panels
    ]
    return {"uid": board.seen.board.uid, "title": board.seen.board.title, "panels": panels}
