"""The stack of a drill: brought up beside the source, and taken down without a trace, however far it came."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import yaml

from cli import deploy
from cli.drill_settings import PRUNER, READER, STACK, WRITER, Target, derived, namespaces
from cli.engine import Engine
from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cli.clients import Kubectl
    from sandbox.progress import Progress

Json = dict[str, Any]
Place = tuple[str, str | None, str]
"""Kind, namespace and name of an object."""
MARK: Final = "plumbline/drill-of"
"""Label of every namespace and object that a drill makes by itself: the source's namespace. Nothing else is deleted."""
DOOR: Final = "plumbline-drill"
"""The NetworkPolicy that lets the drill's Jobs reach a target that the source runs itself."""
UP: Final = ("up", "--refresh", "--yes", "--skip-preview", "--suppress-outputs")
DOWN: Final = ("destroy", "--yes", "--skip-preview", "--suppress-outputs")
GONE_SECONDS: Final = 900.0
PAUSE_SECONDS: Final = 2.0
_MODE: Final = 0o600


@dataclass(frozen=True)
class DrillStack:
    """source: engine of the source. contract: the source's. directory: of what the drill writes."""

    source: Engine
    contract: Json
    kubectl: Kubectl
    directory: Path
    progress: Progress

    @property
    def engine(self) -> Engine:
        """The engine, on the source's backend."""
        return Engine(self.source.home, STACK, self.source.state)

    @property
    def namespaces(self) -> dict[str, str]:
        """Of this stack, by what is in them."""
        return namespaces(self.contract["namespace"])

    def up(self) -> Path:
        """Bring it up with empty stores; its contract. Raises SandboxError and ProgramError."""
        engine = self.engine
        engine.prepare()
        self._write_settings()
        self._make_namespaces()
        self._give_accounts()
        self._open_target()
        engine.select()
        engine.unlock()
        code = engine.attached(*UP, "--stack", STACK)
        if code != 0:
            raise SandboxError(
                f"pulumi up of the drill's stack failed with {code}",
                "read the engine's words above; the stack is taken down, and make drill goes on with the same point",
            )
        return deploy.write_contract(engine, self.directory)

    def take_down(self) -> None:
        """Take away what is there of it, and nothing else. Raises SandboxError with what stays."""
        engine = self.engine
        known = STACK in engine.stacks()
        there = [name for name in self.namespaces.values() if self._is_ours(name)]
        if not known and not there and not engine.config_file.exists():
            self._close_target()
            return
        with self.progress.step("taking the drill's stack down"):
            code = self._destroy() if known else 0
            self._delete_namespaces(there)
            self._close_target()
            if known:
                # What kept the engine from it the first time was in those namespaces.
                self._forget(self._destroy("--refresh") if code != 0 else 0)
            engine.config_file.unlink(missing_ok=True)

    def _destroy(self, *options: str) -> int:
        engine = self.engine
        if not engine.config_file.exists():
            _write(engine.config_file, {"config": {}})
        engine.unlock()
        return engine.attached(*DOWN, *options, "--stack", STACK)

    def _forget(self, code: int) -> None:
        if code != 0:
            raise SandboxError(
                f"pulumi destroy of the drill's stack failed with {code}, twice; what it could not delete is above",
                "make drill tries again, as the first thing that it does",
            )
        self.engine.capture("stack", "rm", STACK, "--yes", "--preserve-config")

    def _write_settings(self) -> None:
        """The engine's own keys are the source's: with them its encrypted settings can be read."""
        document = yaml.safe_load(self.source.config_file.read_text(encoding="utf-8"))
        wanted = self.contract["recovery"]
        target = Target(endpoint=wanted["target"], bucket=wanted["bucket"], region=wanted["region"])
        document["config"] = derived(document["config"], target, self._node_ports())
        _write(self.engine.config_file, document)

    def _node_ports(self) -> set[int]:
        """Those that others have; the drill's own may stay as it is."""
        listed = json.loads(self.kubectl("get", "services", "--all-namespaces", "-o", "json"))
        others = [one for one in listed["items"] if one["metadata"]["namespace"] not in self.namespaces.values()]
        return {
            int(port["nodePort"]) for one in others for port in one["spec"].get("ports") or [] if "nodePort" in port
        }

    def _make_namespaces(self) -> None:
        """Before the stack: Secrets that it asks for lie in them. It takes them over by server-side apply."""
        for name in self.namespaces.values():
            if self._live("namespace", name) is not None and not self._is_ours(name):
                raise SandboxError(
                    f"namespace {name} is there, and no drill made it (it has no label {MARK}={self._mark})",
                    "a drill deletes its namespaces, so it takes none of somebody else; move what is in it elsewhere",
                )
        self._apply(
            [
                {"apiVersion": "v1", "kind": "Namespace", "metadata": self._meta(name)}
                for name in self.namespaces.values()
            ]
        )

    def _give_accounts(self) -> None:
        """The reader's key as the source has it. The other two open nothing: whatever runs here can only read."""
        access, secret = self.contract["recovery"]["reader_access"], self.contract["recovery"]["reader_secret"]
        keys = {"accessKey": self._value(access), "secretKey": self._value(secret)}
        none = dict.fromkeys(keys, base64.b64encode(b"none").decode())
        lab, own = self.namespaces["swanlab"], self.namespaces["recovery"]
        wanted = ((READER, keys, (lab, own)), (WRITER, none, (lab, own)), (PRUNER, none, (own,)))
        self._apply(
            [
                {
                    "apiVersion": "v1",
                    "kind": "Secret",
                    "metadata": self._meta(name, where),
                    "type": "Opaque",
                    "data": data,
                }
                for name, data, places in wanted
                for where in places
            ]
        )

    def _value(self, ref: Json) -> str:
        """As the API server has it, in base64."""
        found = json.loads(self.kubectl("-n", ref["namespace"], "get", "secret", ref["name"], "-o", "json"))
        if ref["key"] not in (found.get("data") or {}):
            raise SandboxError(
                f"Secret {ref['namespace']}/{ref['name']} has no key {ref['key']}, with which the target is read",
                f"run make up STACK={self.source.stack}, then drill again",
            )
        return str(found["data"][ref["key"]])

    def _open_target(self) -> None:
        """A target of the source's own lets in its Jobs alone. Policies add up, and this one goes with the drill."""
        wanted = self.contract["recovery"]
        if not wanted["own"]:
            return
        endpoint = self.contract["components"]["recovery"]["endpoints"]["http"]
        service = json.loads(
            self.kubectl("-n", wanted["namespace"], "get", "service", endpoint["service"], "-o", "json")
        )
        port = next(one for one in service["spec"]["ports"] if one["port"] == endpoint["port"])
        who = {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.namespaces["swanlab"]}},
            "podSelector": {"matchLabels": {"app.kubernetes.io/name": wanted["jobs"]["restore"]["name"]}},
        }
        rule = {"from": [who], "ports": [{"protocol": "TCP", "port": port.get("targetPort", port["port"])}]}
        spec = {
            "podSelector": {"matchLabels": service["spec"]["selector"]},
            "ingress": [rule],
            "policyTypes": ["Ingress"],
        }
        kind = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy"}
        self._apply([{**kind, "metadata": self._meta(DOOR, wanted["namespace"]), "spec": spec}])

    def _close_target(self) -> None:
        where = self.contract["recovery"]["namespace"]
        self.kubectl("-n", where, "delete", "networkpolicy", DOOR, "--ignore-not-found")

    def _delete_namespaces(self, names: list[str]) -> None:
        for name in names:
            self.kubectl("delete", "namespace", name, "--wait=false", "--ignore-not-found")
        gone(self.kubectl, dict.fromkeys((("namespace", None, name) for name in names), None))

    def _is_ours(self, name: str) -> bool:
        found = self._live("namespace", name)
        return found is not None and (found["metadata"].get("labels") or {}).get(MARK) == self._mark

    def _live(self, kind: str, name: str) -> Json | None:
        return live(self.kubectl, kind, None, name)

    @property
    def _mark(self) -> str:
        return str(self.contract["namespace"])

    def _meta(self, name: str, namespace: str | None = None) -> Json:
        where = {"namespace": namespace} if namespace is not None else {}
        return {"name": name, **where, "labels": {MARK: self._mark}}

    def _apply(self, items: list[Json]) -> None:
        apply(self.kubectl, items)


