"""A process of the sandbox under test: started on free ports, waited for, killed."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from tests.offline import ports

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CHECKOUT: Final = Path(__file__).parents[4]
_PATIENCE: Final = 60.0
USER: Final = "swanlab"
PASSWORD: Final = "of the test: 'quoted' \\ & more"  # noqa: S105  # no secret
DATABASE: Final = "app"
free_port = ports.free_port


@dataclass(frozen=True)
class Answer:
    """headers: by lower-case name."""

    status: int
    headers: Mapping[str, str]
    text: str


@dataclass(frozen=True)
class Server:
    """A running engine."""

    port: int
    metrics_port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        """Address of the HTTP interface."""
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self,
        body: bytes | str = b"",
        parameters: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        method: str = "POST",
    ) -> Answer:
        """One request. headers: instead of those that name user and password."""
        own = {"X-ClickHouse-User": USER, "X-ClickHouse-Key": PASSWORD} if headers is None else dict(headers)
        path = f"/?{urlencode(parameters or {})}"
        return request(self.port, method, path, body.encode() if isinstance(body, str) else body, own)

    def rows(self, statement: str) -> list[str]:
        """Lines of a result; the statement must succeed."""
        answer = self.ask(statement, {"database": DATABASE})
        assert answer.status == 200, answer.text
        return answer.text.splitlines()

    def kill(self) -> None:
        """End it without a chance to do anything."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def request(port: int, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    """One request to a local port."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)
    with contextlib.closing(connection):
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode())


def start(arguments: list[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Run a module of the checkout."""
    return subprocess.Popen(
        [sys.executable, "-m", *arguments], cwd=_CHECKOUT, env={**os.environ, **environment}, stderr=subprocess.DEVNULL
    )


def wait_for_port(process: subprocess.Popen[bytes], port: int) -> None:
    """Return once somebody listens."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        assert process.poll() is None, f"the process ended with {process.returncode}"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise AssertionError(f"nobody listens on {port}")


def environment(directory: Path, port: int, metrics_port: int) -> dict[str, str]:
    """Of an engine."""
    return {
        "DATA_DIR": str(directory),
        "CLICKHOUSE_USER": USER,
        "CLICKHOUSE_PASSWORD": PASSWORD,
        "CLICKHOUSE_DB": DATABASE,
        "PORT": str(port),
        "METRICS_PORT": str(metrics_port),
    }


@contextlib.contextmanager
def engine(directory: Path, port: int | None = None) -> Iterator[Server]:
    """An engine over a directory."""
    chosen, metrics_port = port or free_port(), free_port()
    process = start(["sandbox.clickhouse_engine"], environment(directory, chosen, metrics_port))
    try:
        wait_for_port(process, chosen)
        yield Server(chosen, metrics_port, process)
    finally:
        process.kill()
        process.wait()
