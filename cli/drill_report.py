"""What a drill came to: figures beside the aims of the stack, for machines and for people."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from cli.drill_state import stamp

if TYPE_CHECKING:
    from pathlib import Path

    from cli.drill_state import State

Json = dict[str, Any]
FORMAT: Final = 1
GREEN, RED, FAILED = "green", "red", "failed"


def document(state: State, contract: Json, judged: Json, smoke: int) -> Json:
    """The report. judged: verdict of the comparison. smoke: exit code of the checks of the source afterwards."""
    wanted = contract["recovery"]
    aims = {"rpo": float(wanted["rpo_seconds"]), "rto": float(wanted["rto_seconds"])}
    measured = {"rpo": float(judged["rpo_seconds"]), "rto": state.spent}
    reasons = [*judged["reasons"], *_faults(state, judged, smoke)]
    reasons += [
        f"{name} was {measured[name]:.1f} s, and plumbline:recovery.{name} is {aim:.0f} s"
        for name, aim in aims.items()
        if measured[name] > aim
    ]
    return _begin(state) | {
        "verdict": RED if reasons else GREEN,
        "reasons": reasons,
        "rpo_seconds": measured["rpo"],
        "rpo_aim_seconds": aims["rpo"],
        "rto_seconds": measured["rto"],
        "rto_aim_seconds": aims["rto"],
        "smoke": smoke,
        "judged": judged,
    }


def _faults(state: State, judged: Json, smoke: int) -> list[str]:
    """Where nothing was compared a green comparison means nothing."""
    found = [] if state.verdict == 0 and judged["verdict"] == GREEN else ["the restored SwanLab was judged red"]
    found += [
        f"none of the {what} had to be in the restore point: nothing was proven about them"
        for what in ("values", "media")
        if not judged[f"{what}_expected_before_point"]
    ]
    return found if smoke == 0 else [*found, f"make smoke of the source ended with {smoke} after the drill"]


def failure(state: State, error: str) -> Json:
    """The report of a drill that came to no verdict."""
    return _begin(state) | {"verdict": FAILED, "reasons": [error]}


def _begin(state: State) -> Json:
    return {
        "format": FORMAT,
        "stack": state.source,
        "destroyed": state.destroy,
        "began": stamp(state.began),
        "phase": state.phase,
        "point": state.point,
        "mode": "online",
        "disaster": stamp(state.disaster) if state.disaster is not None else None,
        "attempts": state.attempts,
        "seconds": state.seconds,
    }


def write(path: Path, found: Json) -> None:
    """A reader sees all of it, or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    temporary.replace(path)


def table(found: Json) -> str:
    """For people."""
    judged = found["judged"]
    what = "SwanLab of the stack, destroyed" if found["destroyed"] else "a stack of its own, the source untouched"
    rows = [
        ("drill", f"{found['verdict']} ({what})"),
        ("restore point", f"{found['point']} ({found['mode']})"),
        ("RPO", _beside(found, "rpo")),
        ("RTO", f"{_beside(found, 'rto')}{_tried(found['attempts'])}"),
        *((name, _kept(judged, key)) for name, key in (("values", "values"), ("media files", "media"))),
        ("login", f"{'lets in' if judged['login'] else 'refused'}, {_key(judged)}"),
        ("make smoke", "green" if found["smoke"] == 0 else f"red ({found['smoke']})"),
        *((name, f"{seconds:.1f} s") for name, seconds in found["seconds"].items()),
    ]
    width = max(len(name) for name, _ in rows)
    return "\n".join(["", *(f"  {name:<{width}}  {text}" for name, text in rows), *_why(found["reasons"]), ""])


def _beside(found: Json, name: str) -> str:
    measured, aim = found[f"{name}_seconds"], found[f"{name}_aim_seconds"]
    return f"{measured:.1f} s, aim {aim:.0f} s: {'missed' if measured > aim else 'met'}"


def _tried(attempts: int) -> str:
    return "" if attempts == 1 else f", of {attempts} attempts"


def _kept(judged: Json, key: str) -> str:
    equal, acknowledged, lost = (judged[f"{key}_{part}"] for part in ("equal", "acknowledged", "lost"))
    return f"{equal} of {acknowledged} acknowledged are equal, {lost} lost"


def _key(judged: Json) -> str:
    return "the key is the old one" if judged["old_key"] else "and NOT with the old key"


def _why(reasons: list[str]) -> list[str]:
    return [f"  - {reason}" for reason in reasons]
