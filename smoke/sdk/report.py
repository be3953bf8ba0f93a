"""The result of a regression of SDKs as a table for people and as JSON for programs."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from smoke.sdk.model import Matrix, Outcome, Verdict
    from stacks.contract import Contract

NAME = "sdk-regression.json"


def subject(contract: Contract) -> str:
    """What was asked: the real server or a stand-in, with its images. A stand-in proves the SDK's half alone."""
    component = contract.components.get("swanlab")
    if component is None:
        return "SwanLab of unknown make"
    images = sorted({image.reference for workload in component.workloads for image in workload.images})
    kind = "a stand-in of SwanLab's servers (simulated)" if component.tier == "simulated" else "SwanLab's own servers"
    return f"{kind}: {', '.join(images) or 'images unknown'}"


def table(matrix: Matrix, outcome: Outcome) -> str:
    """Versions down, scenarios across would be too wide: scenarios down. `seen ≠ expected` where they differ."""
    versions = [version for version in matrix.versions if any(one.version == version for one in outcome.verdicts)]
    cells = {(one.scenario, one.version): _cell(one) for one in outcome.verdicts}
    rows = [["scenario", *versions]]
    rows += [[one.name, *(cells.get((one.name, version), "-") for version in versions)] for one in matrix.scenarios]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(lines)


def words(outcome: Outcome) -> str:
    """What is not as expected, one paragraph each, and the verdict."""
    lines = [f"✗ {fault}" for fault in outcome.faults]
    for one in outcome.verdicts:
        if not one.right:
            lines.append(
                f"✗ SDK {one.version} {one.scenario}: seen {one.seen.outcome}, expected {one.expected.outcome}"
            )
            lines += [f"    {difference}" for difference in one.seen.differences]
            lines.append(f"    expected by {one.expected.source}")
    right = sum(one.right for one in outcome.verdicts)
    verdict = "interrupted" if outcome.interrupted else "GREEN" if outcome.green else "RED"
    return "\n".join([*lines, f"{verdict}: {right} of {len(outcome.verdicts)} answers as expected"])


def as_json(outcome: Outcome) -> dict[str, Any]:
    """The whole of it."""
    return {
        "subject": outcome.subject,
        "green": outcome.green,
        "interrupted": outcome.interrupted,
        "faults": list(outcome.faults),
        "answers": [
            {
                "sdk": one.version,
                "scenario": one.scenario,
                "expected": one.expected.outcome,
                "source": one.expected.source,
                "seen": one.seen.outcome,
                "right": one.right,
                "differences": list(one.seen.differences),
            }
            for one in outcome.verdicts
        ],
    }


def write(outcome: Outcome, out: Path) -> Path:
    """Write `sdk-regression.json` into a directory; a reader sees the old or the new one."""
    out.mkdir(parents=True, exist_ok=True)
    target = out / NAME
    new = target.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps(as_json(outcome), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    new.replace(target)
    return target


def _cell(verdict: Verdict) -> str:
    if verdict.right:
        return f"✓ {verdict.seen.outcome}"
    return f"✗ {verdict.seen.outcome} ≠ {verdict.expected.outcome}"
