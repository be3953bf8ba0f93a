"""An isolated Python environment per locked SDK version, made once and kept in a cache that clones may share."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

LOCKS: Final = Path(__file__).parent / "locks"
# Published as source alone. They are built with the environment's own locked setuptools: pip's isolated builds take
# theirs from the index without a hash.
SOURCE_ONLY: Final = frozenset({"pwinput"})
INSTALL: Final = 900.0
OUTPUT_SHOWN: Final = 1500
UNREACHABLE: Final = ("Retrying (", "NewConnectionError", "ConnectTimeout", "NameResolutionError", "ProxyError")
MISMATCH: Final = "DO NOT MATCH THE HASHES"
MISSING: Final = "No matching distribution found"
NAME: Final = re.compile(r"\d+(\.\d+)+-[0-9a-f]{8}")
CREDENTIALS: Final = re.compile(r"//[^/@\s]+@")


class EnvironmentFailedError(Exception):
    """An environment cannot be made. The message says what to do next."""


@dataclass(frozen=True)
class Lock:
    """A hash-pinned closure. version: of the SDK. text: in pip's format."""

    version: str
    text: str

    @property
    def name(self) -> str:
        """Directory of its environment: another closure or another Python is another environment."""
        python = f"{sys.version_info.major}.{sys.version_info.minor} {sys.base_prefix}"
        return f"{self.version}-{hashlib.sha256(f'{self.text}{python}'.encode()).hexdigest()[:8]}"

    def split(self) -> tuple[str, str]:
        """Requirements that come as wheels, and those that come as source."""
        blocks = re.split(r"\n(?=[a-zA-Z0-9])", "\n".join(ln for ln in self.text.splitlines() if ln[:1] != "#"))
        source = [block for block in blocks if block.split("==", 1)[0].strip().lower() in SOURCE_ONLY]
        return "\n".join(block for block in blocks if block not in source), "\n".join(source)


def read_lock(version: str, locks: Path = LOCKS) -> Lock:
    """The closure of a version. Raises EnvironmentFailedError when there is none."""
    path = locks / f"{version}.txt"
    try:
        return Lock(version, path.read_text(encoding="utf-8"))
    except OSError as error:
        known = ", ".join(sorted(found.stem for found in locks.glob("*.txt")))
        raise EnvironmentFailedError(
            f"there is no lock of SDK {version} ({path}); locked are {known}\n"
            "  next: compile it as the head of another lock says, and describe the version in smoke/sdk_matrix.toml"
        ) from error


def ensure(lock: Lock, cache: Path, say: Callable[[str], None]) -> Path:
    """The Python of the environment, which is made if need be; whoever comes second waits for the first.

    cache: directory of environments, made if need be. say: prints one line of progress. Raises EnvironmentFailedError.
    """
    target = cache / lock.name
    python = target / "bin" / "python"
    with _locked(cache, lock.name, say):
        if not python.exists():
            begun = time.monotonic()
            say(f"SDK {lock.version}: installing it in an environment of its own (once per lock)")
            _make(lock, cache, target)
            say(f"SDK {lock.version}: installed in {time.monotonic() - begun:.0f} s")
    return python


def prune(cache: Path, keep: Collection[str]) -> list[str]:
    """Remove environments other than those named that no process makes just now; gives the names of the removed."""
    removed = []
    for found in sorted(cache.iterdir()) if cache.is_dir() else ():
        if not NAME.fullmatch(found.name) or found.name in keep:
            continue
        with (cache / f".{found.name}.lock").open("w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            shutil.rmtree(found)
            removed.append(found.name)
    return removed


def _make(lock: Lock, cache: Path, target: Path) -> None:
    # Made under another name and renamed last: what has its final name is whole.
    making = cache / f".{lock.name}.making"
    shutil.rmtree(making, ignore_errors=True)
    try:
        # Without a pip of its own: ours installs into it.
        venv = [sys.executable, "-m", "venv", "--without-pip", str(making)]
        _run(venv, f"an environment for SDK {lock.version} cannot be made")
        wheels, source = lock.split()
        _install(making, lock.version, "wheels", wheels, ["--only-binary", ":all:"])
        if source:
            _install(making, lock.version, "source", source, ["--no-build-isolation"])
        _run([*_pip(making), "check"], f"the lock of SDK {lock.version} is not whole")
        making.rename(target)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _install(making: Path, version: str, kind: str, requirements: str, options: Sequence[str]) -> None:
    listed = making / f"{kind}.txt"
    listed.write_text(f"{requirements}\n", encoding="utf-8")
    # The lock is the closure; what it consists of is installed in two calls, so neither may look for the rest.
    install = ["install", "--quiet", "--no-input", "--no-deps", "--require-hashes", *options, "-r", str(listed)]
    _run([*_pip(making), *install], f"the packages of SDK {version} cannot be installed")


def _pip(making: Path) -> list[str]:
    return [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(making / "bin" / "python")]


def _run(argv: Sequence[str], what: str) -> None:
    try:
        ended = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=INSTALL,
            check=False,
            env=_environment(os.environ),
        )
    except subprocess.TimeoutExpired as error:
        raise EnvironmentFailedError(
            f"{what} within {INSTALL:.0f} s\n  next: check the network, run it again"
        ) from error
    except OSError as error:
        raise EnvironmentFailedError(f"{what}: {argv[0]} cannot start ({error.strerror})") from error
    if ended.returncode != 0:
        output = CREDENTIALS.sub("//***@", f"{ended.stdout}\n{ended.stderr}".strip())
        raise EnvironmentFailedError(f"{what}: {_cause(output)}\n{output[-OUTPUT_SHOWN:]}")


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    """What the machine says of its index and proxies stays; what would let other packages in does not."""
    kept = {name: value for name, value in variables.items() if not name.startswith("PYTHON")}
    return kept | {"PYTHONNOUSERSITE": "1"}


def _cause(output: str) -> str:
    if any(sign in output for sign in UNREACHABLE):
        return "the package index cannot be reached\n  next: check the network and pip's settings of index and proxy"
    if MISMATCH in output:
        return "the index gives other files than the lock names\n  next: find out who changed them before you go on"
    if MISSING in output:
        return "the index lacks a locked version\n  next: use an index that has it, or compile the lock anew"
    return "pip's words follow"


@contextmanager
def _locked(cache: Path, name: str, say: Callable[[str], None]) -> Iterator[None]:
    try:
        cache.mkdir(parents=True, exist_ok=True)
        handle = (cache / f".{name}.lock").open("w")
    except OSError as error:
        raise EnvironmentFailedError(
            f"{cache} cannot be written ({error.strerror})\n  next: set PLUMBLINE_HOME to a writable directory"
        ) from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another process makes {name}; waiting for it")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
