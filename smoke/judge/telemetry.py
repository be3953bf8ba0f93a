"""Telemetry: what was sent is at its store, whole and with its keys; collectors and stores run what was promised."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import yaml

from smoke.access.exposition import values
from smoke.judge.units import duration
from smoke.model import Problem

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from smoke.access.exposition import Sample
    from smoke.access.otlp import Span
    from stacks.contract import LogStore

Json = dict[str, Any]

PREFIX: Final = "plumbline-smoke-"
"""What the name of every service of smoke's own begins with."""
TARGET_INFO: Final = "target_info"
REVISION: Final = "plumbline_revision"
SPAN_CALLS: Final = "traces_span_metrics_calls_total"
ERROR: Final = "STATUS_CODE_ERROR"
NODE_NAME: Final = "k8s.node.name"
PERIOD: Final = "retentionPeriod"
LARGEST: Final = "vl_max_disk_space_usage_bytes"
SHOWN: Final = 3
GO_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
GO_UNITS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def shown_revisions(samples: list[Sample]) -> list[str]:
    """Revisions that a program's own metrics show."""
    return [s.labels[REVISION] for s in samples if s.name == TARGET_INFO and s.labels.get(REVISION)]


def configured(who: str, pods: list[str], shown: Mapping[str, list[str]], expected: str) -> list[Problem]:
    """Every pod shows the promised revision, once. shown: pod → revisions of its own metrics."""
    if not pods:
        return [Problem(who, "no pods", "at least one, with the promised configuration")]
    return [
        Problem(f"{who}, pod {pod}", f"revision {', '.join(found) or 'not shown'}", f"revision {expected}")
        for pod in pods
        if (found := shown.get(pod, [])) != [expected]
    ]


def whole(trace: Json | None, sent: list[Span], resource: Mapping[str, str]) -> list[Problem]:
    """The trace has the very spans that were sent, each as it was sent. trace: as Jaeger has it.

    resource: service.name, and what else its service must be told to be.
    """
    subject = f"trace {sent[0].trace_id}"
    if trace is None:
        return [Problem(subject, "not found", f"found with {len(sent)} spans")]
    found: dict[str, Json] = {span["spanID"]: span for span in trace["spans"]}
    missing = [one.name for one in sent if one.span_id not in found]
    problems = [Problem(subject, f"without {', '.join(missing)}", f"all {len(sent)} spans")] if missing else []
    if len(trace["spans"]) > len(sent):
        problems.append(Problem(subject, f"{len(trace['spans'])} spans", f"{len(sent)} spans"))
    for one in sent:
        if one.span_id in found:
            problems += _as_sent(found[one.span_id], one)
            problems += _resource(subject, trace["processes"].get(found[one.span_id]["processID"]) or {}, resource)
    return list(dict.fromkeys(problems))


def on_node(trace: Json | None, nodes: Collection[str]) -> list[Problem]:
    """Whoever took the trace has named one of these nodes."""
    processes = (trace or {}).get("processes") or {}
    seen = {_tags(process).get(NODE_NAME, "missing") for process in processes.values()}
    wrong = sorted(seen - set(nodes))
    return [Problem(f"{NODE_NAME} of the trace", one, f"one of {', '.join(sorted(nodes))}") for one in wrong]


def complete(traces: list[Json], sent: dict[str, int], what: str) -> list[Problem]:
    """Every trace that was sent is there with all its spans. sent: trace id → number of spans."""
    spans = {trace["traceID"]: len({span["spanID"] for span in trace["spans"]}) for trace in traces}
    absent = [one for one in sent if one not in spans]
    halves = [one for one, number in sent.items() if 0 < spans.get(one, 0) < number]
    problems = []
    if absent:
        problems.append(Problem(f"{what} traces", f"{len(absent)} of {len(sent)} are not there", "every one is kept"))
    if halves:
        first = halves[0]
        seen = f"{len(halves)} of {len(sent)} lack spans: {first} has {spans[first]} of {sent[first]}"
        problems.append(Problem(f"{what} traces", seen, "every one whole"))
    return problems


def line(rows: list[dict[str, str]], text: str, expected: Mapping[str, str]) -> list[Problem]:
    """One row holds this text, with these fields. rows: of the pod that printed it."""
    found = [row for row in rows if text in row.get("_msg", "")]
    if not found:
        told = f"{len(rows)} others of its pod" if rows else "nothing of its pod"
        return [Problem(f"line {text!r}", f"not found, {told}", "found once")]
    problems = [] if len(found) == 1 else [Problem(f"line {text!r}", f"found {len(found)} times", "found once")]
    for field, value in expected.items():
        seen = found[0].get(field)
        if seen != value:
            problems.append(Problem(f"field {field} of the line", "missing" if seen is None else seen, value))
    return problems


