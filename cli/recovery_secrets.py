"""`recovery-secrets`: Secrets of a restore point on a machine without the cluster, from a directory that was kept.

The directory is called a kit: where the bucket is, the reader's key, the private recovery key. Its files have fixed
names, so that nothing secret is an argument.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from cli.engine import ROOT
from cli.recovery_run import FAILED
from sandbox.cluster.layout import direct
from sandbox.errors import SandboxError

LATEST: Final = "latest-verified"
TARGET: Final = "target.json"
ACCESS_KEY: Final = "accessKey"
SECRET_KEY: Final = "secretKey"  # noqa: S105  # the name of a file
PRIVATE: Final = "recovery-key"
AUTHORITY: Final = "ca.crt"
SIGNING: Final = "signing-key"
FINGERPRINT: Final = "signing-key.sha256"
NEEDED: Final = (TARGET, ACCESS_KEY, SECRET_KEY, PRIVATE)


def recovery_secrets(kit: Path, into: Path, point: str) -> int:
    """Open what was sealed; exit code of the program, or FAILED for an incomplete kit. point: id, or LATEST.

    into: a directory that is made, mode 700, with one for each Secret.
    """
    try:
        return _opened(kit.expanduser().absolute(), into.expanduser().absolute(), point)
    except SandboxError as error:
        print(f"error: {error}", file=sys.stderr)
        return FAILED


def _opened(kit: Path, into: Path, point: str) -> int:
    missing = [name for name in NEEDED if not (kit / name).is_file()]
    if missing:
        raise SandboxError(
            f"recovery kit {kit} has no {', '.join(missing)}",
            f"a kit holds {', '.join(NEEDED)}: docs/recovery.md, the whole cluster is gone; name it with KIT=",
        )
    with tempfile.TemporaryDirectory() as directory:
        config = Path(directory) / "config.json"
        config.write_text(json.dumps({"target": target(kit)}), encoding="utf-8")
        environment = direct(os.environ) | {"PYTHONPATH": str(ROOT)}
        argv = [sys.executable, "-m", "recovery", *words(config, kit, into, point)]
        return subprocess.run(argv, cwd=ROOT, env=environment, check=False).returncode


def words(config: Path, kit: Path, into: Path, point: str) -> list[str]:
    """The command line of the program."""
    which = ["--latest-verified"] if point == LATEST else ["--point", point]
    places = ["--private", str(kit / PRIVATE), "--into", str(into)]
    return ["--config", str(config), "open-secrets", *which, *places]


def target(kit: Path) -> dict[str, Any]:
    """Section `target` of the program's configuration: what target.json says, and paths of the other files."""
    path = kit / TARGET
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise SandboxError(
            f"{path} is no JSON object",
            'write into it where the bucket is: {"endpoint": "https://…", "bucket": "…", "region": "…"}',
        )
    found["reader"] = {"access_key_file": str(kit / ACCESS_KEY), "secret_key_file": str(kit / SECRET_KEY)}
    if (kit / AUTHORITY).is_file():
        found["ca_file"] = str(kit / AUTHORITY)
    if (kit / SIGNING).is_file():
        found["signing_key_file"] = str(kit / SIGNING)
    if (kit / FINGERPRINT).is_file():
        # As `sha256sum` writes it: the name of a file stands behind it.
        words = (kit / FINGERPRINT).read_text(encoding="utf-8").split()
        found["signing_key_sha256"] = words[0] if words else ""
    return found
