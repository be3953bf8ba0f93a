"""What a run says of itself in logs: VictoriaLogs, by the keys of its lines."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from smoke.access.logsql import exactly
from smoke.redact import bounded
from smoke.run_evidence.facts import Line, StepRecord

if TYPE_CHECKING:
    from smoke.access.logsql import Row, VictoriaLogs
    from smoke.run_evidence.facts import Span

RECORDS: Final = 10_000
"""Of one step: ranks and attempts."""
STEPS_BESIDE: Final = 200
SHOWN: Final = 60
TEXT_CHARS: Final = 400
PARTS: Final = ("data", "forward", "backward", "optimizer", "sync", "checkpoint")
POD, NAMESPACE = "k8s.pod.name", "k8s.namespace.name"


class Logs:
    """Questions about one run. Raises AccessError from every method."""

    def __init__(self, logs: VictoriaLogs, run: str, span: Span) -> None:
        """span: in which is searched."""
        self._logs, self._run, self._span = logs, run, span

    def step(self, step: int) -> list[StepRecord]:
        """Each rank's line of a step, of every attempt."""
        rows = self._logs.rows(f"{self._mine()} {exactly('step', str(step))} step_time:*", RECORDS)
        return [found for row in rows if (found := record(row)) is not None]

    def beside(self, step: int) -> tuple[dict[int, float], dict[str, float]]:
        """Step → seconds of its slowest rank, of steps around; and the median of each part over steps and ranks."""
        around = f"step:range[{max(0, step - STEPS_BESIDE)}, {step + STEPS_BESIDE}] !{exactly('step', str(step))}"
        wanted = f"{self._mine()} step_time:* {around}"
        rows = self._logs.rows(f"{wanted} | stats by (step) max(step_time) as slowest", 2 * STEPS_BESIDE + 1)
        times = {int(row["step"]): float(row["slowest"]) for row in rows if _number(row.get("slowest", ""))}
        stats = ", ".join(f"median({part}_time) as {part}" for part in PARTS)
        (usual,) = self._logs.rows(f"{wanted} | stats {stats}", 1) or [{}]
        return times, {part: float(usual[part]) for part in PARTS if _number(usual.get(part, ""))}

    def steps(self) -> tuple[int, int] | None:
        """First and last step that were told; None without any."""
        rows = self._logs.rows(f"{self._mine()} step_time:* step:* | stats min(step) as first, max(step) as last", 1)
        found = [row for row in rows if row.get("first", "").isdecimal() and row.get("last", "").isdecimal()]
        return (int(found[0]["first"]), int(found[0]["last"])) if found else None

    def pods(self, span: Span) -> set[tuple[str, str]]:
        """Pods that wrote lines of the run in a span."""
        wanted = f"_time:{_within(span)} {exactly('run_id', self._run)}"
        rows = self._logs.rows(f'{wanted} | uniq by ("{NAMESPACE}", "{POD}")', RECORDS)
        return {(row.get(NAMESPACE, ""), row.get(POD, "")) for row in rows if row.get(POD)}

    def runs(self) -> list[str]:
        """Ids of runs that wrote lines."""
        rows = self._logs.rows(f"_time:{_within(self._span)} run_id:* | uniq by (run_id)", RECORDS)
        return sorted(row["run_id"] for row in rows if row.get("run_id"))

    def lines(self, window: Span) -> tuple[list[Line], int]:
        """Lines of the window for people, those that warn always among them; and how many there are."""
        wanted = f"{exactly('run_id', self._run)} _time:{_within(window)}"
        (counted,) = self._logs.rows(f"{wanted} | stats count() as lines", 1) or [{"lines": "0"}]
        grave = self._logs.rows(f'{wanted} severity_text:in("WARN", "ERROR", "FATAL")', SHOWN // 2)
        rest = self._logs.rows(wanted, SHOWN)
        seen = {
            (row.get("_time", ""), row.get("_stream_id", ""), row.get("_msg", ""), row.get("rank", "")): row
            for row in [*rest, *grave]
        }
        return sorted((_line(row) for row in seen.values()), key=lambda line: line.at), int(counted["lines"])

    def _mine(self) -> str:
        return f"_time:{_within(self._span)} {exactly('run_id', self._run)}"


def record(row: Row) -> StepRecord | None:
    """What a line says of a step; None for one that cannot be read."""
    if not (row.get("step", "").isdecimal() and _number(row.get("step_time", ""))):
        return None
    parts = {part: float(text) for part in PARTS if _number(text := row.get(f"{part}_time", ""))}
    return StepRecord(
        "logs",
        row.get("rank", "") or row.get(POD, ""),
        int(row["step"]),
        moment(row["_time"]),
        float(row["step_time"]),
        parts,
        row.get("trace_id", ""),
        row.get(POD, ""),
    )


def moment(text: str) -> float:
    """Seconds since the epoch, of RFC 3339 with nanoseconds."""
    whole, dot, rest = text.removesuffix("Z").partition(".")
    return datetime.fromisoformat(whole).replace(tzinfo=UTC).timestamp() + (float(f"0.{rest}") if dot else 0.0)


def stamp(seconds: float) -> str:
    """RFC 3339 with milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _within(span: Span) -> str:
    return f"[{stamp(span.begin)}, {stamp(span.end)}]"


def _line(row: Row) -> Line:
    text = row.get("_msg", "")
    more = {key: row[key] for key in ("rank", "step", "step_time", "error") if key in row}
    told = " ".join([text, *(f"{key}={value}" for key, value in more.items())])
    return Line(moment(row["_time"]), row.get("severity_text", ""), row.get(POD, ""), bounded(told, TEXT_CHARS))


def _number(text: str) -> bool:
    try:
        return float(text) >= 0
    except ValueError:
        return False
