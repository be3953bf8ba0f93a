"""The Pulumi engine as every command of ours runs it: pinned programs, and for `local` a backend of its own."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sandbox.cluster.facts import read_process
from sandbox.cluster.layout import direct
from sandbox.errors import SandboxError
from sandbox.process import ProgramError, held_back, run
from sandbox.programs.build import binary, directory
from sandbox.programs.spec import catalogue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.home import Home

ROOT: Final = Path(__file__).resolve().parent.parent
EMBEDDED: Final = "local"
TIMEOUT: Final = 1800.0
SIGINT_PATIENCE: Final = 90.0
CONFIG_COMMANDS: Final = ("up", "update", "preview", "pre", "refresh", "destroy", "down", "dn", "config", "import")
SWITCHES: Final = (
    *("--non-interactive", "--logflow", "--logtostderr", "--disable-integrity-checking", "--help", "-h"),
    *("--emoji", "-e", "--fully-qualify-stack-names", "-Q", "--version"),
)


@dataclass(frozen=True)
class Engine:
    """A stack and where its state lies. `state` is the directory of the embedded cluster, None for other stacks."""

    home: Home
    stack: str
    state: Path | None

    @property
    def config_file(self) -> Path:
        """The stack file in force."""
        if self.state is not None:
            return self.state / f"Pulumi.{self.stack}.yaml"
        return ROOT / "stacks" / f"Pulumi.{self.stack}.yaml"

    def environment(self) -> dict[str, str]:
        """Environment of the engine: pinned programs first on PATH; no download, no prompt for a passphrase."""
        bins = [Path(sys.executable).parent, *self._program_directories()]
        env = direct(os.environ)
        env.update(
            PATH=os.pathsep.join((*map(str, bins), env.get("PATH", ""))),
            PULUMI_STACK=self.stack,  # without --stack the engine means the stack that this environment is of
            PULUMI_SKIP_UPDATE_CHECK="true",
            PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION="true",
            PULUMI_PYTHON_CMD=sys.executable,
            PYTHONDONTWRITEBYTECODE="1",
        )
        if self.state is not None:
            env.update(
                PULUMI_HOME=str(self.state / "pulumi-home"),
                PULUMI_BACKEND_URL=f"file://{self.state}/pulumi",
                PULUMI_CONFIG_PASSPHRASE_FILE=str(self.state / "passphrase"),
            )
            env.pop("PULUMI_CONFIG_PASSPHRASE", None)
            env.pop("PULUMI_ACCESS_TOKEN", None)
        return env

    def _program_directories(self) -> list[Path]:
        """A stack without telemetry has none of its linters built: whoever needs one says that it is missing."""
        names = ("pulumi-resource-kubernetes", "kubectl", "promtool", "amtool")
        linters = [directory(self.home, catalogue()[1][name]) / "bin" for name in ("otel-collector", "jaeger")]
        return [engine_directory(self.home), *(binary(self.home, name).parent for name in names), *linters]

    def argv(self, arguments: Sequence[str]) -> list[str]:
        """Command line of the engine. For `local`, commands that read the stack file are given the state's copy."""
        words = list(arguments)
        if (
            self.state is not None
            and takes_config_file(words)
            and not any(w.startswith("--config-file") for w in words)
        ):
            end = words.index("--") if "--" in words else len(words)  # what follows it is no option any more
            words[end:end] = ["--config-file", str(self.config_file)]
        return [str(engine_directory(self.home) / "pulumi"), *words]

    def capture(self, *arguments: str, check: bool = True) -> str:
        """Run a quick command and return its standard output."""
        argv = self.argv(("--non-interactive", *arguments))
        return run(argv, timeout=300, env=self.environment(), cwd=ROOT, check=check).stdout

    def attached(self, *arguments: str) -> int:
        """Run a command in front of the user and return its exit code.

        Ctrl-C reaches the engine itself, which then ends its work in order; we wait for it.
        """
        with held_back() as held:
            process = subprocess.Popen(self.argv(arguments), env=self.environment(), cwd=ROOT)
        try:
            for interrupt in held:
                interrupt()
            return process.wait(timeout=TIMEOUT)
        except KeyboardInterrupt:
            _await_cancelled(process)
            raise
        except subprocess.TimeoutExpired as error:
            process.send_signal(signal.SIGINT)
            _await_cancelled(process)
            raise ProgramError(self.argv(arguments), f"did not end within {TIMEOUT:.0f} s", "") from error

    def prepare(self) -> None:
        """Make what `local` needs once: provider plugin, passphrase, root secret, backend directory."""
        if self.state is None:
            return
        self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        provider = catalogue()[1]["pulumi-resource-kubernetes"]
        plugin = self.state / "pulumi-home" / "plugins" / f"resource-kubernetes-v{provider.version}"
        plugin.mkdir(parents=True, exist_ok=True)
        link = plugin / "pulumi-resource-kubernetes"
        target = binary(self.home, "pulumi-resource-kubernetes")
        if not link.is_symlink() or link.readlink() != target:
            link.unlink(missing_ok=True)
            link.symlink_to(target)
        (self.state / "pulumi").mkdir(exist_ok=True)
        deployed = any((self.state / "pulumi").rglob("*.json"))
        for name in ("passphrase", "root-secret"):
            if deployed and not (self.state / name).exists():
                raise SandboxError(
                    f"{self.state / name} is missing, and without it nothing that the stack keeps can be decrypted",
                    "put it back from a copy; or give the state up: make clean",
                )
            _write_secret_once(self.state / name)

    def stacks(self) -> set[str]:
        """Names of the stacks that the backend knows for this project."""
        listed: list[dict[str, Any]] = json.loads(self.capture("stack", "ls", "--json") or "[]")
        return {str(item["name"]).rsplit("/", 1)[-1] for item in listed}

    def select(self) -> None:
        """Create the stack in the backend unless it is there."""
        if self.stack in self.stacks():
            return
        if self.state is None:
            self.capture("stack", "init", self.stack)
            return
        # `stack init` knows no --config-file and writes a salt into the project's stack file: let it be another's.
        with tempfile.TemporaryDirectory() as directory:
            shutil.copy(ROOT / "Pulumi.yaml", directory)
            self.capture("--cwd", directory, "stack", "init", self.stack)

    def unlock(self) -> None:
        """Clear what a killed engine left: its lock, and operations whose outcome it did not record.

        Raises SandboxError while the engine that holds the lock lives: one typed by a person, or an orphan of a killed
        `make up` that still works.
        """
        if self.state is None:
            return
        locks = list((self.state / "pulumi" / ".pulumi" / "locks").rglob("*.json"))
        for lock in locks:
            holder = read_process(_lock_holder(lock))
            if holder is not None and holder.name == "pulumi":
                raise SandboxError(
                    f"another engine works on stack {self.stack}: process {holder.pid}",
                    "wait until it ends, then run this again",
                )
        if locks:
            self.capture("cancel", "--yes", "--stack", self.stack)
        exported = json.loads(self.capture("stack", "export", "--stack", self.stack))
        if (exported.get("deployment") or {}).get("pending_operations"):
            self.capture("refresh", "--yes", "--clear-pending-creates", "--skip-preview", "--stack", self.stack)


