"""Golden manifests: everything that each stack would create, as YAML, in git.

A change of code shows here as a change of objects, which is what reviewers and clusters care about. After a wanted
change: `python -m tests.offline.components.golden --write`, then read the diff.
"""

from __future__ import annotations

import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from components.grafana.names import BOARDS_CONFIG_MAP
from components.objects import identity
from signals.yamltext import dump
from stacks.bundle import plan
from tests.offline.stacks.examples import STACKS, existing, settings, write_images

GOLDEN = Path(__file__).with_name("golden")
EXISTING = "existing"
NAMES = (*STACKS, EXISTING)
"""Every stack, and stack staging as it is with a Prometheus that a team already runs."""


def rendered(stack: str) -> str:
    """All manifests of a stack as one YAML stream, sorted by kind, namespace and name."""
    with tempfile.TemporaryDirectory() as name:
        images = write_images(Path(name) / "images.json")
        decided = plan(existing("staging", images) if stack == EXISTING else settings(stack, images))
    return "".join(f"---\n{dump(shown(manifest))}" for manifest in sorted(decided.manifests(), key=identity))


def shown(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest as it is; of a board its length and hash alone: tests/offline/signals/board_files has the text."""
    if manifest["kind"] != "ConfigMap" or not manifest["metadata"]["name"].startswith(f"{BOARDS_CONFIG_MAP}-"):
        return manifest
    texts = {file: text.encode() for file, text in manifest["data"].items()}
    short = {file: f"{len(text)} bytes, sha256 {sha256(text).hexdigest()}" for file, text in texts.items()}
    return {**manifest, "data": short}


def path(stack: str) -> Path:
    """Where the golden file of a stack lies."""
    return GOLDEN / f"{stack}.yaml"


def manifests(stack: str) -> list[dict[str, object]]:
    """The objects of a golden file."""
    return list(yaml.safe_load_all(path(stack).read_text(encoding="utf-8")))


def main(arguments: list[str]) -> int:
    """`--write` regenerates all files; anything else explains how."""
    if arguments != ["--write"]:
        print(f"usage: python -m tests.offline.components.golden --write   (writes {GOLDEN}/*.yaml)")
        return 2
    GOLDEN.mkdir(exist_ok=True)
    for stack in NAMES:
        path(stack).write_text(rendered(stack), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
