"""Ports for programs that are told where to listen."""

from __future__ import annotations

import os
import socket
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOWEST: Final = 10_000
_NODE_PORTS: Final = 30_000
"""From here on Kubernetes gives ports to services."""
_CONNECTIONS: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port() -> int:
    """A TCP port that nobody has, and that nobody else is given.

    Not one that the kernel chose: it gives such a port to the next connection of anybody, and a program that starts a
    moment later cannot listen on it. So it is one that no connection gets, and each worker of pytest has its own.
    """
    ports = _ports()
    return next(port for port in ports if _is_free(port))


@cache
def _ports() -> Iterator[int]:
    """Those of this worker, over and over. Two runs at a time begin at different places."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    highest = min(_NODE_PORTS, int(_CONNECTIONS.read_text(encoding="ascii").split()[0]))
    own = range(_LOWEST + worker, highest, workers)
    assert own, f"{_CONNECTIONS} leaves no port between {_LOWEST} and {highest} to programs of the tests"
    begin = os.getpid() * 97 % len(own)
    return cycle((*own[begin:], *own[:begin]))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
