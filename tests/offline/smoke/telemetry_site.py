"""The world with telemetry: a stand-in for the cluster, and the real collector, VictoriaLogs and Jaeger as its pods."""

from __future__ import annotations

import copy
import json
import threading
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from components.fixed_config import fixed_config_map, volume
from components.otel_collector.config import no_windows, render_agent, render_gateway
from components.otel_collector.containers import arguments
from components.otel_collector.manifests import manifests as otel_manifests
from components.otel_collector.names import AGENT_FILES, GATEWAY_FILES
from components.traces.names import ARGUMENTS as JAEGER_ARGUMENTS
from signals.catalogue.labels import WORKLOAD_IDENTITY
from smoke.access.exposition import parse
from smoke.access.http import Client
from smoke.main import main
from tests.offline.smoke import objects
from tests.offline.smoke import telemetry_programs as programs
from tests.offline.smoke.conftest import check_of
from tests.offline.smoke.fakes import BASE
from tests.offline.smoke.promql import Series
from tests.offline.smoke.telemetry_programs import NODE, Ports, Ways

if TYPE_CHECKING:
    from pathlib import Path

    from tests.offline.smoke.conftest import World
    from tests.offline.smoke.fakes import Answer
    from tests.offline.smoke.telemetry_programs import Stores

Json = dict[str, Any]

AGENTS = f"{objects.NAMESPACE}-node"
CHECKS = (
    *("telemetry.config", "telemetry.accounting", "telemetry.trace", "telemetry.log", "telemetry.redaction"),
    *("telemetry.sampling", "telemetry.span_metrics", "logs.retention", "traces.retention"),
)
KILL = "telemetry.survives_kill"


