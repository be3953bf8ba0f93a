"""Golden files of SwanLab: objects around the release and the values of its chart, as YAML, in git.

After a wanted change: `python -m tests.offline.components.swanlab.golden --write`, then read the diff.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from components.objects import identity
from components.swanlab.manifests import manifests
from components.swanlab.values import values
from signals.yamltext import dump
from tests.offline.components.swanlab import examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from components.swanlab.args import SwanlabArgs

GOLDEN: Final = Path(__file__).with_name("golden")
NAMES: Final[dict[str, Callable[[], SwanlabArgs]]] = {
    "local": examples.local,
    "whole": examples.whole,
    "elsewhere": examples.elsewhere,
}


def rendered(name: str) -> str:
    """The values first, then every manifest, sorted by kind, namespace and name."""
    args = NAMES[name]()
    documents = [values(args), *sorted(manifests(args).values(), key=identity)]
    return "".join(f"---\n{dump(document)}" for document in documents)


def path(name: str) -> Path:
    """Where a golden file lies."""
    return GOLDEN / f"{name}.yaml"


def main(arguments: list[str]) -> int:
    """`--write` regenerates all files; anything else explains how."""
    if arguments != ["--write"]:
        print(f"usage: python -m tests.offline.components.swanlab.golden --write   (writes {GOLDEN}/*.yaml)")
        return 2
    GOLDEN.mkdir(exist_ok=True)
    for name in NAMES:
        path(name).write_text(rendered(name), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
