"""A cluster, an engine and programs for the drill: objects with uids, and a list of what happened in its order."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from cli import clients, deploy, drill, drill_hands, drill_run, drill_stack, recovery
from cli.drill_stack import DOOR
from cli.engine import Engine
from cli.recovery import Outcome
from sandbox.errors import SandboxError
from sandbox.process import ProgramError
from sandbox.programs import build
from tests.offline.cli.drill_facts import API_KEY, CONFIG, LOGIN, NEW, OBJECTS, POINT, SERVER, contract, judgement
from tests.offline.sandbox.fakes import silent

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.home import Home

Json = dict[str, Any]


class Killed(BaseException):
    """Stands for SIGKILL: nothing of ours runs after it."""


@dataclass
class World:
    """events: what happened. stop: begin of an event → what is raised when it comes, once. codes: event → exit code.

    waits: begin of an event → what lets time pass. silent_judge: it writes no verdict.
    """

    home: Home
    source: Json = field(default_factory=contract)
    judged: Json = field(default_factory=judgement)
    events: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    stop: dict[str, BaseException] = field(default_factory=dict)
    codes: dict[str, int] = field(default_factory=dict)
    stacks: set[str] = field(default_factory=lambda: {"local"})
    objects: dict[tuple[str, str | None, str], Json] = field(default_factory=dict)
    restored_key: str | None = None
    out: Path = Path()
    waits: dict[str, Callable[[], None]] = field(default_factory=dict)
    silent_judge: bool = False
    looked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._uids = count()
        for place, fields in OBJECTS.items():
            self.put(place, fields)
        self._swanlab()

    @property
    def state(self) -> Path:
        return self.home.state("local")

    def put(self, place: tuple[str, str | None, str], fields: Json) -> None:
        """As server-side apply does: labels are added, a new object has a uid of its own."""
        old = self.objects.get(place, {"metadata": {"uid": f"uid-{next(self._uids)}", "labels": {}}})
        given = dict(fields.get("metadata") or {})
        labels = {**(old["metadata"].get("labels") or {}), **(given.pop("labels", None) or {})}
        meta = {**old["metadata"], **given, "name": place[2], "namespace": place[1], "labels": labels}
        self.objects[place] = {**old, **fields, "metadata": meta}

    def _swanlab(self) -> None:
        self.put(SERVER, {})
        self.put(LOGIN, {"data": {"api-key": API_KEY}, "type": "Opaque"})

    def event(self, text: str) -> int:
        """Note it, stop there if the test wants it, else its exit code."""
        self.events.append(text)
        for wait in [wait for begin, wait in self.waits.items() if text.startswith(begin)]:
            wait()
        for begin in [begin for begin in self.stop if text.startswith(begin)]:
            raise self.stop.pop(begin)
        return self.codes.get(text, 0)

    def __call__(self, *arguments: str, stdin: str | None = None, timeout: float = 0.0) -> str:
        del timeout
        self.arguments += arguments
        words = list(arguments)
        where = None
        if words[0] == "-n":
            where, words = words[1], words[2:]
        verb = words[0]
        if verb == "apply":
            return self._apply(json.loads(stdin or "{}"))
        if verb in ("describe", "logs") or "wide" in words or "events" in words:
            return self._ask(words[1])
        if verb == "patch":
            self.event(f"{'hold' if json.loads(words[-1])['spec']['suspend'] else 'let go'} {words[2]}")
            return ""
        if verb == "rollout":
            self.event(f"rollout {where}")
            return ""
        return self._get(where, words[1:]) if verb == "get" else self._delete(where, words[1:])

    def _ask(self, what: str) -> str:
        """Of people: who is there to be looked at."""
        self.looked += sorted(name for kind, _, name in self.objects if kind == "namespace")
        return what

    def _apply(self, document: Json) -> str:
        kinds = sorted({item["kind"] for item in document["items"]})
        self.event(f"apply {' '.join(kinds)}")
        for item in document["items"]:
            meta = item["metadata"]
            if meta.get("namespace") is not None and ("namespace", None, meta["namespace"]) not in self.objects:
                raise ProgramError(["kubectl"], "exited with 1", f"namespace {meta['namespace']} not found")
            self.put((item["kind"].lower(), meta.get("namespace"), meta["name"]), item)
        return ""

    def _get(self, where: str | None, words: list[str]) -> str:
        kind = words[0]
        if kind.endswith("s"):
            label = words[words.index("-l") + 1] if "-l" in words else None
            found = [
                one
                for (k, w, _), one in self.objects.items()
                if k == kind[:-1] and where in (None, w) and (label is None or label in one["metadata"]["labels"])
            ]
            return json.dumps({"items": found})
        there = self.objects.get((kind, where, words[1]))
        if there is None and "--ignore-not-found" not in words:
            raise ProgramError(["kubectl"], "exited with 1", f"{kind} {words[1]} not found")
        return json.dumps(there) if there is not None else ""

    def _delete(self, where: str | None, words: list[str]) -> str:
        kind = words[0]
        if "-l" in words:
            label = words[words.index("-l") + 1]
            for place in [p for p in self.objects if f"{p[0]}s" == kind and p[1] == where]:
                if label in self.objects[place]["metadata"]["labels"]:
                    del self.objects[place]
            return ""
        if (kind, where, words[1]) in self.objects:
            self.event(f"delete {kind} {words[1]}")
            del self.objects[kind, where, words[1]]
            for place in [p for p in self.objects if kind == "namespace" and p[1] == words[1]]:
                del self.objects[place]
        return ""

    def attached(self, engine: Engine, *words: str) -> int:
        self.arguments += words
        code = self.event(
            f"{words[0]} {engine.stack}{' --refresh' if words[0] == 'destroy' and '--refresh' in words else ''}"
        )
        if words[0] == "up":
            self.stacks.add(engine.stack)
            if engine.stack == "drill":
                assert yaml.safe_load(engine.config_file.read_text())["encryptionsalt"] == "v1:salt"
                self.put(("clusterrole", None, NEW), {})
            elif code == 0:
                self.put(("namespace", None, "plumbline-swanlab"), {})
                self.put(("statefulset", "plumbline", "object-store"), {})
                self.put(("persistentvolumeclaim", "plumbline", "object-store"), {})
                self.put(SERVER, {})
        elif code == 0:
            self.objects.pop(("clusterrole", None, NEW), None)
        return code

    def capture(self, engine: Engine, *words: str) -> str:
        self.arguments += words
        self.event(f"{' '.join(words[:2])} {engine.stack}")
        self.stacks.discard(words[2])
        return ""

    def outcome(self, _: object, job: Json, words: tuple[str, ...]) -> Outcome:
        self.arguments += words
        code = self.event(f"{words[0]} {job['namespace']}")
        if words[0] == "restore":
            assert words[1:] == ("--point", POINT)
        return Outcome(code, {"code": code, "point": POINT})

    def program(self, hands: drill_hands.Hands, *words: str) -> int:
        self.arguments += words
        code = self.event(words[0])
        if words[0] == "judge":
            key = self.objects.get(LOGIN, {}).get("data", {}).get("api-key")
            self.restored_key = key
            if code in (0, 1) and not self.silent_judge:
                hands.judged.write_text(json.dumps(self.judged))
        return code

    def contract_of(self, engine: Engine, out: Path) -> Path:
        out.mkdir(parents=True, exist_ok=True)
        path = out / "contract.json"
        path.write_text(json.dumps(contract(NEW) if engine.stack == "drill" else self.source))
        return path

    def remains(self) -> list[str]:
        """What a drill must not leave behind."""
        found = [name or "" for kind, where, name in self.objects if NEW in (where or "", name) or name.startswith(NEW)]
        found += [name for kind, _, name in self.objects if name == DOOR]
        found += [stack for stack in self.stacks if stack == "drill"]
        return found + [path.name for path in self.state.glob("Pulumi.drill.yaml")]


class FakeWriter:
    """Writes while nobody ends it."""

    pid = 2**22 + 1

    def __init__(self, world: World, journal: Path) -> None:
        self.world = world
        world.event("write")
        journal.mkdir()
        (journal / "journal.jsonl").touch()

    def await_lead(self) -> None:
        self.world.event("lead")

    def demand_live(self, since: float, now: float) -> None:
        assert since <= now
        self.world.event("live")

    def end(self) -> None:
        self.world.event("end of writer")


def install(monkeypatch: pytest.MonkeyPatch, world: World, checkout: Path) -> None:
    """Put the world where the real ones would be."""
    world.state.mkdir(parents=True)
    world.out = checkout / ".out" / "local"
    (world.state / "Pulumi.local.yaml").write_text(yaml.safe_dump(CONFIG))
    monkeypatch.setattr(deploy, "ROOT", checkout)
    monkeypatch.setattr(deploy, "guard", lambda *_: nullcontext())
    monkeypatch.setattr(deploy, "require_running", lambda _: None)
    monkeypatch.setattr(deploy, "write_contract", world.contract_of)
    monkeypatch.setattr(deploy, "prove", lambda *_: world.event("smoke"))
    monkeypatch.setattr(build, "ensure", lambda *_: None)
    monkeypatch.setattr(clients, "kubectl_of", lambda *_: world)
    monkeypatch.setattr(recovery, "outcome_of", world.outcome)
    monkeypatch.setattr(drill_stack, "GONE_SECONDS", 0.3)
    monkeypatch.setattr(drill_stack, "PAUSE_SECONDS", 0.0)

    # Functions, since a bound method as an attribute of a class is not given the object.
    def attached(engine: Engine, *words: str) -> int:
        return world.attached(engine, *words)

    def program(hands: drill_hands.Hands, *words: str) -> int:
        return world.program(hands, *words)

    monkeypatch.setattr(Engine, "attached", attached)
    monkeypatch.setattr(Engine, "capture", lambda engine, *words, **_: world.capture(engine, *words))
    monkeypatch.setattr(Engine, "stacks", lambda _: set(world.stacks))
    for name in ("prepare", "select", "unlock"):
        monkeypatch.setattr(Engine, name, lambda _: None)
    monkeypatch.setattr(drill_hands.Hands, "_program", program)
    monkeypatch.setattr(drill_hands.Hands, "writer", lambda hands, state: FakeWriter(world, hands.journal(state)))


def broken() -> SandboxError:
    """A failure that a user can act on."""
    return SandboxError("it broke", "mend it")


def run(world: World, *, destroy: bool = False) -> int:
    """`make drill`."""
    return drill.drill(world.home, "local", silent()[0], destroy=destroy)


def report(world: World) -> Json:
    """The report that machines read."""
    found: Json = json.loads((world.out / "drill.json").read_text())
    return found


def kill(world: World, monkeypatch: pytest.MonkeyPatch, event: str, *, destroy: bool) -> None:
    """A drill that ends like under SIGKILL when `event` comes."""
    with monkeypatch.context() as patch:
        patch.setattr(drill_run.Drill, "_leave", lambda *_, **__: None)
        patch.setattr(FakeWriter, "end", lambda _: None)
        world.stop[event] = Killed()
        with pytest.raises(Killed):
            run(world, destroy=destroy)
