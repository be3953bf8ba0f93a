"""Scenarios of boards: series as a cluster would give them, and what every stat panel must then show, by hand.

A file of `board_scenarios/` is named after its board: `series` (as promtool reads them), `at` (a time), and `panels`,
title → number, or title → labels → number where a panel shows several. `times: [8, 4]` beside a series stands for 32 of
them, with 1 to 8 in place of `#1` and 1 to 4 in place of `#2`. promtool evaluates, with the rules of a stack that has
everything, so that a recording rule that changes its meaning is seen here as well.

`doubled`, title → number: what a panel shows when everything is scraped twice, by a second replica of each exporter, if
that is another number; it counts targets then. `kept`, titles: panels that go on with what was last seen, on purpose.
"""

from __future__ import annotations

import itertools
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from signals.dashboards.model import Kind
from signals.rules import rule_files
from tests.offline.promtool import require_promtool
from tests.offline.signals.boards import BOARDS, ask
from tests.offline.signals.promtool_cases import INPUTS

if TYPE_CHECKING:
    from signals.dashboards.model import Board, Panel

SCENARIOS = Path(__file__).with_name("board_scenarios")
_TIMEOUT_SECONDS = 300
_INTEGER = "tag:yaml.org,2002:int"
_SECOND = re.compile(r'instance="')


class _Loader(yaml.SafeLoader):
    """Reads `0x60` as promtool means it, sixty-one times nothing, and not as the number 96."""

    yaml_implicit_resolvers = {  # noqa: RUF012  # as the library has it
        first: [(tag, pattern) for tag, pattern in known if tag != _INTEGER]
        for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


_Loader.add_implicit_resolver(_INTEGER, re.compile(r"^[-+]?(0|[1-9][0-9]*)$"), list("-+0123456789"))


def scenario(board: Board) -> dict[str, Any]:
    """What is written down for a board. Raises FileNotFoundError for a board without one."""
    text = (SCENARIOS / f"{board.uid}.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.load(text, Loader=_Loader)  # noqa: S506  # a safe one
    return found


def stats(board: Board) -> dict[str, Panel]:
    """Panels that show a number each."""
    return {panel.title: panel for panel in board.panels if panel.kind is Kind.STAT}


def play(board: Board, directory: Path, played: dict[str, Any] | None = None) -> str:
    """Evaluate the scenario; what is wrong, empty if nothing. played: instead of what is written down."""
    found = scenario(board) if played is None else played
    panels = {panel.title: panel for panel in board.panels}
    expected = [
        {
            "expr": ask(board, panels[title].queries[0].expr),
            "eval_time": found["at"],
            "exp_samples": [{"labels": labels, "value": value} for labels, value in _shown(shown).items()],
        }
        for title, shown in found["panels"].items()
    ]
    series = _series(found["series"])
    test = {"interval": "15s", "name": board.uid, "input_series": series, "promql_expr_test": expected}
    for name, text in rule_files(INPUTS).items():
        (directory / name).write_text(text, encoding="utf-8")
    whole = {
        "rule_files": sorted(rule_files(INPUTS)),
        "evaluation_interval": found.get("evaluation_interval", "15s"),
        "fuzzy_compare": True,  # the last bit of a float
        "tests": [test],
    }
    case = directory / "case.yaml"
    case.write_text(yaml.safe_dump(whole, sort_keys=False), encoding="utf-8")
    done = subprocess.run(
        [require_promtool(), "test", "rules", case.name],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_SECONDS,
        check=False,
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def doubled(found: dict[str, Any]) -> dict[str, Any]:
    """The same cluster, everything in it scraped a second time from another instance."""
    twice = [{**one, "series": _SECOND.sub('instance="second-', one["series"], count=1)} for one in found["series"]]
    missed = [one["series"] for one in twice if 'instance="second-' not in one["series"]]
    assert missed == [], "every series comes from an instance"
    panels = {**found["panels"], **found.get("doubled", {})}
    return {**found, "series": [*found["series"], *twice], "panels": panels}


def ended(found: dict[str, Any]) -> dict[str, Any]:
    """The same cluster once nothing in it is scraped any more: no number is left, but for what is kept on purpose.

    Ten minutes after the last sample, when the windows of records have passed. Alerts about what is absent fire then.
    """
    minutes = max(_steps(one["values"]) for one in found["series"]) // 4 + 1
    over = [{**one, "values": f"{one['values']} stale"} for one in found["series"]]
    kept = set(found.get("kept", ()))
    return {
        **found,
        "at": f"{minutes + 10}m",
        "evaluation_interval": "1m",
        "series": over,
        "panels": {title: {} for title in found["panels"] if title not in kept},
    }


def _steps(values: str) -> int:
    """Samples of a series, one every 15 seconds: `0x60` are 61 of them."""
    return sum(int(times) + 1 if times else 1 for times in re.findall(r"\S+?(?:x(\d+))?(?:\s|$)", values))


def _series(listed: list[dict[str, Any]]) -> list[dict[str, str]]:
    found = []
    for one in listed:
        # YAML reads 0x60 as 96.
        assert isinstance(one["values"], str), f"quote {one['values']} of {one['series']}"
        for numbers in itertools.product(*(range(1, times + 1) for times in one.get("times", ()))):
            name = one["series"]
            for place, number in enumerate(numbers, start=1):
                name = name.replace(f"#{place}", str(number))
            found.append({"series": name, "values": one["values"]})
    return found


def _shown(value: Any) -> dict[str, float]:  # noqa: ANN401  # as written in YAML
    """Labels → number; a panel of one number has no labels."""
    return value if isinstance(value, dict) else {"{}": value}


__all__ = ["BOARDS", "doubled", "ended", "play", "scenario", "stats"]
