"""Grafana of the stack: what the contract promises of it, and what its panels show to people."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, Final

from signals.dashboards.asking import sent
from smoke import boards
from smoke.access.errors import AccessError, UnreachableError
from smoke.access.grafana import Login
from smoke.access.http import SERVER_ERROR
from smoke.boards import Answer, Series

if TYPE_CHECKING:
    from collections.abc import Iterator

    from signals.dashboards.model import Board, Panel
    from smoke.access.grafana import Reply
    from smoke.boards import Span
    from smoke.stack import Stack
    from stacks.contract import DataSource, Grafana

Json = dict[str, Any]
COMPONENT: Final = "grafana"
ADMIN: Final = "admin"
_NO_BACKEND: Final = ("plugin.unavailable", "plugin.notImplemented")
"""What Grafana says of a plugin that runs in the browser alone, and of one without a health check."""
_PROXIED: Final = {"alertmanager": "/api/v2/status", "jaeger": "/api/services"}
"""Type of a datasource → what its page asks through Grafana's proxy to see whether it is well."""
_ENTITIES: Final = {"NaN": math.nan, "Inf": math.inf, "NegInf": -math.inf}


def promised(stack: Stack) -> Grafana:
    """What the contract promises of Grafana. Raises AccessError when it promises nothing."""
    if stack.contract.grafana is None:
        raise AccessError("contract", "has no section 'grafana', though it claims the capability for it")
    return stack.contract.grafana


def login(stack: Stack) -> Login:
    """Where the administrator's password is. Raises AccessError where the contract names no Secret."""
    ref = stack.component(COMPONENT).secrets.get(ADMIN)
    if ref is None:
        raise AccessError("contract", f"component {COMPONENT!r} names no Secret {ADMIN!r}")
    return Login(f"Secret {ref.name} of namespace {ref.namespace}", lambda: stack.secret(ref))


def image(stack: Stack) -> str:
    """Reference of the image that it runs. Raises AccessError where the contract promises none."""
    found = [one.reference for workload in stack.component(COMPONENT).workloads for one in workload.images]
    if not found:
        raise AccessError("contract", f"promises no image of component {COMPONENT!r}")
    return found[0]


def board(stack: Stack, uid: str) -> Json | None:
    """A dashboard with its `meta`, None if there is none of this uid. Raises AccessError."""
    return stack.grafana.find(f"/api/dashboards/uid/{uid}")


def health(stack: Stack, source: DataSource) -> Reply:
    """What Grafana gets from a datasource: by its plugin, or by its proxy where the plugin does not ask by itself."""
    reply = stack.grafana.get(f"/api/datasources/uid/{source.uid}/health")
    if reply.word in _NO_BACKEND and source.type in _PROXIED:
        return stack.grafana.get(f"/api/datasources/proxy/uid/{source.uid}{_PROXIED[source.type]}")
    return reply


def panels(dashboard: Json) -> Iterator[Json]:
    """Every panel of a dashboard as Grafana has it, without the headings of rows, which hold panels when folded."""
    for one in dashboard.get("panels") or []:
        if one.get("type") == "row":
            yield from one.get("panels") or []
        else:
            yield one


def ask(stack: Stack, board: Board, panel: Panel, shown: Json, span: Span) -> tuple[Answer, ...]:
    """Every query that Grafana's own copy of a panel has, in one request, as its page posts them.

    shown: the panel as Grafana has it. Raises AccessError where Grafana itself does not answer.
    """
    targets = [target for target in shown.get("targets") or [] if not target.get("hide")]
    if len(targets) != len(panel.queries):
        return ()
    begun = time.monotonic()
    reply = stack.grafana.query(_body(stack, board, shown, targets, span))
    seconds = (time.monotonic() - begun) / len(targets)
    results = reply.found.get("results") if isinstance(reply.found, dict) else None
    if not isinstance(results, dict):
        if reply.status >= SERVER_ERROR or reply.found is None:
            raise UnreachableError(f"Grafana, panel {board.title}: {panel.title}", str(reply))
        return tuple(Answer(query, seconds=seconds, error=str(reply)) for query in panel.queries)
    answers = [results.get(target["refId"]) for target in targets]
    pairs = zip(panel.queries, answers, strict=True)
    return tuple(Answer(query, *_read(found), seconds=seconds, error=_error(found)) for query, found in pairs)


def _body(stack: Stack, board: Board, shown: Json, targets: list[Json], span: Span) -> Json:
    choices = boards.chosen(stack, board)
    step = int(span.step * 1000)
    queries = [
        {
            **target,
            "datasource": target.get("datasource") or shown.get("datasource"),
            "expr": sent(target.get("expr", ""), choices),
            "exemplar": False,
            "utcOffsetSec": 0,
            "intervalMs": step,
            "maxDataPoints": int((span.end - span.start) / span.step),
        }
        for target in targets
    ]
    return {"queries": queries, "from": str(int(span.start * 1000)), "to": str(int(span.end * 1000))}


def _error(found: Json | None) -> str:
    if found is None:
        return "no result of this query"
    return str(found.get("error") or "")


def _read(found: Json | None) -> tuple[tuple[Series, ...]]:
    return (tuple(series for frame in (found or {}).get("frames") or [] for series in _frame(frame)),)


def _frame(frame: Json) -> Iterator[Series]:
    """Numbers of one frame: a series for each column of them. One of words alone, as of log lines, is a one per row."""
    fields = frame.get("schema", {}).get("fields") or []
    columns = frame.get("data", {}).get("values") or []
    marked = frame.get("data", {}).get("entities") or [None] * len(fields)
    read = [_column(values, marks) for values, marks in zip(columns, marked, strict=False)]
    times = next((values for one, values in zip(fields, read, strict=False) if one.get("type") == "time"), None)
    numbers = [(one, values) for one, values in zip(fields, read, strict=False) if one.get("type") == "number"]
    rows = len(columns[0]) if columns else 0
    at = [0.0 if value is None else value / 1000 for value in times] if times is not None else [0.0] * rows
    if not numbers and rows:
        yield Series({}, tuple((when, 1.0) for when in at))
    for one, values in numbers:
        points = zip(at, values, strict=False)
        yield Series(
            one.get("labels") or {}, tuple((when, float(value)) for when, value in points if value is not None)
        )


def _column(values: list[Any], marks: dict[str, list[int]] | None) -> list[Any]:
    """JSON has no word for what is no number: its place is in a list beside the values."""
    found = list(values)
    for name, places in (marks or {}).items():
        for place in places:
            found[place] = _ENTITIES[name]
    return found
