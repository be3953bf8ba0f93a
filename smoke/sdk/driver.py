"""Calls one SDK as a training script does, and says what it logged. One file: the standard library and swanlab alone.

Run by any Python from 3.8 on that has the SDK under test: an environment made for it, an image of ours, or a team's
own training image into which this file is mounted. `python driver.py PLAN`: a JSON file, or `-` for stdin. Fields:
scenario (calls, values, roundtrip, second_init), project, run, seed, keys, width, steps, lines, result. With `result`,
a path, the result is written there after every stage, so that a hang leaves what was done until then; it is always
printed at the end as lines `PLUMBLINE-RESULT n/total base64`, zlib-compressed JSON. The key and the address come from
SWANLAB_API_KEY and SWANLAB_API_HOST alone, and the key is never written.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import importlib
import importlib.metadata
import json
import math
import os
import random
import re
import struct
import sys
import tempfile
import warnings
import wave
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MARKER = "PLUMBLINE-RESULT"
CHUNK = 8000
PRINTED_KEPT = 400
NEW_LINE = (0, 8)
KEPT_VARIABLES = ("SWANLAB_API_KEY", "SWANLAB_API_HOST", "SWANLAB_WEB_HOST")
URL = re.compile(r"/@([^/]+)/([^/]+)/runs/([^/?#]+)")
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SAMPLE_RATE = 8000
USAGE = 2
ODD = {"sentinel/nan": (math.nan, 1.0, math.nan), "sentinel/inf": (math.inf, -math.inf, 0.5)}
MEDIA = ("sentinel/image", "sentinel/audio", "sentinel/text")
MEDIA_STEPS = 2


class Tee:
    """A text stream that passes on and remembers: what the SDK prints is part of what is judged."""

    def __init__(self, stream: Any, kept: list[str]) -> None:  # noqa: ANN401  # any text stream
        """kept: list that gets every piece of text."""
        self._stream, self._kept = stream, kept

    def write(self, text: str) -> int:
        """Write to both; the number of characters, as any stream."""
        self._kept.append(text)
        return int(self._stream.write(text))

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever the stream has
        """All else is the stream's."""
        return getattr(self._stream, name)


class Record:
    """The result while it grows."""

    def __init__(self, plan: dict[str, Any], version: str, printed: list[str]) -> None:
        """plan: as read. version: of the installed SDK. printed: pieces of text, from the Tees."""
        self.plan, self.version, self.stage = plan, version, "begun"
        self.answers: dict[str, str] = {}
        self.runs: list[dict[str, Any]] = []
        self.raised: list[dict[str, str]] = []
        self.warned: list[warnings.WarningMessage] = []
        self._printed = printed

    @property
    def old(self) -> bool:
        """Whether the SDK is of the line before 0.8, which takes other arguments."""
        return tuple(int(part) for part in re.findall(r"\d+", self.version)[:2]) < NEW_LINE

    def reach(self, stage: str) -> None:
        """Say which stage was reached, and write it down."""
        self.stage = stage
        if self.plan["result"]:
            self.save(Path(self.plan["result"]))

    def fail(self, where: str, error: BaseException) -> None:
        """Keep an exception that the scenario did not ask for."""
        self.raised.append({"where": where, "type": type(error).__name__, "message": str(error)})

    def text(self) -> str:
        """The result as JSON, without the key."""
        printed = ANSI.sub("", "".join(self._printed)).splitlines()
        found = {
            "sdk": self.version,
            "scenario": self.plan["scenario"],
            "stage": self.stage,
            "answers": self.answers,
            "runs": self.runs,
            "raised": self.raised,
            "warnings": [str(one.message) for one in self.warned],
            "printed": [line.rstrip() for line in printed if line.strip()][-PRINTED_KEPT:],
        }
        key = os.environ.get("SWANLAB_API_KEY")
        text = json.dumps(found)
        return text.replace(key, "***") if key else text

    def save(self, path: Path) -> None:
        """Write the result to a file; a reader sees the old or the new one, never half of it."""
        new = path.with_name(path.name + ".new")
        new.write_text(self.text(), encoding="utf-8")
        new.replace(path)

    def emit(self, stream: Any) -> None:  # noqa: ANN401  # any text stream
        """Print the result in lines that no log collector cuts."""
        packed = base64.b64encode(zlib.compress(self.text().encode())).decode()
        parts = [packed[at : at + CHUNK] for at in range(0, len(packed), CHUNK)]
        for number, part in enumerate(parts, 1):
            stream.write(f"{MARKER} {number}/{len(parts)} {part}\n")
        stream.flush()


