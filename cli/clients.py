"""The pinned kubectl for one stack, whatever context is current."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cli import stackfile
from sandbox.cluster.layout import direct
from sandbox.process import ProgramError, run
from sandbox.programs.build import binary

if TYPE_CHECKING:
    from pathlib import Path

    from cli.engine import Engine

_KUBECTL_SECONDS: Final = 120.0


@dataclass(frozen=True)
class Kubectl:
    """kubectl of one stack. begin: program with its kubeconfig and context."""

    begin: tuple[str, ...]
    environment: dict[str, str]

    def __call__(self, *arguments: str, stdin: str | None = None, timeout: float = _KUBECTL_SECONDS) -> str:
        """What it printed. timeout: seconds. Raises ProgramError."""
        try:
            return run([*self.begin, *arguments], timeout=timeout, env=self.environment, stdin=stdin).stdout
        except ProgramError as error:  # arguments hold no secret, and without them nobody knows which call it was
            named = ProgramError((f"kubectl {shlex.join(arguments)}:",), str(error), "")
            named.output = error.output
            raise named from error

    def attached(self, *arguments: str) -> int:
        """Run it in front of the user; its exit code."""
        return subprocess.run([*self.begin, *arguments], env=self.environment, check=False).returncode


def kubectl_of(engine: Engine, contract: Path) -> Kubectl:
    """The pinned kubectl with the kubeconfig and context of the stack, whatever is current."""
    settings = stackfile.config(engine.config_file).get("plumbline:cluster") or {}
    kubeconfig = settings.get("kubeconfig")
    context = json.loads(contract.read_text())["cluster"]["context"]
    begin = [str(binary(engine.home, "kubectl")), f"--context={context}"]
    begin += [f"--kubeconfig={kubeconfig}"] if kubeconfig else []
    return Kubectl(tuple(begin), direct(os.environ))
