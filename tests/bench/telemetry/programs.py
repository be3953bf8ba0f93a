"""The programs of the bench while they run: a collector with what it costs, and the sink."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from prometheus_client.parser import text_string_to_metric_families

from components.otel_collector.lint import gates
from components.otel_collector.sizes import runtime_limit
from tests.bench.errors import BenchError
from tests.bench.processes import running
from tests.offline.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.bench.telemetry.sides import Ports

ROOT: Final = Path(__file__).parents[3]
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_START_SECONDS: Final = 60.0
_ASK_SECONDS: Final = 30.0
_TIMES: Final = slice(11, 13)
"""Fields of /proc/<pid>/stat behind the name: user and system ticks."""


@dataclass(frozen=True, kw_only=True)
class Collector:
    """One that runs."""

    pid: int
    ports: Ports
    directory: Path

    @property
    def http(self) -> str:
        """`host:port` of OTLP over HTTP."""
        return f"127.0.0.1:{self.ports.http}"

    def cpu(self) -> float:
        """Processor seconds so far."""
        text = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8", errors="replace")
        return sum(int(ticks) for ticks in text.rpartition(")")[2].split()[_TIMES]) / _TICKS

    def forget_peak(self) -> None:
        """Its peak of memory counts anew, see proc(5)."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5", encoding="ascii")

    def peak(self) -> float:
        """Largest resident memory, MiB."""
        lines = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))

    def total(self, name: str, *, spans: bool = False, **labels: str) -> float:
        """Sum of a metric's series with these labels; 0 for one that never counted. spans: of the span metrics."""
        port = self.ports.spans if spans else self.ports.own
        text = _asked(port, "/metrics").decode()
        return sum(
            sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name in (name, f"{name}_total") and labels.items() <= sample.labels.items()
        )


@contextmanager
def collector(
    program: Path, directory: Path, ports: Ports, files: Mapping[str, str], memory_bytes: int
) -> Iterator[Collector]:
    """A collector with the environment that its container has. memory_bytes: limit of the container."""
    (directory / "pods").mkdir(parents=True)
    limit = runtime_limit(memory_bytes)
    argv = ["env", f"{limit['name']}={limit['value']}", str(program)]
    for name, text in files.items():
        (directory / name).write_text(text, encoding="utf-8")
        argv.append(f"--config={directory / name}")
    ready = f"http://127.0.0.1:{ports.health}/"
    with running([*argv, *gates()], ready, directory / "log", _START_SECONDS) as pid:
        yield Collector(pid=pid, ports=ports, directory=directory)


@dataclass(frozen=True, kw_only=True)
class Sink:
    """Where everything arrives; what its answers mean: sink.py."""

    http: int
    grpc: int

    def phase(self, phase: int) -> dict[str, int]:
        """distinct, again, last."""
        return dict(json.loads(self._ask("phase", phase)))

    def counts(self, phase: int) -> bytes:
        """How often each item came."""
        return self._ask("counts", phase)

    def times(self, phase: int) -> dict[int, int]:
        """Number → nanoseconds of the monotonic clock."""
        return {int(number): when for number, when in json.loads(self._ask("times", phase)).items()}

    def _ask(self, what: str, phase: int) -> bytes:
        return _asked(self.http, f"/{what}/{phase}")


@contextmanager
def sink(log: Path) -> Iterator[Sink]:
    """The sink; it ends with the block, and with this process whatever happens. Raises BenchError."""
    found = Sink(http=free_port(), grpc=free_port())
    argv = [sys.executable, "-m", "tests.bench.telemetry.sink", "--http", str(found.http), "--grpc", str(found.grpc)]
    with log.open("wb") as out:
        process = subprocess.Popen(
            argv,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        _await(found, process, log)
        yield found
    finally:
        process.kill()
        process.wait()


def _await(found: Sink, process: subprocess.Popen[Any], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            found.phase(0)
        except BenchError:
            time.sleep(0.1)
        else:
            return
    raise BenchError(f"the sink does not answer:\n{log.read_text(encoding='utf-8', errors='replace')[-2000:]}")


def _asked(port: int, path: str) -> bytes:
    """The answer to a GET of loopback. Raises BenchError unless it is 200."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_ASK_SECONDS)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise BenchError(f"port {port} does not answer {path}: {type(error).__name__}: {error}") from error
    finally:
        connection.close()
    if answer.status != HTTPStatus.OK:
        raise BenchError(f"port {port} answers {path} with {answer.status}: {body[:300]!r}")
    return body
