"""What a run says of a step in traces: Jaeger, by the ids that its lines name, or by tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from smoke.run_evidence.facts import StepRecord

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smoke.access.jaeger import Jaeger
    from smoke.run_evidence.facts import Span

Json = dict[str, Any]
MICRO: Final = 1e6
MOST: Final = 32
"""Traces of one step: one per rank."""
SERVICES: Final = 50


class Traces:
    """Questions about one run. Raises AccessError from every method."""

    def __init__(self, jaeger: Jaeger, run: str, span: Span) -> None:
        """span: in which is searched."""
        self._jaeger, self._run, self._span = jaeger, run, span

    def by_id(self, ids: Iterable[str], step: int) -> list[StepRecord]:
        """Of these traces, those that were kept."""
        traces = (self._jaeger.trace(one) for one in list(dict.fromkeys(ids))[:MOST])
        return [found for trace in traces if trace for found in records(trace, self._run, step)]

    def by_tags(self, step: int) -> list[StepRecord]:
        """Searched in every service, for want of ids."""
        tags = {"run_id": self._run, "step": str(step)}
        found: dict[tuple[str, str, float], StepRecord] = {}
        for service in self._jaeger.services()[:SERVICES]:
            for trace in self._jaeger.tagged(service, tags, self._span.begin, self._span.end, MOST):
                for one in records(trace, self._run, step):
                    found[one.trace_id, one.rank, one.end] = one
        return list(found.values())


def records(trace: Json, run: str, step: int) -> list[StepRecord]:
    """Spans of a step that have none of the same step above them, with those directly below as parts."""
    mine = {
        span["spanID"]: span
        for span in trace["spans"]
        if (tags := _tags(span)).get("run_id") == run and tags.get("step") == str(step)
    }
    found = []
    for span in mine.values():
        if _parent(span) in mine:
            continue
        parts = {
            one["operationName"]: one["duration"] / MICRO for one in mine.values() if _parent(one) == span["spanID"]
        }
        end = (span["startTime"] + span["duration"]) / MICRO
        rank = _tags(span).get("rank", "")
        found.append(StepRecord("traces", rank, step, end, span["duration"] / MICRO, parts, trace["traceID"]))
    return found


def _tags(span: Json) -> dict[str, str]:
    return {tag["key"]: str(tag["value"]) for tag in span.get("tags") or []}


def _parent(span: Json) -> str:
    return next((one["spanID"] for one in span.get("references") or [] if one["refType"] == "CHILD_OF"), "")
