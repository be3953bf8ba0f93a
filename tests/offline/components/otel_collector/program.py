"""The real collector on this machine: what is rendered for the pod, with its paths and ports moved."""

from __future__ import annotations

import os
import re
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import requests

from components.otel_collector.lint import TOOL, gates
from components.otel_collector.names import (
    GRPC_PORT,
    HEALTH_PORT,
    HTTP_PORT,
    METRICS_PORT,
    POD_LOGS,
    QUEUE_PATH,
    SPAN_METRICS_PORT,
)
from tests.offline.programs import free_port, require, running

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

_PORTS: Final = (GRPC_PORT, HTTP_PORT, METRICS_PORT, SPAN_METRICS_PORT, HEALTH_PORT)
_SAMPLE: Final = re.compile(r"^(?P<name>\w+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)(?: # .*)?$")
_LABEL: Final = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
DEADLINE: Final = 120.0
"""Seconds after which what did not happen counts as failed: long, since it passes only when something is broken."""


class Collector:
    """One collector in a directory: started and killed any number of times over the same queue and offsets."""

    def __init__(self, directory: Path, files: Mapping[str, str], environment: Mapping[str, str] | None = None) -> None:
        """files: as rendered for the pod. environment: variables that the pod would have."""
        self.directory = directory
        self.ports = {port: free_port() for port in _PORTS}
        self.pods = directory / "pods"
        self.files = dict(files)
        self._environment = {**os.environ, **(environment or {})}
        self.process: subprocess.Popen[bytes] | None = None
        self.log = directory / "log"
        self.pods.mkdir(parents=True, exist_ok=True)

    @property
    def http(self) -> str:
        """Address for OTLP over HTTP."""
        return f"http://127.0.0.1:{self.ports[HTTP_PORT]}"

    @contextmanager
    def running(self) -> Iterator[Collector]:
        """Started and healthy; ended as the kubelet ends it."""
        if self.process is not None:
            # Somebody else may have been given a port while it was dead.
            self.ports = {port: free_port() for port in _PORTS}
        names = []
        for name, text in self.files.items():
            (self.directory / name).write_text(self._moved(text), encoding="utf-8")
            names.append(f"--config={self.directory / name}")
        command = [require(TOOL), *names, *gates()]
        ready = f"http://127.0.0.1:{self.ports[HEALTH_PORT]}"
        with _environment(self._environment), running(command, ready, self.log) as process:
            self.process = process
            yield self

    def kill(self) -> None:
        """As a node that loses its power would, but for what the kernel holds."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)

    def _moved(self, text: str) -> str:
        for port, own in self.ports.items():
            text = text.replace(f"0.0.0.0:{port}", f"127.0.0.1:{own}")
            text = text.replace(
                f"host: 0.0.0.0\n              port: {port}", f"host: 127.0.0.1\n              port: {own}"
            )
        return text.replace(QUEUE_PATH, str(self.directory / "state")).replace(POD_LOGS, str(self.pods))

    def samples(self, port: int = METRICS_PORT) -> list[tuple[str, dict[str, str], float]]:
        """Its own metrics, or those of spans: name, labels, value."""
        return [
            (found["name"], dict(_LABEL.findall(found["labels"] or "")), float(found["value"]))
            for line in self.exposed(port).splitlines()
            if (found := _SAMPLE.match(line))
        ]

    def exposed(self, port: int = METRICS_PORT) -> str:
        """Metrics as they are exposed, with exemplars."""
        accept = {"Accept": "application/openmetrics-text; version=1.0.0"}
        answer = requests.get(f"http://127.0.0.1:{self.ports[port]}/metrics", headers=accept, timeout=60)
        assert answer.ok, answer.text
        return answer.text

    def total(self, name: str, port: int = METRICS_PORT, **labels: str) -> float:
        """Sum of a metric's series that have these labels. A counter that never counted is 0."""
        names = (name, f"{name}_total")
        return sum(
            value
            for found, own, value in self.samples(port)
            if found in names and all(own.get(label) == wanted for label, wanted in labels.items())
        )


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Of this process, while a program starts and runs."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def eventually(condition: Callable[[], bool], why: Callable[[], str], seconds: float = DEADLINE) -> None:
    """Wait until something is so. why: what to say if it never is."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, why()
        time.sleep(0.05)
