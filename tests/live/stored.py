"""What stores hold of the traces and lines that live tests sent, once it is all there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from smoke import poll
from smoke.model import Problem
from tests.live.telemetry import eventually

if TYPE_CHECKING:
    from smoke.stack import Stack

Json = dict[str, Any]
ARRIVES: Final = 90.0


def services_of(trace: Json) -> set[str]:
    """Names of the services that its spans are of."""
    return {process["serviceName"] for process in trace["processes"].values()}


def orphans(trace: Json) -> list[str]:
    """Names of spans whose parent is not in the trace; that of the root alone, if it is whole."""
    known = {span["spanID"] for span in trace["spans"]}
    return [
        span["operationName"]
        for span in trace["spans"]
        if not {ref["spanID"] for ref in span["references"] if ref["refType"] == "CHILD_OF"} & known
    ]


def kept(stack: Stack, traces: list[str], roles: set[str]) -> list[Json]:
    """The traces, once each has spans of all these roles and no span without its parent."""
    whole: dict[str, Json] = {}

    def probe() -> list[Problem]:
        problems = []
        for one in traces:
            found = whole.get(one) or stack.telemetry.traces.trace(one)
            if found is None:
                problems.append(Problem(f"trace {one}", "not there", "kept"))
            elif problem := _torn(found, roles):
                problems.append(Problem(f"trace {one}", problem, "whole"))
            else:
                whole[one] = found
        return problems

    poll.settle(probe, ARRIVES)
    return list(whole.values())


def _torn(trace: Json, roles: set[str]) -> str:
    """What a trace lacks, in words."""
    missing = sorted(roles - services_of(trace))
    if missing:
        return f"nothing of {', '.join(missing)}"
    lost = orphans(trace)
    return "" if len(lost) == 1 else f"{len(lost)} spans without a parent: {', '.join(lost[:5])}"


def lines(stack: Stack, query_: str, least: int) -> list[dict[str, str]]:
    """Rows of VictoriaLogs, once there are so many."""
    found: list[dict[str, str]] = []

    def look() -> bool:
        found[:] = stack.telemetry.logs.rows(query_, 1000)
        return len(found) >= least

    eventually(f"{least} rows of {query_}", look, ARRIVES)
    return found
