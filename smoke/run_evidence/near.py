"""What somebody may have meant."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

    from smoke.run_evidence.facts import Span
    from smoke.run_evidence.looking import Looking
    from smoke.run_evidence.read_logs import Logs

SHOWN: Final = 5


def near(word: str, known: Collection[str]) -> list[str]:
    """Those alike first; without any, some of those that there are."""
    return get_close_matches(word, known, SHOWN) or sorted(known)[:SHOWN]


def near_runs(look: Looking, run: str, span: Span, logs: Logs | None) -> list[str]:
    """Runs that pods or lines name."""
    known = set(look.ask("which runs there are", lambda: look.metrics.runs(span)) or [])
    known |= set((look.ask("which runs wrote lines", logs.runs, essential=False) or []) if logs else [])
    return near(run, known - {run})
