"""Log lines: one JSON object a line on standard output, and the same as records of OTLP."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import trace
from opentelemetry._logs import SeverityNumber

from sandbox.workloads.inference import COMPONENTS, IDENTITY, SCOPE, VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

    from sandbox.workloads.inference.asking import Job
    from sandbox.workloads.inference.telemetry import Telemetry

_TIME: Final = "microseconds"
_SEVERITY: Final = {
    "DEBUG": SeverityNumber.DEBUG,
    "INFO": SeverityNumber.INFO,
    "WARNING": SeverityNumber.WARN,
    "ERROR": SeverityNumber.ERROR,
}


class Journal:
    """Writes the lines of one role. where: `stdout`, `otlp` or `both`, unless a job says otherwise."""

    def __init__(self, telemetry: Telemetry, role: str, where: str, out: TextIO | None = None) -> None:
        self._logger = telemetry.loggers.get_logger(SCOPE, VERSION)
        self._where, self._out, self._lock = where, out or sys.stdout, threading.Lock()
        self._ledger = telemetry.ledger
        known = telemetry.resource.attributes
        self._always = {"service": telemetry.service, "component": COMPONENTS[role]}
        # Who reads the output of containers has no resource beside it.
        self._identity = {name: str(known[name]) for name in IDENTITY if name in known}

    def write(self, level: str, message: str, job: Job | None = None, **fields: Any) -> None:  # noqa: ANN401  # JSON
        """One line. level: DEBUG, INFO, WARNING or ERROR. Never a prompt or what was generated: their sizes."""
        where = (job.logs if job else "") or self._where
        about = {"request_id": job.request_id, "input": _statistics(job)} if job else {}
        nonce = {"nonce": job.nonce} if job and job.nonce else {}
        rest = {**self._always, **self._identity, **about, **nonce, **fields}
        if where != "otlp":
            self._print(level, message, rest)
        if where != "stdout":
            self._emit(level, message, rest)

    def _print(self, level: str, message: str, rest: Mapping[str, Any]) -> None:
        context = trace.get_current_span().get_span_context()
        ids = {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"} if context.is_valid else {}
        line = json.dumps({"time": _time(time.time()), "level": level, "message": message, **ids, **rest})
        with self._lock:
            self._out.write(line + "\n")
            self._out.flush()
        self._ledger.add("lines", "made")

    def _emit(self, level: str, message: str, rest: Mapping[str, Any]) -> None:
        """What is nested goes into the body, the rest into attributes."""
        nested = {name: value for name, value in rest.items() if isinstance(value, dict) and name != "input"}
        flat = {name: value for name, value in rest.items() if not isinstance(value, dict)}
        sizes = {f"input.{name}": value for name, value in rest.get("input", {}).items()}
        self._logger.emit(
            timestamp=time.time_ns(),
            severity_number=_SEVERITY[level],
            severity_text=level,
            body={"message": message, **nested} if nested else message,
            attributes={**flat, **sizes},
        )


class Format(logging.Formatter):
    """Lines of libraries in the shape of the role's own: a reader of containers' output gets both streams as one."""

    def __init__(self, role: str) -> None:
        super().__init__()
        self._role = role

    def format(self, record: logging.LogRecord) -> str:
        """One JSON object, with the traceback as a member."""
        about = {"service": f"inference-{self._role}", "component": COMPONENTS[self._role], "logger": record.name}
        error = {"exception": self.formatException(record.exc_info)} if record.exc_info else {}
        message = record.getMessage()
        return json.dumps(
            {"time": _time(record.created), "level": record.levelname, "message": message, **about, **error}
        )


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec=_TIME).replace("+00:00", "Z")


def _statistics(job: Job) -> dict[str, int]:
    return {"messages": job.messages, "characters": job.characters, "tokens": job.input_tokens}
