"""The recovery key of the embedded stack, kept with its state: a person's machine and a cluster's are one here."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Final

from cli.engine import ROOT
from sandbox.cluster.layout import direct
from sandbox.process import run

if TYPE_CHECKING:
    from pathlib import Path

PRIVATE: Final = "recovery-key"
PUBLIC: Final = "recovery-key.pub"
_SECONDS: Final = 60.0


def public_key(state: Path) -> str:
    """The public half, made with the private one unless it is there. Both lie in the state directory.

    A private half alone is one that a killed run made: nothing was sealed for it yet, and another takes its place.
    """
    public = state / PUBLIC
    if not public.exists():
        private = state / PRIVATE
        private.unlink(missing_ok=True)
        argv = [sys.executable, "-m", "recovery", "--json", "keygen", "--private", str(private)]
        done = run(argv, timeout=_SECONDS, env=direct(os.environ) | {"PYTHONPATH": str(ROOT)}, cwd=ROOT)
        temporary = public.with_suffix(f".{os.getpid()}")
        temporary.write_text(str(json.loads(done.stdout)["public"]) + "\n", encoding="utf-8")
        temporary.replace(public)
    return public.read_text(encoding="utf-8").strip()
