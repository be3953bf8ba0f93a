"""The report: four files, one truth, nothing unescaped, nothing from outside the page."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as Xml

import pytest

from smoke import report
from smoke.model import Outcome, Run, Status

if TYPE_CHECKING:
    from pathlib import Path


def _outcome(
    check_id: str,
    status: Status,
    requirement: str = "B1",
    tier: str = "live",
    stand_ins: tuple[str, ...] = (),
    evidence: str = "",
    skip_reason: str = "",
) -> Outcome:
    return Outcome(
        id=check_id,
        requirement=requirement,
        claim=f"claim of {check_id}",
        tier=tier,
        impact="read",
        status=status,
        seconds=1.25,
        remedy="do this",
        stand_ins=stand_ins,
        evidence=evidence,
        skip_reason=skip_reason,
    )


@pytest.fixture
def run() -> Run:
    """A red run with one outcome of each kind."""
    return Run(
        stack="local",
        cluster_uid="uid-1",
        started="2026-01-01T00:00:00+00:00",
        seconds=12.0,
        impact="sentinel",
        versions={"kubernetes": "v1.34.4"},
        outcomes=[
            _outcome("a.passes", Status.PASS, "A1", evidence="all good"),
            _outcome("a.simulated", Status.PASS, "A1", tier="simulated", evidence="on it", stand_ins=("gpus",)),
            _outcome("b.passes", Status.PASS, evidence="fine", stand_ins=("gpus",)),
            _outcome("b.fails", Status.FAIL, evidence="<script>alert(1)</script> \x00\x1b[31m"),
            _outcome("c.left", Status.NOT_RUN, "C1", evidence="the run ended before it"),
            _outcome("d.skipped", Status.SKIP, "D1", skip_reason="no such capability"),
        ],
        faults=["expected checks did not run: c.left"],
        diagnostics={"log of pod p": "<b>last words</b>"},
    )


def test_four_files_are_written_and_old_ones_removed(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "new" / "directory"
    report.remove_old(out)
    report.write(run, out)
    assert sorted(path.name for path in out.iterdir()) == ["report.html", "report.json", "report.md", "report.xml"]
    report.remove_old(out)
    assert list(out.iterdir()) == []


def test_json_has_the_contracted_shape(run: Run, tmp_path: Path) -> None:
    report.write(run, tmp_path)
    document = json.loads((tmp_path / "report.json").read_text())
    assert {"verdict", "stack", "cluster_uid", "versions", "started", "checks"} <= document.keys()
    keys = [
        *("id", "requirement", "claim", "tier", "impact"),
        *("status", "seconds", "evidence", "remedy", "skip_reason", "stand_ins"),
        *("component", "conformance"),
    ]
    assert [list(check) for check in document["checks"]] == [keys] * 6
    assert document["verdict"] == "red"


def test_junit_counts_and_holds_what_xml_cannot(run: Run, tmp_path: Path) -> None:
    report.write(run, tmp_path)
    suite = Xml.parse(tmp_path / "report.xml").getroot()[0]  # noqa: S314  # our own file  # written a line above
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "7", "failures": "1", "errors": "2", "skipped": "1"}
    failure = suite.find("./testcase[@name='b.fails']/failure")
    assert failure is not None
    assert "what to do: do this" in str(failure.text)


def test_page_states_verdict_and_stand_ins_and_puts_failures_first(run: Run, tmp_path: Path) -> None:
    report.write(run, tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert "Stack local is red" in page
    assert "1 of 3 proven only on a stand-in (gpus 1), 1 in part (gpus)" in page
    order = [page.index(f"claim of {name}") for name in ("b.fails", "b.passes", "c.left", "a.passes", "d.skipped")]
    assert order == sorted(order)
    assert "no such capability" in page


def test_page_escapes_and_needs_nothing_from_outside(run: Run, tmp_path: Path) -> None:
    report.write(run, tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;b&gt;last words&lt;/b&gt;" in page
    assert not re.search(r"https?://|src=|@import|url\(", page)


def test_secret_in_a_fault_is_masked_everywhere(run: Run, tmp_path: Path) -> None:
    run.faults.append("pytest said password=hunter2")
    report.write(run, tmp_path)
    assert all("hunter2" not in path.read_text() for path in tmp_path.iterdir())


def test_failed_write_leaves_no_half_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        report.write(run, tmp_path)
    assert list(tmp_path.iterdir()) == []


PASSED = [_outcome("a", Status.PASS)]
NOT_GREEN = {
    "nothing ran": Run(),
    "a fault": Run(outcomes=PASSED, faults=["fault"]),
    "interrupted": Run(outcomes=PASSED, interrupted=True),
    "a failure": Run(outcomes=[*PASSED, _outcome("b", Status.FAIL)]),
    "something left out": Run(outcomes=[*PASSED, _outcome("b", Status.NOT_RUN)]),
    "only skips": Run(outcomes=[_outcome("a", Status.SKIP)]),
}


@pytest.mark.parametrize("kind", NOT_GREEN)
def test_green_needs_proof(kind: str) -> None:
    assert NOT_GREEN[kind].verdict == "red"


def test_declared_skip_beside_a_proof_is_green() -> None:
    assert Run(outcomes=[*PASSED, _outcome("b", Status.SKIP)]).verdict == "green"
