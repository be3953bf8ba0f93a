"""Rules as records, and their rendering into the files that Prometheus reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from signals.yamltext import dump

RUNBOOKS = "docs/runbooks"
"""Where runbooks lie, relative to the root of the repository; an installation may put a base address in front."""


class Severity(StrEnum):
    """How soon somebody must respond: P0 5 minutes, P1 15 minutes, P2 one hour, P3 one working day."""

    P0 = "P0"
    P1 = "P1"
    P2 = "P2"
    P3 = "P3"


ANSWER_WITHIN: Final[dict[str, int]] = {Severity.P0: 300, Severity.P1: 900, Severity.P2: 3600}
"""Severity → seconds. Nobody is woken for P3."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """A recording rule. record: `level:metric:operation`. Every aggregation keeps `cluster`."""

    record: str
    expr: str
    labels: dict[str, str] = field(default_factory=dict)

    def render(self, runbooks: str = "") -> dict[str, Any]:  # noqa: ARG002  # one signature for all rules
        """As Prometheus spells it."""
        return {"record": self.record, "expr": self.expr, **({"labels": self.labels} if self.labels else {})}


@dataclass(frozen=True, kw_only=True)
class Alert:
    """An alerting rule.

    wait: how long the expression must hold, a Prometheus duration. runbook: file name without suffix in docs/runbooks.
    summary and description are templates; both may use the labels that the expression keeps.
    """

    alert: str
    expr: str
    wait: str
    severity: Severity
    summary: str
    description: str
    runbook: str
    labels: dict[str, str] = field(default_factory=dict)

    def render(self, runbooks: str = "") -> dict[str, Any]:
        """As Prometheus spells it. runbooks: base address in front of the runbook's path."""
        base = f"{runbooks.rstrip('/')}/" if runbooks else ""
        return {
            "alert": self.alert,
            "expr": self.expr,
            "for": self.wait,
            "labels": {"severity": self.severity.value, **self.labels},
            "annotations": {
                "summary": self.summary,
                "description": self.description,
                "runbook_url": f"{base}{RUNBOOKS}/{self.runbook}.md",
            },
        }


@dataclass(frozen=True, kw_only=True)
class Group:
    """Rules that are evaluated one after another. interval: None means the global evaluation interval."""

    name: str
    rules: tuple[Record | Alert, ...]
    interval: str | None = None

    def render(self, runbooks: str = "") -> dict[str, Any]:
        """As Prometheus spells it."""
        interval = {"interval": self.interval} if self.interval else {}
        return {"name": self.name, **interval, "rules": [rule.render(runbooks) for rule in self.rules]}


def rule_file(groups: tuple[Group, ...], runbooks: str = "") -> str:
    """The YAML text of one rule file. The same groups always give the same bytes. runbooks: see RuleInputs."""
    document = {"groups": [group.render(runbooks) for group in groups]}
    return dump(document)