def engine_directory(home: Home) -> Path:
    """Engine and language host side by side, which is where the engine looks first; elsewhere it warns at every run.

    Hard links: the engine asks the kernel for its own place, and a symbolic link would be resolved.
    """
    host = binary(home, "pulumi-language-python").parent
    files = [binary(home, "pulumi"), *host.iterdir()]
    key = hashlib.sha256("\0".join(sorted(map(str, files))).encode()).hexdigest()[:12]
    target = home.cache / "engine" / key
    if not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(dir=target.parent))
        for file in files:
            (work / file.name).hardlink_to(file)
        with contextlib.suppress(OSError):  # another command of ours was faster
            work.rename(target)
        shutil.rmtree(work, ignore_errors=True)
    return target


def takes_config_file(arguments: Sequence[str]) -> bool:
    """Whether this engine command knows `--config-file`.

    As the engine does, an option before the command takes the next word as its value, unless it is a switch.
    """
    words = iter(arguments)
    for word in words:
        if not word.startswith("-"):
            return word in CONFIG_COMMANDS
        if "=" not in word and word not in SWITCHES and (word.startswith("--") or len(word) == len("-s")):
            next(words, None)
    return False


def engine_for(home: Home, stack: str) -> Engine:
    """The engine of a stack. PLUMBLINE_STATE names another state directory for `local` (default: `local`)."""
    if stack == EMBEDDED:
        return Engine(home, stack, home.state(os.environ.get("PLUMBLINE_STATE", EMBEDDED)))
    known = sorted(p.name.split(".")[1] for p in (ROOT / "stacks").glob("Pulumi.*.yaml"))
    if stack not in known:
        raise SandboxError(
            f"there is no stack {stack!r}", f"use one of: {', '.join(known)}; or write stacks/Pulumi.{stack}.yaml"
        )
    return Engine(home, stack, None)


def _lock_holder(lock: Path) -> int:
    """Process id in a lock file of the engine's file backend; 0, which no process has, when it is unreadable."""
    try:
        return int(json.loads(lock.read_text())["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def _await_cancelled(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(timeout=SIGINT_PATIENCE)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        process.kill()
        process.wait()


def _write_secret_once(path: Path) -> None:
    """32 random bytes in hex, readable by the owner alone. A half-written file cannot be: it is renamed when whole."""
    if path.exists():
        return
    temporary = path.with_suffix(".new")
    temporary.touch(mode=0o600)
    temporary.write_text(secrets.token_hex(32))
    temporary.replace(path)
