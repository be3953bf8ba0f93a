"""What a drill that failed leaves for whoever asks why: its stack is taken down, and its pods with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from sandbox.errors import SandboxError
from sandbox.process import ProgramError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from cli.clients import Kubectl

Json = dict[str, Any]
KINDS: Final = "pods,jobs,deployments,statefulsets,persistentvolumeclaims,services"
TAIL: Final = 60


def gather(kubectl: Kubectl, namespaces: Iterable[str], path: Path) -> None:
    """Write objects, events, and the words of pods that are not ready. No Secret is read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for namespace in namespaces:
            for words in _questions(kubectl, namespace):
                file.write(f"$ kubectl {' '.join(words)}\n{_ask(kubectl, *words)}\n\n")


def _questions(kubectl: Kubectl, namespace: str) -> Iterator[tuple[str, ...]]:
    here = ("-n", namespace)
    yield (*here, "get", KINDS, "-o", "wide")
    yield (*here, "get", "events", "--sort-by=.lastTimestamp")
    for pod in _unready(_ask(kubectl, *here, "get", "pods", "-o", "json")):
        yield (*here, "describe", "pod", pod)
        yield (*here, "logs", pod, "--all-containers", "--prefix", f"--tail={TAIL}")


def _unready(printed: str) -> Iterator[str]:
    """Names of pods that neither work nor have ended well; none where nobody could say."""
    try:
        pods: list[Json] = json.loads(printed)["items"]
    except (ValueError, KeyError, TypeError):
        return
    for pod in pods:
        status = pod.get("status") or {}
        ready = [one.get("status") for one in status.get("conditions") or [] if one.get("type") == "Ready"]
        if status.get("phase") != "Succeeded" and ready != ["True"]:
            yield str(pod["metadata"]["name"])


def _ask(kubectl: Kubectl, *words: str) -> str:
    """What was printed, or why nothing was: one question that fails must not keep the others."""
    try:
        return kubectl(*words)
    except (ProgramError, SandboxError) as error:
        return str(error)
