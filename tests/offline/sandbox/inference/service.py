"""The service as it runs: every role a process of its own, on a free port."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import requests
from prometheus_client.parser import text_string_to_metric_families

from tests.offline.sandbox.inference.receiver import Receiver

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CHECKOUT = Path(__file__).parents[4]
PATH = "/v1/chat/completions"
WAIT = 60.0


@dataclass
class Process:
    """A role that runs. lines: what it wrote to standard output, parsed."""

    role: str
    program: subprocess.Popen[str]
    lines: list[dict[str, Any]] = field(default_factory=list)
    port: int = 0

    def __post_init__(self) -> None:
        """Wait until it listens: it says so in its first line."""
        listens, self._came = threading.Event(), threading.Condition()

        def follow() -> None:
            for text in self.program.stdout or ():
                line = json.loads(text)
                with self._came:
                    self.lines.append(line)
                    self._came.notify_all()
                if line["message"] == "role listens":
                    self.port = line["port"]
                    listens.set()

        self._follower = threading.Thread(target=follow, daemon=True)
        self._follower.start()
        assert listens.wait(WAIT), f"{self.role} does not listen"

    @property
    def address(self) -> str:
        """Base address."""
        return f"http://127.0.0.1:{self.port}"

    def flush(self) -> dict[str, Any]:
        """Send what waits to be sent, and wait for the lines that were written; what was sent so far."""
        found = dict(requests.post(f"{self.address}/flush", timeout=WAIT).json())
        with self._came:
            assert self._came.wait_for(lambda: len(self.lines) >= found["lines_made"], WAIT), f"{self.role} wrote less"
        return found

    def page(self) -> str:
        """Its metrics as text."""
        return requests.get(f"{self.address}/metrics", timeout=WAIT).text

    def metric(self, name: str, **labels: str) -> float:
        """One sample. Raises when there is not exactly one."""
        found = [
            sample.value
            for family in text_string_to_metric_families(self.page())
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        ]
        (one,) = found
        return one

    def end(self) -> int:
        """Tell it to end; its exit code."""
        self.program.send_signal(signal.SIGTERM)
        code = self.program.wait(WAIT)
        self._follower.join(WAIT)
        return code


@dataclass
class Service:
    """All roles and the receiver behind them."""

    receiver: Receiver
    roles: dict[str, Process]

    def ask(self, body: Mapping[str, Any] | None = None, path: str = PATH, **headers: str) -> requests.Response:
        """One request to the gateway."""
        sent = {name.replace("_", "-"): text for name, text in headers.items()}
        return requests.post(f"{self.roles['gateway'].address}{path}", json=body or {}, headers=sent, timeout=WAIT)

    def play(self, **simulate: Any) -> dict[str, Any]:  # noqa: ANN401  # what JSON holds
        """One request that plays something; its answer, whatever its status."""
        return dict(self.ask({"simulate": simulate}).json())

    def flush(self) -> dict[str, dict[str, Any]]:
        """By role, what was sent."""
        return {name: process.flush() for name, process in self.roles.items()}

    def lines(self, **members: str) -> list[dict[str, Any]]:
        """Log lines of all roles with these members, once they are all here."""
        self.flush()
        found = (line for process in self.roles.values() for line in process.lines)
        return [line for line in found if members.items() <= line.items()]


@contextmanager
def service(tmp_path: Path, **environment: str) -> Iterator[Service]:
    """All roles, started from the last to the first, since each is told where the next one is."""
    with ExitStack() as stack:
        receiver = Receiver()
        stack.callback(receiver.close)
        roles: dict[str, Process] = {}

        def start(role: str, *arguments: str) -> None:
            roles[role] = stack.enter_context(process(tmp_path, role, receiver.address, arguments, environment))

        start("prefill")
        start("decode")
        start("retrieval")
        start("router", "--prefill", roles["prefill"].address, "--decode", roles["decode"].address)
        start("gateway", "--router", roles["router"].address, "--retrieval", roles["retrieval"].address)
        yield Service(receiver, roles)


@contextmanager
def process(
    tmp_path: Path, role: str, endpoint: str, arguments: tuple[str, ...], environment: Mapping[str, str]
) -> Iterator[Process]:
    """One role on a free port of this machine."""
    argv = [sys.executable, "-P", "-m", "sandbox.workloads.inference", "--role", role, "--host", "127.0.0.1"]
    resource = environment.get("OTEL_RESOURCE_ATTRIBUTES", "").format(role=role)
    env = {
        **{name: text for name, text in os.environ.items() if not name.startswith("OTEL_")},
        "PYTHONPATH": os.pathsep.join(filter(None, (str(CHECKOUT), os.environ.get("PYTHONPATH")))),
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        **environment,
        "OTEL_RESOURCE_ATTRIBUTES": resource,
    }
    with (tmp_path / f"{role}.err").open("w") as errors:
        program = subprocess.Popen(
            [*argv, "--port", "0", *arguments], env=env, stdout=subprocess.PIPE, stderr=errors, text=True
        )
    try:
        yield Process(role, program)
    finally:
        program.kill()
        program.wait()
