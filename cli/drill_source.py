"""The source of a drill with DESTROY=yes: what the disaster takes, what is kept, and the empty SwanLab after it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from cli import deploy, stackfile
from cli.drill_settings import OBJECT_STORE
from cli.drill_stack import MARK, UP, apply, gone, live
from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cli.clients import Kubectl
    from cli.drill_stack import Place
    from cli.engine import Engine

Json = dict[str, Any]
KEPT: Final = "plumbline-drill-kept-"
"""Begin of the names of Secrets in the stack's namespace that keep what the disaster must not take."""
NAME: Final = "plumbline/drill-name"
"""Annotation: how a kept Secret was called."""
_ACCOUNTS: Final = ("writer_secret", "reader_secret")


@dataclass(frozen=True)
class Source:
    """The stack that is destroyed and brought back. contract: its own, from before."""

    engine: Engine
    contract: Json
    kubectl: Kubectl

    def refuse(self) -> None:
        """Raises SandboxError for a stack that must not be destroyed, or not all of which a point brings back."""
        refuse_durable(self.engine)
        lost = list(self._lost())
        if lost:
            raise SandboxError(
                f"make drill DESTROY=yes would lose what no restore point of stack {self.engine.stack} brings back: "
                f"{'; '.join(lost)}",
                "run make drill without DESTROY",
            )

    def _lost(self) -> Iterator[str]:
        lab, wanted = self.contract["components"]["swanlab"], self.contract["recovery"]
        if lab["namespace"] in (None, self.contract["namespace"], wanted["namespace"]):
            yield f"SwanLab has no namespace of its own ({lab['namespace']})"
        stores = self.contract["experiments"]["stores"]
        yield from (
            f"store {name} is run by somebody else, at {stores[name]['place']}"
            for name in ("postgres", "clickhouse", "redis")
            if stores[name]["mode"] != "chart"
        )
        if stores["s3"]["mode"] == "chart":
            return
        if not self._own_objects():
            yield f"S3 is run by somebody else, at {stores['s3']['place']}"
            return
        used = stores["s3"]["place"].partition("/")[2].split(",")
        others = [one["name"] for one in self.contract["object_store"]["buckets"] if one["name"] not in used]
        yield from (f"bucket {name} of the object store is not SwanLab's" for name in others)
        if not wanted["own"] and _is_store(str(urlsplit(wanted["target"]).hostname), self.contract["namespace"]):
            yield f"the restore points themselves are in the object store, at {wanted['target']}"

    def _own_objects(self) -> bool:
        host = self.contract["experiments"]["stores"]["s3"]["place"].partition(":")[0]
        return OBJECT_STORE in self.contract["components"] and _is_store(host, self.contract["namespace"])

    def doomed(self) -> dict[str, str]:
        """`kind namespace/name` → uid of all that the disaster takes. Raises SandboxError if one is not there."""
        found = {}
        for kind, where, name in self._places():
            there = live(self.kubectl, kind, where, name)
            if there is None:
                raise SandboxError(
                    f"{kind} {where or ''}/{name} is not there, so the stack is not whole",
                    f"run make up STACK={self.engine.stack}, then drill again",
                )
            found[_text((kind, where, name))] = str(there["metadata"]["uid"])
        return found

    def _places(self) -> list[Place]:
        """What is run before where it keeps its data."""
        found: list[Place] = []
        if self.contract["experiments"]["stores"]["s3"]["mode"] != "chart":
            store, where = self.contract["components"][OBJECT_STORE], self.contract["namespace"]
            found += [(one["kind"].lower(), where, one["name"]) for one in store["workloads"]]
            found += [("persistentvolumeclaim", where, one["name"]) for one in store["claims"]]
        return [*found, ("namespace", None, self.contract["components"]["swanlab"]["namespace"])]

    def destroy(self, doomed: dict[str, str]) -> None:
        """Delete what was doomed, and nothing that was made since under the same name."""
        places = {place: doomed[_text(place)] for place in self._places()}
        for (kind, where, name), uid in places.items():
            there = live(self.kubectl, kind, where, name)
            if there is not None and there["metadata"]["uid"] == uid:
                within = ("-n", where) if where is not None else ()
                self.kubectl(*within, "delete", kind, name, "--wait=false", "--ignore-not-found")
        gone(self.kubectl, places)

    def keep(self) -> None:
        """Copy the Secrets that people and the activation made: the API key above all. The engine makes all others.

        In the cluster, so that no file holds them, and a drill that was killed finds them again.
        """
        lab, login = self.contract["components"]["swanlab"]["namespace"], self.contract["experiments"]["login"]["name"]
        found = {name: live(self.kubectl, "secret", lab, name) for name in self._named()}
        if found[login] is None:
            raise SandboxError(
                f"Secret {lab}/{login} with the API key is not there, so nobody could say whether it logs in after the "
                "restore",
                f"run make up STACK={self.engine.stack}, then drill again",
            )
        self.forget()
        apply(self.kubectl, [self._copy(one) for one in found.values() if one is not None])

    def _named(self) -> tuple[str, ...]:
        """Names of Secrets in SwanLab's namespace that the settings expect there."""
        settings = stackfile.config(self.engine.config_file)
        chart = (settings.get("plumbline:swanlab") or {}).get("chart") or {}
        target = (settings.get("plumbline:recovery") or {}).get("target") or {}
        accounts = [name for key, name in (target.get("external") or {}).items() if key in _ACCOUNTS]
        login = self.contract["experiments"]["login"]["name"]
        return tuple(dict.fromkeys((login, *chart.get("pull_secrets", ()), *accounts)))

    def _copy(self, secret: Json) -> Json:
        meta = secret["metadata"]
        kept = {
            "name": f"{KEPT}{meta['name']}",
            "namespace": self.contract["namespace"],
            "labels": {**(meta.get("labels") or {}), MARK: self.contract["namespace"]},
            "annotations": {NAME: meta["name"]},
        }
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": kept,
            "type": secret["type"],
            "data": secret.get("data") or {},
        }

    def give_back(self) -> None:
        """Put the kept Secrets where they were, in a namespace that is made for them."""
        lab = self.contract["components"]["swanlab"]["namespace"]
        kept = self._kept()
        if self.contract["experiments"]["login"]["name"] not in [_name(one) for one in kept]:
            raise SandboxError(
                f"no Secret {KEPT}… in namespace {self.contract['namespace']} keeps the API key that SwanLab had",
                f"run make up STACK={self.engine.stack} and bring the point back by hand (docs/recovery.md)",
            )
        items = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": lab}}]
        for one in kept:
            labels = {key: value for key, value in one["metadata"]["labels"].items() if key != MARK}
            meta = {"name": _name(one), "namespace": lab, "labels": labels}
            items.append(
                {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": one["type"], "data": one["data"]}
            )
        apply(self.kubectl, items)

    def _kept(self) -> list[Json]:
        words = ("-n", self.contract["namespace"], "get", "secrets", "-l", MARK, "-o", "json")
        return [one for one in json.loads(self.kubectl(*words))["items"] if one["metadata"]["name"].startswith(KEPT)]

    def forget(self) -> None:
        """Delete the copies."""
        self.kubectl("-n", self.contract["namespace"], "delete", "secrets", "-l", MARK, "--ignore-not-found")

    def hold(self, *, held: bool) -> None:
        """Whether the schedule makes no restore points: one of half a SwanLab would be the newest."""
        job = self.contract["recovery"]["jobs"]["create"]
        patch = json.dumps({"spec": {"suspend": held}})
        self.kubectl("-n", job["namespace"], "patch", "cronjob", job["name"], "--type=merge", "-p", patch)

    def up(self, directory: Path) -> Path:
        """Bring SwanLab up with empty stores; the contract."""
        self.engine.select()
        self.engine.unlock()
        code = self.engine.attached(*UP, "--stack", self.engine.stack)
        if code != 0:
            raise SandboxError(
                f"pulumi up failed with {code}, and SwanLab of stack {self.engine.stack} is destroyed",
                "read the engine's words above, then run make drill DESTROY=yes again: it goes on from here",
            )
        return deploy.write_contract(self.engine, directory)


def refuse_durable(engine: Engine) -> None:
    """Raises SandboxError for a stack whose data must outlive a mistake."""
    if deploy.is_durable(engine):
        raise SandboxError(
            f"make drill DESTROY=yes destroys SwanLab, and stack {engine.stack} is durable",
            "run make drill without DESTROY: it restores into a stack of its own and leaves this one alone",
        )


def _is_store(host: str, namespace: str) -> bool:
    short = f"{OBJECT_STORE}.{namespace}"
    return host in (short, f"{short}.svc", f"{short}.svc.cluster.local")


def _name(kept: Json) -> str:
    return str(kept["metadata"]["annotations"][NAME])


def _text(place: Place) -> str:
    kind, where, name = place
    return f"{kind} {where}/{name}" if where else f"{kind} {name}"
