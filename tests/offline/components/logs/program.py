"""The real VictoriaLogs on this machine: the flags of the pod, with its path and port moved."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import requests
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from components.logs.names import DATA_PATH, INGEST_HEADERS, INGEST_PATH, PORT
from components.logs.options import arguments
from tests.offline.programs import free_port, require, running

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from components.logs.args import LogsArgs

_WAIT_SECONDS = 60.0


class Logs:
    """One VictoriaLogs in a directory: started and killed any number of times over the same data."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    @contextmanager
    def running(self, args: LogsArgs) -> Iterator[subprocess.Popen[bytes]]:
        """The program as in the pod."""
        moved = {DATA_PATH: str(self.directory / "data"), f":{PORT}": f"127.0.0.1:{self.port}"}
        words = [word.partition("=") for word in arguments(args)]
        own = [f"{flag}={moved.get(value, value)}" for flag, _, value in words]
        command = [require("victoria-logs-prod"), *own]
        with running(command, f"{self.url}/health", self.directory / "log") as process:
            yield process

    def write(self, lines: Mapping[str, int], resource: Mapping[str, str], key: str = "") -> int:
        """Send lines of text as the gateway does; the status that was answered. lines: text → nanoseconds.

        key: of the text in a body that is a map, "" for a body that is the text.
        """
        request = ExportLogsServiceRequest()
        records = request.resource_logs.add()
        for name, value in resource.items():
            records.resource.attributes.append(KeyValue(key=name, value=AnyValue(string_value=value)))
        scope = records.scope_logs.add()
        for text, when in lines.items():
            record = scope.log_records.add()
            record.time_unix_nano = when
            if key:
                member = KeyValue(key=key, value=AnyValue(string_value=text))
                record.body.kvlist_value.values.append(member)
            else:
                record.body.string_value = text
        headers = {"Content-Type": "application/x-protobuf", **INGEST_HEADERS}
        sent = requests.post(f"{self.url}{INGEST_PATH}", request.SerializeToString(), headers=headers, timeout=60)
        return sent.status_code

    def found(self, query: str) -> list[dict[str, str]]:
        """What a query finds, in the order of the messages."""
        answer = requests.post(f"{self.url}/select/logsql/query", {"query": query}, timeout=60)
        answer.raise_for_status()
        return sorted((json.loads(line) for line in answer.text.splitlines()), key=lambda row: str(row["_msg"]))

    def metric(self, series: str) -> float:
        """The value of one series, 0 if there is none. series: name and labels as they are exposed."""
        text = requests.get(f"{self.url}/metrics", timeout=60).text
        values = (line.rpartition(" ")[2] for line in text.splitlines() if line.startswith(f"{series} "))
        return float(next(values, "0"))


def until(holds: Callable[[], bool], what: str) -> None:
    """Ask until it is so; fail with words otherwise."""
    deadline = time.monotonic() + _WAIT_SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"never so: {what}"
        time.sleep(0.1)
