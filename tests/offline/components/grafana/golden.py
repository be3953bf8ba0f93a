"""Golden files of Grafana: with SQLite, with a database elsewhere, and for one that runs already, as YAML, in git.

After a wanted change: `python -m tests.offline.components.grafana.golden --write`, then read the diff.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from components.grafana.config import render
from components.grafana.existing import render as render_existing
from components.grafana.manifests import manifests
from components.objects import identity
from signals.yamltext import dump
from tests.offline.components.grafana.examples import ELSEWHERE, EXISTING, SQLITE

if TYPE_CHECKING:
    from components.objects import Manifest

GOLDEN: Final = Path(__file__).with_name("golden")
NAMES: Final = ("sqlite", "elsewhere", "existing")


def found(name: str) -> list[Manifest]:
    """Every manifest, sorted by kind, namespace and name. Secrets are made by the engine, and are not among them."""
    if name == "existing":
        return sorted(render_existing(EXISTING).manifests.values(), key=identity)
    args = {"sqlite": SQLITE, "elsewhere": ELSEWHERE}[name]
    return sorted(manifests(args, render(args)).values(), key=identity)


def rendered(name: str) -> str:
    """The same as text."""
    return "".join(f"---\n{dump(manifest)}" for manifest in found(name))


def path(name: str) -> Path:
    """Where a golden file lies."""
    return GOLDEN / f"{name}.yaml"


def main(arguments: list[str]) -> int:
    """`--write` regenerates all files; anything else explains how."""
    if arguments != ["--write"]:
        print(f"usage: python -m tests.offline.components.grafana.golden --write   (writes {GOLDEN}/*.yaml)")
        return 2
    GOLDEN.mkdir(exist_ok=True)
    for name in NAMES:
        path(name).write_text(rendered(name), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
