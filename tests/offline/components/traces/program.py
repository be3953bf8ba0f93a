"""The real Jaeger on this machine: the configuration of the pod, with its paths and ports moved."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import requests
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from components.traces.config import document
from components.traces.names import CONFIG_FILE, DATA_PATH, LOCAL_PORT, PORTS
from signals.yamltext import dump
from tests.offline.programs import free_port, require, running

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from components.traces.args import TracesArgs


class Jaeger:
    """One Jaeger in a directory: started and killed any number of times over the same data."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.ports = {name: free_port() for name in (*PORTS, "local")}

    def at(self, port: str) -> str:
        """The address of a port by its name."""
        return f"http://127.0.0.1:{self.ports[port]}"

    @contextmanager
    def running(self, args: TracesArgs) -> Iterator[subprocess.Popen[bytes]]:
        """The program as in the pod."""
        config = self.directory / CONFIG_FILE
        config.write_text(dump(self._moved(document(args, "0123456789ab"))), encoding="utf-8")
        command = [require("jaeger-linux"), f"--config={config}"]
        with running(command, f"{self.at('health')}/status", self.directory / "log") as process:
            yield process

    def write(self, trace_id: str, names: list[str], service: str = "infer") -> requests.Response:
        """Send the spans of one trace as the gateway does, each a child of the first."""
        request = ExportTraceServiceRequest()
        spans = request.resource_spans.add()
        spans.resource.attributes.append(KeyValue(key="service.name", value=AnyValue(string_value=service)))
        scope, now = spans.scope_spans.add(), time.time_ns()
        for index, name in enumerate(names):
            span = scope.spans.add()
            span.trace_id, span.span_id = bytes.fromhex(trace_id), (index + 1).to_bytes(8, "big")
            span.parent_span_id = b"" if index == 0 else (1).to_bytes(8, "big")
            span.name, span.start_time_unix_nano, span.end_time_unix_nano = name, now, now + 10**6
        headers = {"Content-Type": "application/x-protobuf"}
        url = f"{self.at('otlp-http')}/v1/traces"
        return requests.post(url, request.SerializeToString(), headers=headers, timeout=60)

    def spans(self, trace_id: str) -> list[str]:
        """Names of the spans of a trace, in their order; none if there is no such trace."""
        answer = requests.get(f"{self.at('query')}/api/traces/{trace_id}", timeout=60)
        if answer.status_code == requests.codes.not_found:
            return []
        answer.raise_for_status()
        (trace,) = answer.json()["data"]
        return [span["operationName"] for span in sorted(trace["spans"], key=lambda span: str(span["spanID"]))]

    def services(self) -> list[str]:
        """Services of which there are spans."""
        answer = requests.get(f"{self.at('query')}/api/services", timeout=60)
        answer.raise_for_status()
        return sorted(answer.json()["data"])

    def metric(self, series: str) -> float:
        """The sum of the series that begin so."""
        text = requests.get(f"{self.at('metrics')}/metrics", timeout=60).text
        return sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(series))

    def _moved(self, found: Any) -> Any:  # noqa: ANN401  # whatever a YAML file may hold
        """The same document with addresses and paths of this test."""
        numbers = {number: self.ports[name] for name, number in PORTS.items()} | {LOCAL_PORT: self.ports["local"]}
        if isinstance(found, dict):
            return {key: self._moved(value) for key, value in found.items()}
        if isinstance(found, list):
            return [self._moved(value) for value in found]
        if isinstance(found, int) and not isinstance(found, bool):
            return numbers.get(found, found)
        if isinstance(found, str) and found.startswith(DATA_PATH):
            return f"{self.directory}{found}"
        if isinstance(found, str) and found.partition(":")[0] in ("0.0.0.0", "127.0.0.1"):  # noqa: S104  # replaced here
            _, _, port = found.partition(":")
            return f"127.0.0.1:{numbers[int(port)]}" if port else "127.0.0.1"
        return found
