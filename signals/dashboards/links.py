"""Where a panel leads: to the runbook of its alert, to a run's page, to the logs and traces of the same time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from signals.dashboards.model import LOGS, TRACES, Link
from signals.rules.model import RUNBOOKS

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs

_RANGE: Final = {"from": "${__from}", "to": "${__to}"}
_KEPT: Final = "${}"
"""What Grafana puts in place of its own words is not encoded before it has done so."""


def runbook(inputs: BoardInputs, name: str) -> tuple[Link, ...]:
    """The page beneath docs/runbooks; none where the stack does not say at which address people read it."""
    base = inputs.rules.runbooks.rstrip("/")
    return (Link(title="Runbook", url=f"{base}/{RUNBOOKS}/{name}.md"),) if base else ()


def board(uid: str) -> tuple[Link, ...]:
    """Another board, with the time and the choices of this one. Only where the stack is sure to have it."""
    return (Link(title="Board", url=f"/d/{uid}?${{__url_time_range}}&${{__all_variables}}"),)


def run_page(inputs: BoardInputs) -> tuple[Link, ...]:
    """The run of a row or a line that has the labels of one."""
    if not inputs.run_url:
        return ()
    names = {name: f"${{__field.labels.{name}}}" for name in ("team", "job_id", "run_id")}
    return (Link(title="Run in SwanLab", url=inputs.run_url.format(**names)),)


def log_lines(inputs: BoardInputs, query: str) -> tuple[Link, ...]:
    """Lines of the board's time. query: LogsQL; may use `${__field.labels.x}`."""
    if LOGS not in inputs.sources:
        return ()
    return (Link(title="Logs", url=_explore(LOGS, {"expr": query, "queryType": "instant"})),)


def run_traces(inputs: BoardInputs, service: str) -> tuple[Link, ...]:
    """Traces of the board's time. service: its name; may use `${__field.labels.x}`."""
    if TRACES not in inputs.sources:
        return ()
    return (Link(title="Traces", url=_explore(TRACES, {"queryType": "search", "service": service})),)


def _explore(uid: str, query: dict[str, str]) -> str:
    """Grafana's page for one question, as its addresses have been since version 10."""
    asked = {"refId": "A", "datasource": {"uid": uid}, **query}
    panes = {"a": {"datasource": uid, "queries": [asked], "range": _RANGE}}
    return f"/explore?schemaVersion=1&panes={quote(json.dumps(panes, separators=(',', ':')), safe=_KEPT)}"
