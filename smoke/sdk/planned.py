"""How much a plan makes a driver log. One that logs less proves less, although all of it may come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smoke.sdk.driver import DEFAULTS, MEDIA, MEDIA_STEPS, ODD, column

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smoke.sdk.model import LoggedRun


def short(plan: Mapping[str, Any], run: LoggedRun) -> tuple[str, ...]:
    """What a run lacks of what its plan asks for, in words; empty if nothing. plan: as the driver takes it."""
    whole = {**DEFAULTS, **plan}
    lines = whole["lines"] if whole["scenario"] == "roundtrip" else 0
    amounts = [(f"points of {key}", len(run.logged.get(key, ())), wanted) for key, wanted in points(whole).items()]
    amounts += [(f"files of {key}", len(run.media.get(key, ())), wanted) for key, wanted in files(whole).items()]
    amounts += [("lines", len(run.lines), lines)]
    return tuple(f"{seen} {what} were logged, planned were {wanted}" for what, seen, wanted in amounts if seen < wanted)


def points(plan: Mapping[str, Any]) -> dict[str, int]:
    """Key → how many numbers each run of a whole plan logs and remembers."""
    scenario, steps = plan["scenario"], plan["steps"]
    if scenario == "roundtrip":
        plain = {column(number, plan["width"]): steps for number in range(plan["keys"])}
        return plain | {key: len(values) for key, values in ODD.items()}
    return {"second_init": {"sentinel/again": steps}, "values": {"values/beside": 3, "values/end": 1}}.get(scenario, {})


def files(plan: Mapping[str, Any]) -> dict[str, int]:
    """Key → how many files the run of a whole plan logs."""
    return dict.fromkeys(MEDIA, MEDIA_STEPS) if plan["scenario"] == "roundtrip" else {}
