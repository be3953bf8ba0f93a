"""A drill that failed leaves the words of pods that were not ready."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cli.drill_evidence import gather
from sandbox.process import ProgramError

if TYPE_CHECKING:
    from pathlib import Path


def pod(name: str, phase: str, ready: str) -> dict[str, Any]:
    """As the API server has it."""
    return {"metadata": {"name": name}, "status": {"phase": phase, "conditions": [{"type": "Ready", "status": ready}]}}


PODS = [
    pod("works", "Running", "True"),
    pod("crashes", "Running", "False"),
    pod("ended", "Succeeded", "False"),
    pod("failed", "Failed", "False"),
    {"metadata": {"name": "waits"}, "status": {"phase": "Pending"}},
]


def test_pods_that_are_not_ready_are_heard_and_no_secret_is_read(tmp_path: Path) -> None:
    def kubectl(*words: str, **_: object) -> str:
        assert "secret" not in " ".join(words)
        if words[2:4] == ("get", "pods"):
            return json.dumps({"items": PODS})
        if words[2:4] == ("logs", "waits"):
            raise ProgramError(["kubectl"], "exited with 1", "is waiting to start")
        return f"answer to {' '.join(words[2:4])}"

    gather(kubectl, ["a", "b"], tmp_path / "out" / "why.txt")  # type: ignore[arg-type]  # stands for kubectl
    text = (tmp_path / "out" / "why.txt").read_text()
    assert [name for name in ("works", "ended") if name in text] == []
    for name in ("crashes", "failed", "waits"):
        assert "answer to describe pod\n" in text
        assert f"$ kubectl -n b logs {name} --all-containers --prefix --tail=60" in text
    assert "is waiting to start" in text
    assert "$ kubectl -n a get events" in text


def test_cluster_that_does_not_answer_is_told(tmp_path: Path) -> None:
    def kubectl(*_: str, **__: object) -> str:
        raise ProgramError(["kubectl get:"], "exited with 1", "connection refused")

    gather(kubectl, ["a"], tmp_path / "why.txt")  # type: ignore[arg-type]  # stands for kubectl
    assert (tmp_path / "why.txt").read_text().count("connection refused") == 2
