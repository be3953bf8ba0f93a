"""What a drill starts: words of the program of restore points in the cluster, and smoke beside us."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cli import deploy, recovery, stackfile
from cli.drill_state import stamp
from cli.drill_writer import WINDOW, Writer
from cli.engine import ROOT
from sandbox.errors import SandboxError
from sandbox.process import ProgramError

if TYPE_CHECKING:
    from pathlib import Path

    from cli.clients import Kubectl
    from cli.drill_state import Book, State
    from cli.engine import Engine

Json = dict[str, Any]
GREEN, RED = 0, 1
ROLLOUT_SECONDS: Final = 600
PROGRAM_SECONDS: Final = 1800.0


@dataclass(frozen=True)
class Hands:
    """engine: of the source. book: where the drill's files are."""

    engine: Engine
    kubectl: Kubectl
    book: Book

    @property
    def contract(self) -> Path:
        """The source's contract as it was when the drill began: while the source is destroyed nobody else knows it."""
        return self.book.directory / "source.json"

    @property
    def judged(self) -> Path:
        """The verdict of the comparison."""
        return self.book.directory / "judged.json"

    def journal(self, state: State) -> Path:
        """Directory of what was written."""
        return self.book.directory / state.journal

    def word(self, promised: Json, *words: str) -> Json:
        """A word of the program, in the cluster of a contract; what it said. Raises SandboxError unless it is good."""
        job = promised["recovery"]["jobs"][recovery.PLACES[words[0]]]
        found = recovery.outcome_of(self.kubectl, job, words)
        if found.code != GREEN or not found.facts:
            told = found.facts.get("error") or json.dumps(found.facts)
            raise SandboxError(
                f"recovery {' '.join(words)} in {job['namespace']} ended with {found.code}: {told}",
                "read its words above, and docs/recovery.md",
            )
        return found.facts

    def await_programs(self, promised: Json) -> None:
        """Until all of SwanLab is ready: `promote` starts programs again, and nobody waits for them there."""
        lab = promised["components"]["swanlab"]
        for one in lab["workloads"]:
            name = f"{one['kind'].lower()}/{one['name']}"
            words = ("-n", lab["namespace"], "rollout", "status", name, f"--timeout={ROLLOUT_SECONDS}s")
            self.kubectl(*words, timeout=ROLLOUT_SECONDS + 60.0)

    def writer(self, state: State) -> Writer:
        """Who writes to the source until the disaster, started."""
        arguments = [*self._of_stack(self.contract), "--cache", str(self.engine.home.cache / "sdk")]
        return Writer(arguments, self._environment(), self.journal(state))

    def judge(self, state: State, restored: Path) -> int:
        """0 green, 1 red. restored: contract of the copy. Raises SandboxError where nothing could be compared."""
        self.judged.unlink(missing_ok=True)
        arguments = ["--source-contract", str(self.contract), "--journal", str(self.journal(state))]
        arguments += ["--disaster", stamp(float(state.disaster or 0.0)), "--out", str(self.judged)]
        arguments += ["--point-started", stamp(float(state.point_began or 0.0)), "--window", f"{WINDOW:.0f}"]
        code = self._program("judge", *self._of_stack(restored), *arguments)
        if code not in (GREEN, RED) or not self.judged.exists():
            raise SandboxError(
                f"smoke.drill judge ended with {code}: what was restored could not be compared",
                "read its words above; the same make drill goes on with the same restore point",
            )
        return code

    def clean(self, state: State) -> int:
        """Delete the drill's runs from the source. 0, also where nothing was written."""
        journal = self.journal(state)
        if not state.journal or not (journal / "journal.jsonl").exists():
            return GREEN
        return self._program("clean", *self._of_stack(self.contract), "--journal", str(journal))

    def smoke(self) -> int:
        """Whether the source is whole: exit code of the checks that change nothing."""
        deploy.forget_verdict(self.engine)
        return deploy.prove(self.engine, "smoke")

    def _of_stack(self, contract: Path) -> list[str]:
        kubeconfig = (stackfile.config(self.engine.config_file).get("plumbline:cluster") or {}).get("kubeconfig")
        return ["--contract", str(contract), *(["--kubeconfig", str(kubeconfig)] if kubeconfig else [])]

    def _environment(self) -> dict[str, str]:
        return self.engine.environment() | {"PYTHONPATH": str(ROOT)}

    def _program(self, *arguments: str) -> int:
        """In front of the user; its exit code."""
        argv = [sys.executable, "-m", "smoke.drill", *arguments]
        try:
            return subprocess.run(
                argv, cwd=ROOT, env=self._environment(), check=False, timeout=PROGRAM_SECONDS
            ).returncode
        except subprocess.TimeoutExpired as error:
            program = f"python -m smoke.drill {arguments[0]}"
            raise ProgramError([program], f"did not end within {PROGRAM_SECONDS:.0f} s", "") from error
