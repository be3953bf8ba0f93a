"""Port-forwards through the API server: `kubectl port-forward`, restarted when broken, ended with the run."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from smoke import limits
from smoke.access.errors import CommandError, UnreachableError

if TYPE_CHECKING:
    from pathlib import Path

READY = re.compile(r"^Forwarding from 127\.0\.0\.1:(\d+) -> \d+", re.MULTILINE)
OUTPUT_SHOWN = 400
POD = "pod/"

Service = tuple[str, str, int]


@dataclass
class _Forward:
    process: subprocess.Popen[bytes]
    # A file, not a pipe: kubectl writes a line per connection, and a full pipe would stop it.
    output: IO[bytes]
    port: int


class PortForwards:
    """Forwards to services through one explicit context."""

    def __init__(self, kubeconfig: Path, context: str, kubectl: str = "kubectl") -> None:
        self._kubectl = [kubectl, "--kubeconfig", str(kubeconfig), "--context", context]
        self._open: dict[Service, _Forward] = {}

    def port(self, namespace: str, service: str, port: int) -> int:
        """The local port that leads to `service:port`; a forward that has ended is started again.

        service: a name, or `pod/…` for one pod and no other.
        Raises UnreachableError when it does not get ready, CommandError when kubectl cannot be started.
        """
        key = (namespace, service, port)
        forward = self._open.get(key)
        if forward is not None and forward.process.poll() is None:
            return forward.port
        self.drop(*key)
        forward = self._start(*key)
        self._open[key] = forward
        return forward.port

    def drop(self, namespace: str, service: str, port: int) -> None:
        """End the forward, so that the next use starts a new one: it sticks to the pod it was opened for."""
        forward = self._open.pop((namespace, service, port), None)
        if forward is not None:
            _end(forward.process)
            forward.output.close()

    def close(self) -> None:
        """End all forwards."""
        for key in list(self._open):
            self.drop(*key)

    def _start(self, namespace: str, service: str, port: int) -> _Forward:
        output = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the forward
        where = ["-n", namespace, "port-forward", "--address", "127.0.0.1"]
        target = service if service.startswith(POD) else f"svc/{service}"
        argv = [*self._kubectl, *where, target, f":{port}"]
        try:
            process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        except OSError as error:
            output.close()
            raise CommandError(self._kubectl[0], f"cannot be started: {error.strerror}") from error
        try:
            return _Forward(process, output, _await_port(process, output, f"{target}:{port}"))
        except BaseException:
            _end(process)
            output.close()
            raise


def _await_port(process: subprocess.Popen[bytes], output: IO[bytes], subject: str) -> int:
    deadline = time.monotonic() + limits.FORWARD_READY
    while True:
        ended = process.poll() is not None
        text = _read(output)
        found = READY.search(text)
        if found and not ended:
            return int(found.group(1))
        if ended:
            raise UnreachableError(subject, f"port-forward ended: {text.strip()[-OUTPUT_SHOWN:] or 'without output'}")
        if time.monotonic() >= deadline:
            raise UnreachableError(subject, f"port-forward was not ready within {limits.FORWARD_READY:g} s")
        time.sleep(limits.FORWARD_POLL)


def _read(output: IO[bytes]) -> str:
    # The child shares the file offset: move neither it nor its writes.
    return os.pread(output.fileno(), 1 << 16, 0).decode(errors="replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(limits.PROCESS_EXIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
