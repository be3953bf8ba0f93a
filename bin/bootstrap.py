"""Makes the project's virtual environment once per lock file and prints the path of its Python.

Runs with the machine's own Python and its standard library alone, before anything of the project can be imported.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

MINIMUM = (3, 11)


def home() -> Path:
    """PLUMBLINE_HOME or its default (the same rule as sandbox/home.py, which cannot be imported yet)."""
    given = os.environ.get("PLUMBLINE_HOME")
    if given:
        if not Path(given).is_absolute():
            fail(f"PLUMBLINE_HOME is {given!r}, not an absolute path", "export it as an absolute path")
        return Path(given)
    if os.geteuid() == 0:
        return Path("/var/lib/plumbline")
    return Path.home() / ".local/share/plumbline"


def fail(what: str, remedy: str) -> None:
    """Say what is wrong and what to do, and exit."""
    sys.exit(f"error: {what}\n  next: {remedy}")


def build(target: Path, lock: Path) -> None:
    """Create the environment and install the hashed requirements; the mark is written last."""
    shutil.rmtree(target, ignore_errors=True)
    print("  ▸ Python packages (once per lock file)", file=sys.stderr, flush=True)
    made = subprocess.run([sys.executable, "-m", "venv", str(target)], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        fail(
            f"python3 -m venv does not work here: {made.stderr.strip() or made.stdout.strip()}",
            "install it (apt-get install python3-venv)",
        )
    pip = [str(target / "bin/python"), "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    arguments = [*pip, "--require-hashes", "--only-binary", ":all:", "-r", str(lock)]
    installed = subprocess.run(arguments, stdout=sys.stderr, check=False)  # our own stdout is the answer, nothing else
    if installed.returncode != 0:
        fail(
            "the Python packages cannot be installed (see pip's words above)",
            "check the network and pip's index settings, then run the same command again",
        )
    (target / ".complete").touch()


def main() -> None:
    """Print the environment's Python; build the environment first when it is missing or was left half made."""
    if sys.version_info < MINIMUM:
        fail(f"Python is {sys.version.split()[0]}; 3.11 or newer is needed", "install it and put it first on PATH")
    lock = Path(__file__).resolve().parent.parent / "requirements.lock"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    key = hashlib.sha256(lock.read_bytes() + version.encode() + sys.base_prefix.encode()).hexdigest()[:12]
    target = home() / "cache" / "venv" / f"py{version}-{key}"
    lock_file = target.parent / f".{target.name}.lock"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock_file.touch()
    except OSError as error:
        fail(f"{target.parent} cannot be written ({error.strerror})", "set PLUMBLINE_HOME to a writable directory")
    with lock_file.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if not (target / ".complete").exists():
            build(target, lock)
    print(target / "bin/python")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
