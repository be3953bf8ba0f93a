"""Boards on the live stack: their page is whole, and a panel whose metric is gone is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from signals.dashboards import boards
from signals.dashboards.inputs import BoardInputs
from stacks.contract import Contract
from tests.live import board_pictures
from tests.live.plumbline import OUT, query, smoke, until
from tests.live.pushes import changed, in_yaml
from tests.offline.smoke.report.browser import look, opened

if TYPE_CHECKING:
    from pathlib import Path

GONE: Final = "node_boot_time_seconds"
JOB: Final = "node-exporter"
FEWEST_PLOTS: Final = 30
"""Most panels are lines; of these, many have something to show on any stack."""


def test_page_opens_shows_plots_and_is_readable(tmp_path: Path) -> None:
    code, rows, output = smoke("--only", "boards.choices", "boards.answered", "--boards")
    assert code == 0, output
    contract = Contract.model_validate_json((OUT / "contract.json").read_text(encoding="utf-8"))
    own = boards(BoardInputs(rules=contract.rules))
    assert f"{sum(len(one.panels) for one in own)} panels" in rows["boards.answered"]["evidence"]
    with opened() as browser:
        seen = look(browser, OUT / "report.html", 1280)
        taken = board_pictures.take(browser, OUT / "report.html", tmp_path)
    assert seen.faults == ()
    assert seen.drawn >= FEWEST_PLOTS
    assert {path.stem for path in taken} == {one.uid for one in own}


def test_panel_whose_metric_is_gone_is_named() -> None:
    with changed("prometheus-config", "prometheus-0", in_yaml("prometheus.yml", _without)):
        until("it is gone", lambda: not query(GONE), 240)
        code, rows, _ = smoke("--only", "boards.answered", patience=1)
    assert code == 1
    evidence = str(rows["boards.answered"]["evidence"])
    named = [line.partition(": seen")[0] for line in evidence.splitlines() if ": seen" in line]
    assert "Node detail: Shortest uptime" in named
    assert all(title.startswith("Node detail: ") for title in named), evidence
    until("it is back", lambda: bool(query(GONE)), 240)
    code, _, output = smoke("--only", "boards.answered")
    assert code == 0, output


def _without(document: dict[str, Any]) -> None:
    (job,) = (one for one in document["scrape_configs"] if one["job_name"] == JOB)
    drop = {"source_labels": ["__name__"], "regex": GONE, "action": "drop"}
    job["metric_relabel_configs"] = [drop, *job.get("metric_relabel_configs", [])]