def isolate(directory: Path, *, old: bool) -> None:
    """Cut the SDK off from what lies on the machine: other settings, a home with credentials, a stray .env.

    directory: an empty one, which becomes the working directory.
    """
    for name in list(os.environ):
        if name.startswith("SWANLAB_") and name not in KEPT_VARIABLES:
            del os.environ[name]
    for name, part in (("HOME", "home"), ("SWANLAB_CONFIG_DIR", "etc"), ("SWANLAB_LOG_DIR", "swanlog")):
        (directory / part).mkdir()
        os.environ[name] = str(directory / part)
    os.environ["SWANLAB_SAVE_DIR"] = str(directory / "home" / ".swanlab")
    os.environ["SWANLAB_PROBE_MONITOR"] = "false"
    os.environ["COLUMNS"] = "1000"  # messages in one line each
    host = os.environ["SWANLAB_API_HOST"].rstrip("/")
    bare = host[: -len("/api")] if host.endswith("/api") else host
    # Before 0.8 the address is taken as it is; from 0.8 on the SDK cuts off any path and appends this one.
    os.environ["SWANLAB_API_HOST"] = bare + "/api" if old else bare
    os.environ.setdefault("SWANLAB_WEB_HOST", bare)
    os.chdir(directory)


def begin(swanlab: Any, record: Record, label: str, config: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401  # SDK
    """Start a run and write down where it is. Its record comes first: a run that hangs at birth is one, too."""
    plan = record.plan
    name = plan["run"] if label == "first" else f"{plan['run']}-{label}"
    kept: dict[str, Any] = {"label": label, "project": plan["project"], "name": name, "config": config}
    kept.update({"path": "", "id": "", "url": "", "logged": {}, "media": {}, "lines": [], "finished": False})
    record.runs.append(kept)
    more = {"name": name}
    if record.old:
        more = {"experiment_name": name, "settings": swanlab.Settings(hardware_monitor=False)}
    run = swanlab.init(project=plan["project"], config=config, tags=["plumbline-sentinel"], **more)
    kept["url"] = str(run.public.cloud.experiment_url if record.old else run.url)
    kept["id"] = str(run.id)
    found = URL.search(kept["url"])
    kept["path"] = "/".join(found.groups()) if found else ""
    record.reach(f"{label} run began")
    return kept


def end(swanlab: Any, record: Record, kept: dict[str, Any]) -> None:  # noqa: ANN401  # the SDK, a module
    """Finish the run. It may never come back; then the stage tells so."""
    record.reach(f"{kept['label']} run finishes")
    swanlab.finish()
    kept["finished"] = True
    record.reach(f"{kept['label']} run finished")


def log(swanlab: Any, kept: dict[str, Any], numbers: dict[str, float], step: int) -> None:  # noqa: ANN401  # SDK
    """Log plain numbers, and remember them."""
    swanlab.log(dict(numbers), step=step)
    for key, number in numbers.items():
        kept["logged"].setdefault(key, []).append([step, repr(float(number))])


def series(seed: int, key: str, count: int) -> list[float]:
    """`count` floats of many magnitudes, the same for the same seed and key."""
    source = random.Random(f"{seed}/{key}")  # noqa: S311  # repeatable, not secret
    return [math.ldexp(source.random() - 0.5, source.randrange(-30, 31)) for _ in range(count)]


def column(number: int, width: int) -> str:
    """Name of a key. width: its least length; each point repeats it, so that long names make large requests."""
    return f"sentinel/k{number}".ljust(width, "_")


def picture(seed: str) -> bytes:
    """A small PNG, made by hand: 16 by 16 pixels, RGB."""

    def part(kind: bytes, content: bytes) -> bytes:
        checked = kind + content
        return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked) & 0xFFFFFFFF)

    source = random.Random(f"{seed}/picture")  # noqa: S311  # repeatable, not secret
    rows = b"".join(b"\0" + bytes(source.randrange(256) for _ in range(48)) for _ in range(16))
    header = struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")


