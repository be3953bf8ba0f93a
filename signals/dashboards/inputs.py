"""What boards are made from: what rules are made from, and where people can go on from a board."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from signals.dashboards.model import PROMETHEUS

if TYPE_CHECKING:
    from signals.rules.inputs import RuleInputs


@dataclass(frozen=True, kw_only=True)
class BoardInputs:
    """rules: jobs, thresholds and aims. sources: uids of the datasources that this stack has.

    run_url: address of a run's page for people, with `{team}`, `{job_id}` and `{run_id}` in it; empty if there is none.
    """

    rules: RuleInputs
    sources: frozenset[str] = frozenset({PROMETHEUS})
    run_url: str = ""
