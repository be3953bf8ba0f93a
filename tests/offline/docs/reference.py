"""The reference pages and the index of runbooks, rendered from the code.

After a change of any of these: `python -m tests.offline.docs.reference --write`, then read the diff.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tests.offline.docs.markdown import ROOT
from tests.offline.docs.render_alerts import alerts, runbooks
from tests.offline.docs.render_contract import contract
from tests.offline.docs.render_policy import policy, xid
from tests.offline.docs.render_settings import settings
from tests.offline.docs.render_signals import checks, signals

if TYPE_CHECKING:
    from collections.abc import Callable

DIRECTORY = ROOT / "docs" / "reference"
NOTE = "<!-- Generated from the code by tests/offline/docs/reference.py; change the code, not this page. -->\n\n"
RUNBOOKS = "../runbooks/README.md"
"""The one generated page among pages that people write."""
PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings,
    "checks.md": checks,
    "signals.md": signals,
    "alerts.md": alerts,
    "contract.md": contract,
    "policy.md": policy,
    "xid.md": xid,
    RUNBOOKS: runbooks,
}


def rendered() -> dict[str, str]:
    """Path below docs/reference → text."""
    return {name: NOTE + render().rstrip() + "\n" for name, render in PAGES.items()}


def stale() -> list[str]:
    """Names of pages that are missing, differ from the code, or belong to nothing."""
    wanted = rendered()
    paths = {path.name: path for path in DIRECTORY.glob("*.md")} | {RUNBOOKS: DIRECTORY / RUNBOOKS}
    there = {name: path.read_text(encoding="utf-8") for name, path in paths.items() if path.exists()}
    return sorted(name for name in {*wanted, *there} if wanted.get(name) != there.get(name))


def main(arguments: list[str]) -> int:
    """`--write` writes all pages; without it, says which are stale (exit code 1)."""
    if arguments == ["--write"]:
        for name, text in rendered().items():
            (DIRECTORY / name).parent.mkdir(parents=True, exist_ok=True)
            (DIRECTORY / name).write_text(text, encoding="utf-8")
        return 0
    if arguments:
        print("usage: python -m tests.offline.docs.reference [--write]")
        return 2
    found = stale()
    print("\n".join(f"stale: docs/reference/{name}" for name in found) or "docs/reference is fresh")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