def apply(kubectl: Kubectl, items: list[Json]) -> None:
    """By standard input: everybody on the machine can read arguments. Server-side, so that no copy is annotated."""
    words = ("apply", "--server-side", "--force-conflicts", "--field-manager=plumbline-drill", "-f", "-")
    kubectl(*words, stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


def live(kubectl: Kubectl, kind: str, namespace: str | None, name: str) -> Json | None:
    """An object as it is now, None if it is not there."""
    where = ("-n", namespace) if namespace is not None else ()
    printed = kubectl(*where, "get", kind, name, "--ignore-not-found", "-o", "json")
    found: Json | None = json.loads(printed) if printed.strip() else None
    return found


def gone(kubectl: Kubectl, objects: Mapping[Place, str | None]) -> None:
    """Wait until none of them is there. objects: place → uid, None for any; with another uid it is another object.

    Raises SandboxError with what holds them.
    """
    deadline = time.monotonic() + GONE_SECONDS
    while left := [place for place, uid in objects.items() if _is_there(kubectl, place, uid)]:
        if time.monotonic() >= deadline:
            names = ", ".join(" ".join(part for part in place if part) for place in left)
            raise SandboxError(
                f"{names} is still being deleted after {GONE_SECONDS:.0f} s: {_held(kubectl, left[0])}",
                "look what keeps it, then run the same make drill again",
            )
        time.sleep(PAUSE_SECONDS)


def _is_there(kubectl: Kubectl, place: Place, uid: str | None) -> bool:
    found = live(kubectl, *place)
    return found is not None and uid in (None, found["metadata"]["uid"])


def _held(kubectl: Kubectl, place: Place) -> str:
    found = live(kubectl, *place) or {}
    conditions = (found.get("status") or {}).get("conditions") or []
    told = [str(one.get("message")) for one in conditions if one.get("status") == "True"]
    return "; ".join([*told, f"finalizers {(found.get('metadata') or {}).get('finalizers') or []}"])


def _write(path: Path, document: Json) -> None:
    temporary = path.with_name(f".{path.name}.new")
    temporary.touch(mode=_MODE)
    temporary.write_text(yaml.safe_dump(document, sort_keys=True), encoding="utf-8")
    temporary.replace(path)