def counted(series: list[Json], sent: Mapping[tuple[str, str], int]) -> list[Problem]:
    """Calls by span metrics are the spans that were sent. series: calls by `span_name` and `status_code`, summed.

    sent: (name, status code) → number.
    """
    seen = {
        (s["metric"].get("span_name", ""), s["metric"].get("status_code", "")): round(float(s["value"][1]))
        for s in series
    }
    problems = []
    for key in sorted({*seen, *sent}):
        if seen.get(key, 0) != sent.get(key, 0):
            subject = f"{SPAN_CALLS} of span {key[0]!r}, {key[1]}"
            problems.append(Problem(subject, str(seen.get(key, "no series")), str(sent.get(key, 0))))
    return problems


def logs_kept(flags: Mapping[str, str], own: list[Sample], promised: LogStore) -> list[Problem]:
    """VictoriaLogs runs with the promised retention, by age and by size."""
    problems = []
    period = flags.get(PERIOD)
    try:
        seconds = None if period is None else duration(period)
    except ValueError:
        seconds = None
    if seconds != promised.retention_seconds:
        problems.append(Problem(f"flag {PERIOD}", str(period), f"{promised.retention_seconds} s"))
    largest = values(own, LARGEST)
    if largest != [promised.retention_bytes]:
        seen = ", ".join(f"{number:.0f}" for number in largest) or "no such series: there is no limit"
        problems.append(Problem(LARGEST, seen, str(promised.retention_bytes)))
    return problems


def traces_kept(files: Mapping[str, str], promised: int) -> list[Problem]:
    """The configuration that Jaeger is given keeps spans for the promised time. files: of its ConfigMaps."""
    found = {name: _ttls(text) for name, text in files.items()}
    ttls = [ttl for own in found.values() for ttl in own]
    if not ttls:
        return [Problem("configuration of Jaeger", f"no ttl in {', '.join(found) or 'no file'}", f"{promised} s")]
    return [
        Problem("ttl of spans in Jaeger's configuration", str(ttl), f"{promised} s")
        for ttl in ttls
        if go_duration(ttl) != promised
    ]


def go_duration(text: object) -> float | None:
    """Seconds of a duration as Go writes it (`48h`, `1h30m`), None for anything else."""
    parts = GO_DURATION.findall(str(text))
    if not parts or "".join(number + unit for number, unit in parts) != str(text):
        return None
    return sum(float(number) * GO_UNITS[unit] for number, unit in parts)


def _ttls(text: str) -> list[object]:
    """`ttl.spans` of every Badger of a configuration."""
    try:
        document = yaml.safe_load(text)
        backends = document["extensions"]["jaeger_storage"]["backends"].values()
        return [backend["badger"]["ttl"]["spans"] for backend in backends if "badger" in backend]
    except (yaml.YAMLError, KeyError, TypeError, AttributeError):
        return []


def _as_sent(span: Json, sent: Span) -> list[Problem]:
    subject = f"span {sent.name!r}"
    parents = [ref["spanID"] for ref in span.get("references") or [] if ref.get("refType") == "CHILD_OF"]
    wanted = [sent.parent] if sent.parent else []
    tags = _tags(span)
    expected = {str(key): str(value) for key, value in sent.attributes.items()}
    expected |= {"otel.status_code": "ERROR", "otel.status_description": sent.error} if sent.error else {}
    problems = [] if span["operationName"] == sent.name else [Problem(subject, span["operationName"], sent.name)]
    problems += [] if parents == wanted else [Problem(f"{subject}, parent", str(parents), str(wanted))]
    return [*problems, *_differing(subject, tags, expected)]


def _resource(subject: str, process: Json, expected: Mapping[str, str]) -> list[Problem]:
    seen = {**_tags(process), "service.name": str(process.get("serviceName"))}
    return _differing(f"resource of {subject}", seen, expected)


def _differing(subject: str, seen: Mapping[str, str], expected: Mapping[str, str]) -> list[Problem]:
    return [
        Problem(f"{key} of {subject}", seen.get(key, "missing"), value)
        for key, value in expected.items()
        if seen.get(key) != value
    ]


def _tags(of: Json) -> dict[str, str]:
    return {tag["key"]: str(tag["value"]) for tag in of.get("tags") or []}
