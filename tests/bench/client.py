"""Prometheus' HTTP API, and what the kernel says about its process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import requests

from tests.bench.errors import BenchError

TIMEOUT: Final = 120.0
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_UTIME, _STIME = 11, 12
"""Places in /proc/<pid>/stat behind the program's name; proc_pid_stat(5) counts them from 3."""


class Client:
    """One Prometheus. Errors of the API are BenchErrors with its own words."""

    def __init__(self, address: str) -> None:
        """address: `host:port`."""
        self._base = f"http://{address}/api/v1"
        self._session = requests.Session()

    def ask(self, path: str, **parameters: object) -> Any:  # noqa: ANN401  any JSON
        """`data` of an answer."""
        try:
            answer = self._session.post(f"{self._base}/{path}", data=parameters, timeout=TIMEOUT)
            document = answer.json()
        except (requests.RequestException, ValueError) as error:
            raise BenchError(f"Prometheus did not answer {path} {parameters.get('query', '')}: {error}") from error
        if document.get("status") != "success":
            raise BenchError(f"Prometheus refused {path} {parameters.get('query', '')}: {document.get('error')}")
        return document["data"]

    def vector(self, expr: str, at: float | None = None) -> list[tuple[dict[str, str], float]]:
        """Labels and value of every series, now or at a time in seconds since 1970."""
        moment = {} if at is None else {"time": at}
        return [(s["metric"], float(s["value"][1])) for s in self.ask("query", query=expr, **moment)["result"]]

    def number(self, expr: str) -> float:
        """Value of the only series. Raises BenchError when there is none, or more than one."""
        found = self.vector(expr)
        if len(found) != 1:
            raise BenchError(f"{expr} gave {len(found)} series instead of one: nothing was measured")
        return found[0][1]

    def count(self, expr: str) -> int:
        """How many series there are."""
        return int(sum(value for _, value in self.vector(f"count({expr})")))

    def rules(self) -> list[dict[str, Any]]:
        """Every group with its rules, and how long each took."""
        try:
            answer = self._session.get(f"{self._base}/rules", params={"exclude_alerts": "true"}, timeout=TIMEOUT)
            found: list[dict[str, Any]] = answer.json()["data"]["groups"]
        except (requests.RequestException, ValueError, KeyError) as error:
            raise BenchError(f"Prometheus did not tell its rules: {error}") from error
        return found


def cpu_seconds(pid: int) -> float:
    """CPU time of a process, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[_UTIME]) + int(fields[_STIME])) / _TICKS


def memory_mib(pid: int) -> tuple[float, float]:
    """Resident memory of a process in MiB: now, and at its peak."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    found = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("Vm")}
    return found["VmRSS"], found["VmHWM"]
