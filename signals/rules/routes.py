"""Labels that routing goes by, named once for rules and for the tree of routes."""

from __future__ import annotations

ROUTE_LABEL = "plumbline_route"
WATCHDOG_LABELS: dict[str, str] = {ROUTE_LABEL: "watchdog"}
WATCHDOG_ALERT = "Watchdog"
PAGE_PROOF_ALERT = "PageProof"
PROOF_LABEL = "proof"
