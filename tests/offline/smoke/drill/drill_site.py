"""A source and a restored SwanLab in a world of stand-ins, and the commands as a drill calls them."""

from __future__ import annotations

import base64
import json
import time
from typing import TYPE_CHECKING, Any

from smoke.drill.journal_reader import read
from smoke.drill.main import main
from smoke.drill.times import stamp
from tests.offline.smoke.lab import BASE, SPACE

if TYPE_CHECKING:
    from pathlib import Path

    from smoke.drill.model import Journal
    from tests.offline.smoke.drill.written import WrittenSwanLab
    from tests.offline.smoke.fake_swanlab import Answer, Request
    from tests.offline.smoke.lab import Lab

Json = dict[str, Any]


class Late:
    """Serves a state that is known only after its address is."""

    state: WrittenSwanLab

    def answer(self, request: Request) -> Answer:
        return self.state.answer(request)


class Drill:
    """A source, a restored SwanLab, and the commands."""

    def __init__(self, lab: Lab, source: WrittenSwanLab, restored: Late, addresses: tuple[str, str]) -> None:
        self.lab, self.source, self._restored, self.addresses = lab, source, restored, addresses
        self.directory: Path = lab.world.directory
        self.journal = self.directory / "journal"
        self.out = self.directory / "verdict.json"
        self.contracts = {name: self.directory / f"{name}.json" for name in ("source", "restored")}
        for (name, path), address in zip(self.contracts.items(), addresses, strict=True):
            self.write_contract(name, path, address)

    @property
    def restored(self) -> WrittenSwanLab:
        """The restored SwanLab."""
        return self._restored.state

    def write_contract(self, name: str, path: Path, address: str) -> None:
        """The restored stack has a Secret of another name."""
        document = self.lab.contract()
        document["components"]["swanlab"]["endpoints"]["http"]["url"] = address
        if name == "restored":
            document["experiments"]["login"] = {"namespace": SPACE, "name": "other-api-key", "key": "api-key"}
        path.write_text(json.dumps(document))

    def write(self, requests: int = 6) -> int:
        """Write until so many requests of points were seen."""
        self.source.stop_after = requests
        cache = self.directory / "home" / "cache" / "sdk"
        code = main(["write", *self.arguments("source"), "--cache", str(cache)])
        self._restored.state = self.source.restored()
        return code

    def judge(self, *more: str) -> tuple[int, Json]:
        """Judge now; gives exit code and verdict, an empty one where there is no file."""
        argv = ["--source-contract", str(self.contracts["source"]), "--disaster", stamp(time.time())]
        code = main(["judge", *self.arguments("restored"), *argv, "--out", str(self.out), *more])
        return code, json.loads(self.out.read_text()) if self.out.exists() else {}

    def read(self) -> Journal:
        """The journal."""
        return read(self.journal)

    def secret(self, name: str, key: str | None) -> None:
        """Set a Secret of SwanLab's namespace, or remove it."""
        held = self.lab.world.api.objects
        held.pop(f"{BASE}/secrets/{name}", None)
        if key is not None:
            held[f"{BASE}/secrets/{name}"] = {"data": {"api-key": base64.b64encode(key.encode()).decode()}}

    def arguments(self, contract: str) -> list[str]:
        """What every command is given."""
        own = ["--contract", str(self.contracts[contract]), "--kubeconfig", str(self.lab.world.kubeconfig)]
        return [*own, "--journal", str(self.journal)]
