"""The real agent of a node beside a real gateway, and files as containers write them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from components.otel_collector.config import no_windows, render_agent, render_gateway
from components.otel_collector.names import DEBUG_FILE, GATEWAY, GRPC_PORT
from tests.offline.components.otel_collector.backend import Backend
from tests.offline.components.otel_collector.examples import ARGS
from tests.offline.components.otel_collector.program import Collector, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from components.otel_collector.args import Backend as To
    from components.otel_collector.args import OtelCollectorArgs

UID: Final = "123e4567-e89b-42d3-a456-426614174000"


class Node:
    """An agent and the gateway that it sends to, both over a backend."""

    def __init__(
        self, directory: Path, given: OtelCollectorArgs = ARGS, debug: str = "", logs: To | None = None
    ) -> None:
        """logs: where they go instead of to the backend."""
        self.backend = Backend()
        given = self.backend.takes(given)
        given = replace(given, logs=logs or given.logs)
        self.gateway = Collector(directory / "gateway", render_gateway(given).files)
        files = {**render_agent(given).files, DEBUG_FILE: debug or no_windows(given).files[DEBUG_FILE]}
        address = f"{GATEWAY}.{given.namespace}.svc:{GRPC_PORT}"
        own = f"127.0.0.1:{self.gateway.ports[GRPC_PORT]}"
        files = {name: text.replace(address, own) for name, text in files.items()}
        self.agent = Collector(directory / "agent", files, {"K8S_NODE_NAME": "node-7"})

    @contextmanager
    def running(self) -> Iterator[Node]:
        """All three."""
        with self.backend.up(), self.gateway.running(), self.agent.running():
            yield self

    def write(self, lines: list[str], pod: str = "ns_api-0", container: str = "c", flags: str = "F") -> None:
        """Lines as containerd writes them."""
        directory = self.agent.pods / f"{pod}_{UID}" / container
        directory.mkdir(parents=True, exist_ok=True)
        now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        with (directory / "0.log").open("a", encoding="utf-8") as file:
            file.write("".join(f"{now} stdout {flags} {line}\n" for line in lines))

    def bodies(self) -> list[Any]:
        """What arrived."""
        return [one["body"] for one in self.backend.records()]

    def arrives(self, count: int) -> list[dict[str, Any]]:
        """Records, once there are so many."""
        eventually(lambda: len(self.backend.records()) >= count, lambda: f"{self.bodies()}"[-3000:])
        return self.backend.records()
