"""The real collector, VictoriaLogs and Jaeger; gateway and agent as rendered for pods, moved to this machine."""

from __future__ import annotations

import json
import subprocess
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from components.fixed_config import OWN_REVISION, render
from components.images import ImagePin
from components.otel_collector.args import Agent, Backend, Gateway, OtelCollectorArgs, Redaction, Sampling
from components.otel_collector.config import no_windows, render_agent, render_gateway
from components.otel_collector.names import CONFIG_FILE, DEBUG_FILE, GATES
from components.prometheus.args import Resources
from sandbox.errors import SandboxError
from sandbox.home import find_home
from sandbox.programs.build import binary
from signals.catalogue.labels import WORKLOAD_IDENTITY
from tests.offline.ports import free_port
from tests.offline.programs import running
from tests.offline.smoke import objects

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from components.rendered import Rendered

Json = dict[str, Any]

COLLECTOR, LOGS, TRACES = "otelcol-contrib", "victoria-logs-prod", "jaeger-linux"
WAIT, AFTER_ROOT, SLOW_MS = 7, 1, 2000
RETENTION, BYTES = 7 * 86400, 1 << 30
CLUSTER: Final = {"k8s.cluster.name": "local", "deployment.environment.name": "dev"}
NODE: Final = "node-a"
MIB: Final = 2**20
HIDING: Final = ("transform", "redaction")


@dataclass(frozen=True, kw_only=True)
class Ways:
    """How a gateway is wrong. redacts: False for nothing hidden. unkept: policies of sampling that are left out.

    delivers: False for logs that go nowhere. volatile: what waits for a store is in memory alone. hasty: it decides
    soon after a trace's first span, whether its root is there or not.
    """

    redacts: bool = True
    keep_percent: float = 10.0
    unkept: tuple[str, ...] = ()
    delivers: bool = True
    volatile: bool = False
    hasty: bool = False


@dataclass
class Ports:
    """Where everything listens."""

    grpc: int = field(default_factory=free_port)
    http: int = field(default_factory=free_port)
    own: int = field(default_factory=free_port)
    spans: int = field(default_factory=free_port)
    health: int = field(default_factory=free_port)


def program(name: str) -> str:
    """Path of a program that the project builds."""
    try:
        return str(binary(find_home(), name))
    except SandboxError as error:
        pytest.fail(f"{name} is not built; run `make check`, which builds it ({error})")


@contextmanager
def victoria_logs(directory: Path) -> Iterator[int]:
    """VictoriaLogs on an empty directory; its port."""
    port = free_port()
    command = [program(LOGS), f"-storageDataPath={directory}/vl", f"-httpListenAddr=127.0.0.1:{port}"]
    command += ["-retentionPeriod=7d", "-retention.maxDiskSpaceUsageBytes=1GiB"]
    with running(command, f"http://127.0.0.1:{port}/health", directory / "vl.log") as process:
        yield port
        process.kill()


@contextmanager
def jaeger(directory: Path, ports: Ports, query: int) -> Iterator[Rendered]:
    """Jaeger on an empty directory; its configuration."""
    rendered = render("jaeger.yaml", json.dumps(jaeger_config(directory, ports, query)))
    file = directory / "jaeger.yaml"
    file.write_text(rendered.files["jaeger.yaml"])
    command = [program(TRACES), "--config", str(file)]
    with running(command, _health(ports, "/status"), directory / "jaeger.log") as process:
        yield rendered
        process.kill()


@contextmanager
def collector(directory: Path, name: str, configs: tuple[str, ...], ports: Ports) -> Iterator[subprocess.Popen[bytes]]:
    """A collector, by one or more configurations as text."""
    command = [program(COLLECTOR), f"--feature-gates={','.join(GATES)}"]
    for number, text in enumerate(configs):
        file = directory / f"{name}-{number}.yaml"
        file.write_text(text)
        command += ["--config", str(file)]
    with running(command, _health(ports, "/"), directory / f"{name}.log") as process:
        yield process


def jaeger_config(directory: Path, ports: Ports, query: int) -> Json:
    """As the program reads it: names of its own version."""
    badger = {
        "directories": {"keys": f"{directory}/keys", "values": f"{directory}/values"},
        "ephemeral": False,
        "ttl": {"spans": "48h"},
    }
    return {
        "service": {
            "extensions": ["jaeger_storage", "jaeger_query", "healthcheckv2"],
            "telemetry": _own_telemetry(ports.own, OWN_REVISION),
            "pipelines": {
                "traces": {"receivers": ["otlp"], "processors": [], "exporters": ["jaeger_storage_exporter"]}
            },
        },
        "extensions": {
            "healthcheckv2": {"use_v2": True, "http": {"endpoint": f"127.0.0.1:{ports.health}"}},
            "jaeger_query": {
                "storage": {"traces": "badger"},
                "http": {"endpoint": f"127.0.0.1:{query}"},
                "grpc": {"endpoint": f"127.0.0.1:{ports.spans}"},
            },
            "jaeger_storage": {"backends": {"badger": {"badger": badger}}},
        },
        "receivers": {"otlp": _protocols(ports)},
        "exporters": {"jaeger_storage_exporter": {"trace_storage": "badger"}},
    }


