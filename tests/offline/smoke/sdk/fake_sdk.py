"""A module that stands where swanlab would, written into a directory, and a Python that sees it.

It keeps every call in `calls.jsonl` beside itself. What it does wrong is chosen by the file `fault`.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
import io, json, os, pathlib, time, warnings
HERE = pathlib.Path(__file__).parent.parent
FAULT = (HERE / "fault").read_text() if (HERE / "fault").exists() else ""
OLD = {old!r}
BEGUN = []

def note(call, **more):
    with (HERE / "calls.jsonl").open("a") as file:
        file.write(json.dumps({{"call": call, **more}}) + "\\n")

note("import", env={{k: v for k, v in os.environ.items() if k.startswith(("SWANLAB", "HOME"))}}, cwd=os.getcwd())
if FAULT == "import":
    raise ImportError("no libsndfile")

class Media:
    def __init__(self, value, caption=None):
        self.value = value
        self.buffer = io.BytesIO(b"made of " + pathlib.Path(value).read_bytes()) if os.path.exists(value) else None

Image = Audio = Text = Media

class Settings:
    def __init__(self, hardware_monitor):
        self.hardware_monitor = hardware_monitor

class Run:
    def __init__(self, name):
        self.id = "id-" + name
        self.url = os.environ["SWANLAB_WEB_HOST"] + "/@alice/p/runs/" + self.id
        self.public = self.cloud = self
        self.experiment_url = self.url

def init(**given):
    settings = given.pop("settings", None)
    note("init", given=given, monitor=settings and settings.hardware_monitor)
    BEGUN.append(given)
    if FAULT == "init":
        raise RuntimeError("refused for key " + os.environ["SWANLAB_API_KEY"])
    if FAULT == "exit":
        raise SystemExit(3)
    warnings.warn("old server")
    print("\\033[31mswanlab: begun\\033[0m")
    return Run(given.get("experiment_name" if OLD else "name"))

def log(data, step=None):
    if not BEGUN:
        raise RuntimeError("no run")
    told = {{k: repr(v) if isinstance(v, (float, int, str, dict)) else v.value for k, v in data.items()}}
    note("log", data=told, step=step)

def finish():
    note("finish")
    if FAULT == "hang":
        (HERE / "hangs").touch()
        time.sleep(600)

def get_run():
    raise RuntimeError("no run")

def login(api_key):
    note("login")
"""


class FakeSdk:
    """The module of one version, in a directory of the test's."""

    def __init__(self, directory: Path, version: str) -> None:
        self.directory = directory
        self.version = version
        (directory / "swanlab").mkdir(parents=True)
        source = SOURCE.format(old=version.startswith("0.7"))
        (directory / "swanlab" / "__init__.py").write_text(source, encoding="utf-8")
        info = directory / f"swanlab-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: swanlab\nVersion: {version}\n", encoding="utf-8")

    @property
    def python(self) -> Path:
        """A program that is called as an environment's Python is."""
        path = self.directory / "python"
        # -I would hide the module; everything else is passed on.
        path.write_text(
            f'#!/bin/sh\n[ "$1 $2" = "-u -I" ] || exit 9\nshift 2\n'
            f'PYTHONPATH="{self.directory}" exec "{sys.executable}" -u "$@"\n',
            encoding="utf-8",
        )
        path.chmod(0o755)
        return path

    def fail(self, how: str) -> None:
        """Choose what goes wrong: import, init, exit, hang."""
        (self.directory / "fault").write_text(how, encoding="utf-8")

    def wait_for_hang(self) -> None:
        """Return once finish() was called and will not come back."""
        while not (self.directory / "hangs").exists():
            time.sleep(0.02)

    def calls(self, name: str) -> list[dict[str, Any]]:
        """Calls of that name, in order."""
        lines = (self.directory / "calls.jsonl").read_text(encoding="utf-8").splitlines()
        return [call for call in map(json.loads, lines) if call["call"] == name]
