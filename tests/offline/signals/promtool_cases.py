"""The unit tests of rules, as files for promtool, and what they cover."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from signals.catalogue import PRODUCERS
from signals.rules import groups, rule_files
from signals.rules.inputs import RecoveryAims, RuleInputs, TelemetryPlans
from signals.rules.model import Alert, Record
from tests.offline.promtool import require_promtool

CASES = sorted(Path(__file__).with_name("promtool").glob("*.yaml"))
_TIMEOUT_SECONDS = 300
_COLLECT_RARELY = {"GOGC": "400"}
"""Collecting garbage is up to a fifth of the processor time of promtool; 205 MB of memory instead of 91 pay for it."""
_LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The loader in C where the library has it: the cases are long."""
INPUTS = RuleInputs(
    jobs=tuple(page.job for page in PRODUCERS),
    budgets={page.job: 1000 for page in PRODUCERS},
    alert_pipeline=True,
    recovery=RecoveryAims(rpo_seconds=21600, rto_seconds=3600, verify_period_seconds=86400, small=("grafana",)),
    telemetry=TelemetryPlans(
        agent_memory_bytes=1000,
        gateway_memory_bytes=2000,
        decision_wait_seconds=10,
        traces_in_memory=1000,
        log_records_per_second=100,
        log_bytes_per_second=10_000,
        spans_per_second=50,
        logs_retention_seconds=604_800,
    ),
)
"""Every job there is, so that every rule is rendered; a budget of 1000 series each, which cases can pass.

Of what the stores hold 6 h may be lost, a restore may take 1 h, and restore points are verified once a day.
Agents have 1000 bytes of memory, the gateway 2000; a second brings 100 log records of 10 kB together, and 50 spans;
logs are kept for a week; a thousand traces may wait for their decision.
"""


def alerts() -> list[Alert]:
    """Every alert of every file."""
    return [rule for found in groups(INPUTS).values() for g in found for rule in g.rules if isinstance(rule, Alert)]


def records() -> list[Record]:
    """Every recording rule of every file."""
    return [rule for found in groups(INPUTS).values() for g in found for rule in g.rules if isinstance(rule, Record)]


@cache
def cases_in(case: Path) -> list[dict[str, Any]]:
    """The tests in one file."""
    text = case.read_text(encoding="utf-8")
    found: list[dict[str, Any]] = yaml.load(text, Loader=_LOADER)["tests"]  # noqa: S506  # both loaders are safe ones
    return found


def states_tested(alert: str) -> set[str]:
    """Which states of an alert are expected somewhere: `silent`, `pending`, `firing`, `annotations`, `silent again`."""
    found: set[str] = set()
    for case in CASES:
        for test in cases_in(case):
            found |= states(test, alert)
    return found


def states(test: dict[str, Any], alert: str) -> set[str]:
    """The same for one test."""
    found: set[str] = set()
    for expected in test.get("promql_expr_test", ()):
        if f'alertname="{alert}"' in expected["expr"]:
            text = str(expected["exp_samples"])
            seen = {state for state in ("pending", "firing") if f'alertstate="{state}"' in text}
            found |= seen or ({"silent again"} if "firing" in found else {"silent"})
    annotated = [t for t in test.get("alert_rule_test", ()) if t["alertname"] == alert and t["exp_alerts"]]
    return found | ({"annotations"} if annotated else set())


def run(case: Path, directory: Path, changed: dict[str, str] | None = None, only: str | None = None) -> tuple[int, str]:
    """Run one file against the rendered rules. Exit code and output.

    changed: rule files to use instead. only: beginning of the names of the tests to run.
    """
    for name, text in {**rule_files(INPUTS), **(changed or {})}.items():
        (directory / name).write_text(text, encoding="utf-8")
    (directory / case.name).write_text(case.read_text(encoding="utf-8"), encoding="utf-8")
    done = subprocess.run(
        [require_promtool(), "test", "rules", *([f"--run=^{only}, "] if only else []), case.name],
        cwd=directory,
        env={**os.environ, **_COLLECT_RARELY},
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_SECONDS,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr
