"""A boundary that a request crosses: its span, what is played there, and the log lines of it."""

from __future__ import annotations

import time
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from sandbox.workloads.inference import SCOPE, VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from opentelemetry.trace import Link, Span, Tracer

    from sandbox.workloads.inference.asking import Job
    from sandbox.workloads.inference.journal import Journal
    from sandbox.workloads.inference.telemetry import Telemetry


class Failure(Exception):
    """A request that did not end well. status: of HTTP. reported: whether a span has it as an event already.

    summary: what may be told everywhere; detail: what the exception says, as exceptions do, about what it had in hand.
    """

    def __init__(self, status: int, kind: str, summary: str, detail: str = "") -> None:
        super().__init__(f"{summary}: {detail}" if detail else summary)
        self.status, self.kind, self.summary = status, kind, summary
        self.reported, self.request_id = False, ""

    @property
    def is_error(self) -> bool:
        """A caller that goes away is none."""
        return self.kind != "cancelled"


class SimulatedError(Failure):
    """A failure that was asked for."""


class Boundaries:
    """Crosses boundaries for one role."""

    def __init__(self, telemetry: Telemetry, journal: Journal) -> None:
        self.telemetry, self.journal, self._own = telemetry, journal, telemetry.tracer()

    @contextmanager
    def cross(
        self,
        point: str,
        job: Job,
        *,
        name: str = "",
        kind: SpanKind = SpanKind.INTERNAL,
        attributes: Mapping[str, Any] | None = None,
        links: Sequence[Link] = (),
        fails: bool = True,
    ) -> Iterator[Span]:
        """The span of the point, with its latency slept and its secrets in place.

        fails: whether it fails here if asked; else the caller does, by `fail`. Raises Failure.
        """
        secrets = job.secrets_of(point)
        above = trace.get_current_span().get_span_context()
        with self._tracer(secrets).start_as_current_span(
            secrets.get("span_name") or name or point,
            kind=kind,
            attributes={**known(job), **(attributes or {})},
            links=links,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            _put(span, secrets, above)
            self._put_in_logs(secrets, job)
            try:
                time.sleep(job.latency.get(point, 0))
                if fails:
                    self.fail(point, job)
                yield span
            except Failure as failure:
                self._report(span, failure, job, secrets)
                raise

    def fail(self, point: str, job: Job) -> None:
        """Raise Failure if this point is to fail."""
        status = job.fail.get(point)
        if status is None:
            return
        text = job.secrets_of(point).get("exception_message", "")
        name = HTTPStatus(status).phrase if status in set(HTTPStatus) else "failure"
        raise SimulatedError(status, "SimulatedError", f"{point}: {name}", text)

    def _report(self, span: Span, failure: Failure, job: Job, secrets: Mapping[str, str]) -> None:
        if not failure.is_error:
            span.add_event("cancelled")
            return
        span.set_attribute("error.type", failure.kind)
        span.set_status(Status(StatusCode.ERROR, secrets.get("status_message") or failure.summary))
        if not failure.reported:
            failure.reported = True
            span.record_exception(failure)
            self.journal.write("ERROR", failure.summary, job, error_class=failure.kind, status=failure.status)

    def _tracer(self, secrets: Mapping[str, str]) -> Tracer:
        if not any(place.startswith("scope_") for place in secrets):
            return self._own
        attributes = {"note": secrets["scope_attribute"]} if "scope_attribute" in secrets else None
        name, version = secrets.get("scope_name") or SCOPE, secrets.get("scope_version") or VERSION
        return self.telemetry.tracers.get_tracer(name, version, attributes=attributes)

    def _put_in_logs(self, secrets: Mapping[str, str], job: Job) -> None:
        if "log_body" in secrets:
            self.journal.write("INFO", f"upstream answered: {secrets['log_body']}", job)
        if "log_nested" in secrets:
            detail = {"request": {"headers": [{"name": "x-note", "value": secrets["log_nested"]}]}}
            self.journal.write("INFO", "upstream asked", job, detail=detail)
        if "log_attribute" in secrets:
            self.journal.write("INFO", "upstream noted", job, note=secrets["log_attribute"])


def known(job: Job) -> dict[str, str]:
    """Attributes that every span of a request has."""
    return {"request_id": job.request_id, **({"nonce": job.nonce} if job.nonce else {})}


def _put(span: Span, secrets: Mapping[str, str], above: trace.SpanContext) -> None:
    """What can be put into a span that exists."""
    if "span_attribute" in secrets:
        span.set_attribute("note", secrets["span_attribute"])
    if "span_attribute_list" in secrets:
        span.set_attribute("labels", ["first", secrets["span_attribute_list"]])
    if "span_attribute_number" in secrets:
        span.set_attribute("reference", int(secrets["span_attribute_number"]))
    if "span_attribute_key" in secrets:
        span.set_attribute(secrets["span_attribute_key"], "seen")
    if "event_name" in secrets:
        span.add_event(secrets["event_name"])
    if "event_attribute" in secrets:
        span.add_event("note", {"detail": secrets["event_attribute"]})
    if "link_attribute" in secrets:
        span.add_link(above, {"note": secrets["link_attribute"]})