class Site:
    """A stack in order, unless the ways of its gateway are wrong. Change `telemetry`, then run smoke on it."""

    def __init__(self, world: World, stores: Stores, ways: Ways) -> None:
        self.world, self.stores, self._ways = world, stores, ways
        self.directory: Path = world.directory
        self.gateway, self.agent = Ports(), Ports()
        self.prints = self.scrapes = True
        self._told = programs.arguments(stores.jaeger_ports.grpc, stores.logs, ways)
        self.revisions = {
            "gateway": render_gateway(self._told).revision,
            "agent": render_agent(self._told).revision,
        }
        self.config_maps: dict[str, list[Json]] = {}
        self._open, self._gateway = ExitStack(), ExitStack()
        self._number = 0
        self._restart: threading.Thread | None = None
        self.telemetry = self._promised()
        self._add_objects()
        self._start_gateway()
        config, debug = programs.agent_config(self.directory, self.agent, self._told, self.gateway.grpc)
        made = programs.collector(self.directory, "agent", (json.dumps(config), debug), self.agent)
        self.agent_process = self._open.enter_context(made)
        world.prometheus.before_query = self._scrape

    def close(self) -> None:
        """End the collectors."""
        if self._restart is not None:
            self._restart.join()
        # At once: one that has something left to send would take its time.
        self.agent_process.kill()
        self.gateway_process.kill()
        self._open.close()
        self._gateway.close()

    def run(self, *only: str, impact: str = "sentinel", **changes: object) -> tuple[int, dict[str, str]]:
        """Run these checks; gives exit code, and id → evidence."""
        document = objects.contract().model_dump(mode="json")
        document["components"]["prometheus"]["endpoints"]["http"]["url"] = self.world.prometheus_address
        document["components"] |= self._components()
        document["capabilities"] += ["telemetry", "logs", "traces", "disruptive"]
        document["telemetry"] = self.telemetry
        document |= changes
        (self.directory / "contract.json").write_text(json.dumps(document))
        code = main(self.world.arguments("--impact", impact, "--only", *only))
        report = self.world.report()
        return code, {name: check_of(report, name)["evidence"] for name in only}

    def _start_gateway(self) -> None:
        config = programs.gateway_config(self.directory, self.gateway, self._told, self._ways)
        made = programs.collector(self.directory, "gateway", (json.dumps(config),), self.gateway)
        self.gateway_process = self._gateway.enter_context(made)

    def _promised(self) -> Json:
        gateway = {
            **{"namespace": objects.NAMESPACE, "kind": "StatefulSet", "name": "otel-gateway"},
            "revision": self.revisions["gateway"],
            "arguments": arguments(GATEWAY_FILES),
            "otlp": {"service": "otel-gateway", "port": 4318, "url": f"http://127.0.0.1:{self.gateway.http}"},
            **{"metrics_port": 8888, "span_metrics_port": 8889},
        }
        agent = {
            **{"namespace": AGENTS, "kind": "DaemonSet", "name": "otel-agent"},
            "revision": self.revisions["agent"],
            "arguments": arguments(AGENT_FILES),
            "debug_revision": no_windows(self._told).revision,
            "otlp": {"service": "otel-agent", "port": 4318, "url": f"http://127.0.0.1:{self.agent.http}"},
            "metrics_port": 8888,
        }
        sampling = {
            **{"keep_percent": 10.0, "slow_ms": programs.SLOW_MS, "decision_wait_seconds": programs.WAIT},
            **{"decision_wait_after_root_seconds": programs.AFTER_ROOT, "traces_in_memory": 50000},
        }
        return {
            **{"agent": agent, "gateway": gateway, "signals": ["traces", "logs", "metrics"], "sampling": sampling},
            "resource_attributes": programs.CLUSTER,
            "identity": list(WORKLOAD_IDENTITY),
            "logs": {"retention_seconds": programs.RETENTION, "retention_bytes": programs.BYTES},
            "traces": {
                "retention_seconds": 48 * 3600,
                "revision": self.stores.jaeger_config.revision,
                "arguments": JAEGER_ARGUMENTS,
            },
        }

    def _components(self) -> Json:
        image = {"container": "jaeger", "reference": "jaeger:1"}
        return {
            "victoria-logs": {
                "tier": "live",
                "endpoints": {"http": {"service": "vl", "port": 9428, "url": f"http://127.0.0.1:{self.stores.logs}"}},
            },
            "jaeger": {
                "tier": "live",
                "workloads": [{"kind": "StatefulSet", "name": "jaeger", "replicas": 1, "images": [image]}],
                "endpoints": {
                    "http": {"service": "jaeger", "port": 16686, "url": f"http://127.0.0.1:{self.stores.query}"},
                    "metrics": {"service": "jaeger", "port": 8888},
                },
            },
        }

    def _add_objects(self) -> None:
        found = self.world.api.objects
        apps = "/apis/apps/v1/namespaces"
        for name in ("otel-gateway", "jaeger"):
            found[f"{apps}/{objects.NAMESPACE}/statefulsets/{name}"] = _workload(name)
            found[f"{BASE}/pods"].append(_pod(f"{name}-0", name, objects.NAMESPACE))
        found[f"{apps}/{AGENTS}/daemonsets/otel-agent"] = _workload("otel-agent")
        found[f"/api/v1/namespaces/{AGENTS}/pods"] = [_pod("otel-agent-x", "otel-agent", AGENTS)]
        gateway, jaeger = found[f"{BASE}/pods"][-2:]
        (agent,) = found[f"/api/v1/namespaces/{AGENTS}/pods"]
        made = otel_manifests(self._told, render_agent(self._told), render_gateway(self._told))
        self._configure(gateway, "otel-gateway", made["gateway-stateful-set-0"], [made["gateway-config"]])
        agents = [made["agent-config"], made["agent-debug-info"]]
        self._configure(agent, "otel-agent", made["agent-daemon-set"], agents)
        config = fixed_config_map("jaeger-config", objects.NAMESPACE, {}, self.stores.jaeger_config)
        mounts = [{"name": "config", "mountPath": "/etc/jaeger"}]
        container = {"name": "jaeger", "image": "jaeger:1", "args": [*JAEGER_ARGUMENTS], "volumeMounts": mounts}
        spec = {"containers": [container], "volumes": [volume("jaeger-config", self.stores.jaeger_config.revision)]}
        self._configure(jaeger, "jaeger", {"spec": {"template": {"spec": spec}}}, [config])
        self.world.api.create = self._create  # type: ignore[method-assign]  # the kubelet of this site
        self._delete = self.world.api.delete
        self.world.api.delete = self._kill  # type: ignore[method-assign]  # as above
        self._forward("otel-gateway-0", 8888, self.gateway.own)
        self._forward("otel-gateway-0", 8889, self.gateway.spans)
        self._forward("otel-agent-x", 8888, self.agent.own)
        self._forward("jaeger-0", 8888, self.stores.jaeger_ports.own)

    def _configure(self, pod: Json, name: str, workload: Json, config_maps: list[Json]) -> None:
        """Make the ConfigMaps, and the pod for them. The program itself runs another file, with other addresses."""
        spec = workload["spec"]["template"]["spec"]
        pod["spec"] |= {"containers": spec["containers"], "volumes": spec["volumes"]}
        pod["metadata"]["annotations"] = {}
        for made, annotation in zip(config_maps, ("plumbline/config-uid", "plumbline/debug-uid"), strict=False):
            own = copy.deepcopy(made)
            namespace, name_ = pod["metadata"]["namespace"], own["metadata"]["name"]
            own["metadata"]["uid"] = f"uid-{name_}"
            pod["metadata"]["annotations"][annotation] = f"uid-{name_}"
            self.config_maps.setdefault(name, []).append(own)
            self.world.api.objects[f"/api/v1/namespaces/{namespace}/configmaps/{name_}"] = own

    def _forward(self, pod: str, port: int, to: int) -> None:
        (self.directory / "bin" / f"target-pod-{pod}-{port}").write_text(f"127.0.0.1:{to}")

    def _create(self, path: str, pod: Json) -> Answer:
        """Create a pod, run it, and write what it prints as a kubelet does."""
        self._number += 1
        namespace, name, uid = path.split("/")[4], pod["metadata"]["name"], f"ab{self._number:06d}"
        pod["metadata"] |= {"namespace": namespace, "uid": uid}
        pod["spec"]["nodeName"] = NODE
        pod["status"] = {"phase": "Running"}
        self.world.api.objects[path].append(pod)
        container = pod["spec"]["containers"][0]
        lines = programs.printed(container["args"]) if self.prints else []
        directory = self.directory / "pods" / f"{namespace}_{name}_{uid}" / container["name"]
        directory.mkdir(parents=True)
        now = datetime.now(UTC).isoformat().replace("+00:00", "000Z")
        (directory / "0.log").write_text("".join(f"{now} stdout F {line}\n" for line in lines))
        return 201, pod

    def _kill(self, path: str, body: Json) -> Answer:
        """A gateway that is killed ends at once, and comes back as another pod on the same queue."""
        gateway = next(p for p in self.world.api.objects[f"{BASE}/pods"] if p["metadata"]["name"] == "otel-gateway-0")
        if (body.get("preconditions") or {}).get("uid") != gateway["metadata"]["uid"]:
            return self._delete(path, body)
        self.gateway_process.kill()
        self._restart = threading.Thread(target=self._come_back, args=(gateway,))
        self._restart.start()
        return 200, {"kind": "Status", "status": "Success"}

    def _come_back(self, gateway: Json) -> None:
        self._gateway.close()
        self._start_gateway()
        gateway["metadata"]["uid"] += "-again"

    def _scrape(self) -> None:
        """Prometheus has what the gateway exposes now."""
        if not self.scrapes:
            return
        text = Client("gateway", lambda: f"http://127.0.0.1:{self.gateway.spans}", lambda: None).ask("GET", "/metrics")
        made = [Series({**s.labels, "__name__": s.name}, s.value) for s in parse(text.text)]
        own = self.world.prometheus.series
        self.world.prometheus.series = [s for s in own if "otel_scope_name" not in s.labels] + made


def _workload(name: str) -> Json:
    return {"metadata": {"name": name}, "spec": {"selector": {"matchLabels": {"app": name}}}}


def _pod(name: str, app: str, namespace: str) -> Json:
    made = objects.pod()
    made["metadata"] |= {"name": name, "namespace": namespace, "uid": f"uid-{name}", "labels": {"app": app}}
    made["spec"] = {"nodeName": NODE, "containers": [{"name": "otel", "image": "otel:1"}]}
    return made