def arguments(traces: int, logs: int, ways: Ways) -> OtelCollectorArgs:
    """What the collectors are told. traces, logs: ports of the stores."""
    few = Resources(cpu_request="100m", memory_request="128Mi", memory_limit="1Gi")
    return OtelCollectorArgs(
        stack="local",
        namespace=objects.NAMESPACE,
        node_namespace=f"{objects.NAMESPACE}-node",
        image=ImagePin(reference="otel:1"),
        abilities=frozenset(),
        cluster=CLUSTER["k8s.cluster.name"],
        environment=CLUSTER["deployment.environment.name"],
        lowest_level="INFO",
        identity=WORKLOAD_IDENTITY,
        agent=Agent(directory="/x", queue_bytes=64 * MIB, memory_bytes=512 * MIB, resources=few, tolerations=()),
        gateway=Gateway(
            replicas=1,
            volume="1Gi",
            volume_bytes=1024 * MIB,
            queue_bytes=128 * MIB,
            memory_bytes=1024 * MIB,
            resources=few,
        ),
        sampling=Sampling(
            keep_percent=ways.keep_percent,
            slow_ms=SLOW_MS,
            decision_wait_seconds=WAIT,
            decision_wait_after_root_seconds=AFTER_ROOT,
            traces_in_memory=50_000,
        ),
        redaction=Redaction(),
        logs=Backend(
            protocol="http",
            endpoint=f"http://127.0.0.1:{logs}/insert/opentelemetry/v1/logs",
            headers={"VL-Stream-Fields": "k8s.namespace.name,k8s.pod.name,k8s.container.name"},
        ),
        traces=Backend(protocol="grpc", endpoint=f"127.0.0.1:{traces}"),
        scrape_interval_seconds=1,
        storage_class=None,
        network_policies=True,
    )


def gateway_config(directory: Path, ports: Ports, told: OtelCollectorArgs, ways: Ways) -> Json:
    """As rendered for a pod, moved to this machine, and made wrong."""
    found = _moved(render_gateway(told).files[CONFIG_FILE], directory / "gateway", ports)
    processors, pipelines = found["processors"], found["service"]["pipelines"]
    if not ways.redacts:
        for pipeline in pipelines.values():
            pipeline["processors"] = [n for n in pipeline.get("processors") or [] if not n.startswith(HIDING)]
    policies = processors["tail_sampling"]["policies"]
    processors["tail_sampling"]["policies"] = [p for p in policies if p["name"] not in ways.unkept]
    if ways.hasty:
        processors["tail_sampling"]["decision_wait"] = f"{AFTER_ROOT}s"
    exporter = found["exporters"]["otlp_http/logs"]
    if not ways.delivers:
        exporter["logs_endpoint"] = f"http://127.0.0.1:{free_port()}/v1/logs"
    if ways.volatile:
        del exporter["sending_queue"]["storage"]
        exporter["sending_queue"]["batch"] |= {"flush_timeout": "10s"}
    return found


def agent_config(directory: Path, ports: Ports, told: OtelCollectorArgs, gateway: int) -> tuple[Json, str]:
    """As rendered for a pod, and moved; the second file says whose lines are kept."""
    found = _moved(render_agent(told).files[CONFIG_FILE], directory / "agent", ports)
    found["receivers"]["file_log"] |= {"include": [f"{directory}/pods/*/*/*.log"], "poll_interval": "100ms"}
    for exporter in found["exporters"].values():
        exporter["endpoint"] = f"127.0.0.1:{gateway}"
    return found, no_windows(told).files[DEBUG_FILE]


def printed(arguments: list[str]) -> list[str]:
    """Lines that a collector with these arguments prints on standard output until it is ready."""
    lines = []
    command = [program(COLLECTOR), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if "Everything is ready" in line:
                break
        process.kill()
    return lines


def _moved(text: str, directory: Path, ports: Ports) -> Json:
    found: Json = yaml.safe_load(text)
    found["receivers"]["otlp"] = _protocols(ports)
    found["extensions"]["health_check"]["endpoint"] = f"127.0.0.1:{ports.health}"
    for extension in found["extensions"].values():
        if "directory" in extension:
            own = f"{directory}/{extension['directory'].rpartition('/')[2]}"
            extension |= {"directory": own, "fsync": False}
            extension.pop("compaction", None)
    if "prometheus" in found["exporters"]:
        found["exporters"]["prometheus"]["endpoint"] = f"127.0.0.1:{ports.spans}"
    found["service"]["telemetry"]["metrics"] = _own_telemetry(ports.own, "")["metrics"]
    return found


def _protocols(ports: Ports) -> Json:
    both = {"grpc": {"endpoint": f"127.0.0.1:{ports.grpc}"}, "http": {"endpoint": f"127.0.0.1:{ports.http}"}}
    return {"protocols": both}


def _own_telemetry(port: int, revision: str) -> Json:
    reader = {"pull": {"exporter": {"prometheus": {"host": "127.0.0.1", "port": port}}}}
    return {
        "resource": {"plumbline.revision": revision},
        "metrics": {"level": "normal", "readers": [reader]},
        "logs": {"encoding": "json"},
    }


def _health(ports: Ports, path: str) -> str:
    return f"http://127.0.0.1:{ports.health}{path}"


class Stores:
    """Both stores, started once and kept: what a test has sent is known by its own words."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.jaeger_ports, self.query = Ports(), free_port()
        self._open = ExitStack()
        self.logs = self._open.enter_context(victoria_logs(directory))
        self.jaeger_config = self._open.enter_context(jaeger(directory, self.jaeger_ports, self.query))

    def close(self) -> None:
        """End them."""
        self._open.close()
