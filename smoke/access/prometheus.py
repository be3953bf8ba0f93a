"""Prometheus over HTTP: its query API, its own account of itself, its own metrics."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from smoke.access.errors import UnreachableError
from smoke.access.http import Client

Json = dict[str, Any]

_PLAIN: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


def quoted(label: str) -> str:
    """A label's name as expressions have it: in quotes if it has a dot, say, as Prometheus 3 stores those of OTLP."""
    return label if _PLAIN.fullmatch(label) else json.dumps(label, ensure_ascii=False)


class Prometheus(Client):
    """One Prometheus. Raises UnreachableError and RefusedError from every method."""

    def query(self, expression: str, at: float | None = None, lookback: float | None = None) -> list[Json]:
        """The result of an instant query at Unix time `at`, by default the server's now.

        lookback: seconds after which a series without a new sample is gone; by default the server's five minutes.
        Series of a target that vanished while Prometheus was down carry no mark of their end and live that long.
        """
        params = {"query": expression} | ({} if at is None else {"time": f"{at:.3f}"})
        params |= {} if lookback is None else {"lookback_delta": f"{lookback:.0f}"}
        result: list[Json] = self._data("/api/v1/query", params)["result"]
        return result

    def range(self, expression: str, start: float, end: float, step: float) -> list[Json]:
        """The result of a range query from Unix time `start` to `end`, a value every `step` seconds."""
        params = {"query": expression, "start": f"{start:.3f}", "end": f"{end:.3f}", "step": f"{step:.0f}"}
        result: list[Json] = self._data("/api/v1/query_range", params)["result"]
        return result

    def label_values(self, label: str, selector: str, begin: float, end: float) -> list[str]:
        """Values of a label on the selected series between these Unix times; a superset."""
        params = {"match[]": selector, "start": f"{begin:.3f}", "end": f"{end:.3f}"}
        values: list[str] = self._data(f"/api/v1/label/{label}/values", params)
        return values

    def scalar(self, expression: str) -> float:
        """The value of an expression of type scalar, for example `time()`."""
        return float(self._data("/api/v1/query", {"query": expression})["result"][1])

    def targets(self) -> Json:
        """Active and dropped targets."""
        data: Json = self._data("/api/v1/targets", {"state": "any"})
        return data

    def rule_groups(self) -> list[Json]:
        """Rule groups with their rules, health and last evaluation."""
        groups: list[Json] = self._data("/api/v1/rules")["groups"]
        return groups

    def parsed(self, expression: str) -> Json:
        """The tree of an expression. RefusedError also from one before 3.0, which does not tell it."""
        tree: Json = self._data("/api/v1/parse_query", {"query": expression})
        return tree

    def metadata(self) -> dict[str, list[Json]]:
        """Metric family → what its targets say of it."""
        data: dict[str, list[Json]] = self._data("/api/v1/metadata")
        return data

    def declared(self, job: str, family: str) -> list[Json]:
        """What targets of one job say of a metric family; empty if they say nothing."""
        params = {"match_target": f'{{job="{job}"}}', "metric": family}
        entries: list[Json] = self._data("/api/v1/targets/metadata", params)
        return entries

    def label_names(self, since: float, selector: str = "") -> list[str]:
        """Label names that may have been in use since this Unix time, by the selected series; a superset."""
        params = {"start": f"{since:.3f}"} | ({"match[]": selector} if selector else {})
        names: list[str] = self._data("/api/v1/labels", params)
        return names

    def flags(self) -> dict[str, str]:
        """Command-line flags and their values."""
        data: dict[str, str] = self._data("/api/v1/status/flags")
        return data

    def configuration(self) -> str:
        """The configuration that runs, as YAML, with every default filled in."""
        text: str = self._data("/api/v1/status/config")["yaml"]
        return text

    def runtime(self) -> Json:
        """Start time, storage retention, reload status."""
        data: Json = self._data("/api/v1/status/runtimeinfo")
        return data

    def build(self) -> Json:
        """Version and revision of the program."""
        data: Json = self._data("/api/v1/status/buildinfo")
        return data

    def alertmanagers(self) -> Json:
        """Where it sends alerts: active and dropped."""
        data: Json = self._data("/api/v1/alertmanagers")
        return data

    def ready(self) -> bool:
        """Whether it says that it is ready; raises as the others while it does not."""
        return self.ask("GET", "/-/ready").ok

    def _data(self, path: str, params: dict[str, str] | None = None) -> Any:  # noqa: ANN401  # shapes differ by path
        try:
            return self.json(path, params)["data"]
        except (KeyError, TypeError) as error:
            raise UnreachableError(f"{self.name} {path}", "the answer is not its JSON") from error