def sound(path: str, seed: str) -> None:
    """A tenth of a second of mono PCM in a WAV file."""
    source = random.Random(f"{seed}/sound")  # noqa: S311  # repeatable, not secret
    samples = [source.randrange(-20000, 20000) for _ in range(SAMPLE_RATE // 10)]
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(struct.pack(f"<{len(samples)}h", *samples))


def media(swanlab: Any, kept: dict[str, Any], seed: int, step: int) -> None:  # noqa: ANN401  # the SDK, a module
    """Log an image, a text and a sound. What counts are the bytes that the SDK makes of them: those it uploads."""
    Path(f"picture-{step}.png").write_bytes(picture(f"{seed}/{step}"))
    sound(f"sound-{step}.wav", f"{seed}/{step}")
    text = f"sentinel {seed}, step {step}: grüße, 数据, \U0001f9ea"
    image = swanlab.Image(f"picture-{step}.png", caption=f"picture {step}")
    audio = swanlab.Audio(f"sound-{step}.wav", caption=f"sound {step}")
    contents = {"sentinel/image": image.buffer.getvalue(), "sentinel/audio": audio.buffer.getvalue()}
    contents["sentinel/text"] = text.encode()
    items = {"sentinel/image": image, "sentinel/audio": audio, "sentinel/text": swanlab.Text(text)}
    swanlab.log(items, step=step)
    for key, content in contents.items():
        one = {"step": step, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        kept["media"].setdefault(key, []).append(one)


def roundtrip(swanlab: Any, record: Record) -> None:  # noqa: ANN401  # the SDK, a module
    """Everything that a training run sends: numbers by the thousand, odd numbers, files, settings, printed lines."""
    plan = record.plan
    seed, steps = plan["seed"], plan["steps"]
    config = {"seed": seed, "lr": 0.1, "batch": 32, "model": "sentinel", "nested": {"layers": [1, 2, 3]}}
    kept = begin(swanlab, record, "first", config)
    names = [column(number, plan["width"]) for number in range(plan["keys"])]
    columns = {key: series(seed, key, steps) for key in names}
    for step in range(steps):
        log(swanlab, kept, {key: numbers[step] for key, numbers in columns.items()}, step)
    for key, odd in ODD.items():
        for step, number in enumerate(odd):
            log(swanlab, kept, {key: number}, step)
    record.reach("numbers were logged")
    for step in range(MEDIA_STEPS):
        media(swanlab, kept, seed, step)
    record.reach("media were logged")
    for number in range(plan["lines"]):
        kept["lines"].append(f"sentinel {seed} line {number}")
        print(kept["lines"][-1])
    end(swanlab, record, kept)


def values(swanlab: Any, record: Record) -> None:  # noqa: ANN401  # the SDK, a module
    """Values and steps that SDKs treat differently, each under a key of its own in one run."""
    kept = begin(swanlab, record, "first", {})
    for step in range(3):
        odd: dict[str, Any] = {"values/text": "30/120", "values/duration": "3m 53s", "values/beside": step + 0.5}
        swanlab.log(odd, step=step)
        kept["logged"].setdefault("values/beside", []).append([step, repr(step + 0.5)])
    record.reach("text was logged")
    swanlab.log({"values/numeric": "0.5"}, step=0)
    swanlab.log({"values/nan": math.nan, "values/inf": math.inf, "values/minus_inf": -math.inf}, step=0)
    swanlab.log({"values/truth": True}, step=0)
    swanlab.log({"values": {"nested": {"leaf": 2.5}}}, step=0)
    swanlab.log({"values/duplicate": 1.0}, step=3)
    swanlab.log({"values/duplicate": 2.0}, step=3)
    swanlab.log({"values/negative": 7.0}, step=-1)
    for step in (5, 3, 4):
        swanlab.log({"values/disorder": float(step)}, step=step)
    log(swanlab, kept, {"values/end": 1.0}, 0)
    end(swanlab, record, kept)


def second_init(swanlab: Any, record: Record) -> None:  # noqa: ANN401  # the SDK, a module
    """Two runs, one after the other, in one process."""
    for label in ("first", "second"):
        kept = begin(swanlab, record, label, {})
        for step, number in enumerate(series(record.plan["seed"], label, record.plan["steps"])):
            log(swanlab, kept, {"sentinel/again": number}, step)
        end(swanlab, record, kept)


def calls(swanlab: Any, record: Record) -> None:  # noqa: ANN401  # the SDK, a module
    """Calls that need no run: what each returns, or the name of the exception."""
    key, host = os.environ["SWANLAB_API_KEY"], os.environ["SWANLAB_WEB_HOST"]
    asked: tuple[tuple[str, Callable[[], Any]], ...] = (
        ("get_run_without_run", swanlab.get_run),
        ("finish_without_run", swanlab.finish),
        ("log_without_run", lambda: swanlab.log({"sentinel/none": 1.0})),
        ("login_web_host", lambda: [swanlab.login(api_key=key, web_host=host)] and "accepted"),
    )
    for name, call in asked:
        try:
            record.answers[name] = str(call())
        except Exception as error:
            record.answers[name] = type(error).__name__
        record.reach(f"{name} was asked")


SCENARIOS = {"roundtrip": roundtrip, "values": values, "second_init": second_init, "calls": calls}
DEFAULTS: dict[str, Any] = {
    "run": "sentinel",
    "seed": 0,
    "keys": 4,
    "width": 0,
    "steps": 1000,
    "lines": 20,
    "result": "",
}


def read_plan(argument: str) -> dict[str, Any]:
    """The plan, checked: a wrong one must not look like a fault of the SDK."""
    found = json.loads(sys.stdin.read() if argument == "-" else Path(argument).read_text(encoding="utf-8"))
    unknown = sorted(set(found) - set(DEFAULTS) - {"scenario", "project"})
    if unknown or found.get("scenario") not in SCENARIOS or not found.get("project"):
        accepted = f"scenario (one of {', '.join(SCENARIOS)}), project, and optionally {', '.join(DEFAULTS)}"
        raise SystemExit(f"error: the plan {found} is not accepted; a plan has {accepted}")
    if found.get("result"):
        found["result"] = str(Path(found["result"]).absolute())
    return {**DEFAULTS, **found}


def perform(record: Record) -> None:
    """Import the SDK and play the scenario; whatever it raises is kept."""
    try:
        swanlab = importlib.import_module("swanlab")  # after its environment was made

        SCENARIOS[record.plan["scenario"]](swanlab, record)
        record.reach("done")
    except (Exception, SystemExit) as error:  # some versions end the process when a login fails
        record.fail(record.stage, error)
        record.reach("failed")


def main() -> None:
    """Play one scenario. Exit code 0 even if the SDK failed: that is a result, and the result says so."""
    if len(sys.argv) != USAGE:
        raise SystemExit("usage: driver.py PLAN, a JSON file or - for stdin")
    plan = read_plan(sys.argv[1])
    missing = [name for name in ("SWANLAB_API_KEY", "SWANLAB_API_HOST") if not os.environ.get(name)]
    if missing:
        raise SystemExit(f"error: {missing[0]} is not set; the driver takes key and address from there alone")
    printed: list[str] = []
    stdout = sys.stdout
    record = Record(plan, importlib.metadata.version("swanlab"), printed)
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="plumbline-sdk-")))
        record.warned = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        isolate(directory, old=record.old)
        sys.stdout, sys.stderr = Tee(sys.stdout, printed), Tee(sys.stderr, printed)
        perform(record)
        os.chdir("/")
    record.emit(stdout)


if __name__ == "__main__":
    main()
