"""Telemetry of the running stack as a check sees it: collectors pod by pod, stores, and the proofs about them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

from smoke.access.collector import Page
from smoke.access.errors import AccessError
from smoke.access.jaeger import Jaeger
from smoke.access.logsql import VictoriaLogs
from smoke.access.otlp import Otlp
from smoke.judge.fixed_config import mounted
from smoke.judge.pods import is_live
from smoke.judge.workloads import pods_of
from smoke.proofs.accounting import Accounting
from smoke.proofs.nonce_line import NonceLine
from smoke.proofs.nonce_trace import NonceTrace
from smoke.proofs.redaction import Redaction
from smoke.proofs.sampled import Sampled
from stacks.contract import Endpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from smoke.access.exposition import Sample
    from smoke.proofs.model import Proof
    from smoke.stack import Stack
    from stacks.contract import Collector, LogStore, TraceStore
    from stacks.contract import Telemetry as Promised

    Read = TypeVar("Read")

Json = dict[str, Any]

LOGS, TRACES = "victoria-logs", "jaeger"
PROOFS: Final = ("nonce_trace", "nonce_line", "redaction", "sampled", "accounting")
CLIENTS: Final = ("gateway", "agent", "logs", "traces")


class Telemetry:
    """Connections are made at first use and closed with the run. Raises AccessError where nothing is promised."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack

    @property
    def promised(self) -> Promised:
        """What the contract promises."""
        found = self._stack.contract.telemetry
        if found is None:
            raise AccessError("contract", "has no section 'telemetry', though it claims a capability for it")
        return found

    def collector(self, tier: Literal["agent", "gateway"]) -> Collector:
        """One tier of the collector."""
        found = self.promised.agent if tier == "agent" else self.promised.gateway
        if found is None:
            raise AccessError("contract", f"promises no {tier}, though it claims that a collector takes OTLP")
        return found

    @cached_property
    def gateway(self) -> Otlp:
        """The gateways, as whoever has no agent sends."""
        return self._stack.client(Otlp, "otel-gateway", self.collector("gateway").otlp)

    @cached_property
    def agent(self) -> Otlp:
        """An agent, as workloads send."""
        return self._stack.client(Otlp, "otel-agent", self.collector("agent").otlp)

    @cached_property
    def logs(self) -> VictoriaLogs:
        """The store of logs."""
        return self._stack.client(VictoriaLogs, "VictoriaLogs", self._endpoint(LOGS, "http"))

    @cached_property
    def traces(self) -> Jaeger:
        """The store of traces."""
        return self._stack.client(Jaeger, "Jaeger", self._endpoint(TRACES, "http"))

    @cached_property
    def nonce_trace(self) -> NonceTrace:
        """The proof that a trace arrives whole."""
        return NonceTrace(self._stack)

    @cached_property
    def nonce_line(self) -> NonceLine:
        """The proof that a line of a container arrives."""
        return NonceLine(self._stack)

    @cached_property
    def redaction(self) -> Redaction:
        """The proof that what must be hidden is."""
        return Redaction(self._stack)

    @cached_property
    def sampled(self) -> Sampled:
        """The proof that the right traces are kept."""
        return Sampled(self._stack)

    @cached_property
    def accounting(self) -> Accounting:
        """The proof that what was taken is accounted for."""
        return Accounting(self._stack)

    def pods(self, tier: Literal["agent", "gateway"]) -> list[Json]:
        """Live pods of one tier."""
        workload = self.collector(tier)
        live = self._stack.kube.workload(workload.namespace, workload.kind, workload.name)
        pods = self._stack.kube.pods(workload.namespace) if live else []
        return [pod for pod in pods_of(live, pods) if is_live(pod)] if live else []

    def own_metrics(self, tier: Literal["agent", "gateway"]) -> dict[str, list[Sample]]:
        """Pod → its own metrics, of every pod of one tier, now."""
        port = self.collector(tier).metrics_port
        return {pod["metadata"]["name"]: self._read(pod, port, Page.own_metrics) for pod in self.pods(tier)}

    def span_pages(self) -> list[str]:
        """What each gateway exposes of spans and of the metrics that it takes."""
        port = self.collector("gateway").span_metrics_port
        if port is None:
            raise AccessError("contract", "promises no port at which the gateway exposes metrics of spans")
        return [self._read(pod, port, Page.text) for pod in self.pods("gateway")]

    def store_metrics(self) -> dict[str, list[Sample]]:
        """Pod → its own metrics, of Jaeger: they are at another port than its traces."""
        port = self._endpoint(TRACES, "metrics").port
        return {pod["metadata"]["name"]: self._read(pod, port, Page.own_metrics) for pod in self.store_pods()}

    def store_pods(self) -> list[Json]:
        """Live pods of Jaeger."""
        return [pod for pod, _ in self._stack.pods_of(TRACES)]

    def config_maps(self, pods: list[Json], container: str) -> dict[str, Json | None]:
        """Name → the ConfigMap of this name, of every one that this container of the pods is configured by."""
        names = {(pod["metadata"]["namespace"], name) for pod in pods for name in mounted(pod, container) if name}
        found = self._stack.kube.find
        return {name: found(f"/api/v1/namespaces/{namespace}/configmaps/{name}") for namespace, name in sorted(names)}

    @property
    def log_store(self) -> LogStore:
        """What VictoriaLogs must keep."""
        if self.promised.logs is None:
            raise AccessError("contract", "promises nothing of VictoriaLogs, though it claims that it can be asked")
        return self.promised.logs

    @property
    def trace_store(self) -> TraceStore:
        """What Jaeger must keep."""
        if self.promised.traces is None:
            raise AccessError("contract", "promises nothing of Jaeger, though it claims that it can be asked")
        return self.promised.traces

    @property
    def wait_after_root(self) -> float:
        """Seconds that gateways wait with a decision once a trace's root is there; 0 where they decide nothing."""
        sampling = self.promised.sampling
        return float(sampling.decision_wait_after_root_seconds) if sampling else 0.0

    @property
    def longest_wait(self) -> float:
        """Seconds that they wait with any decision."""
        sampling = self.promised.sampling
        return float(sampling.decision_wait_seconds) if sampling else 0.0

    def proofs(self) -> list[Proof]:
        """Those that were begun."""
        return list(self._opened(PROOFS))

    def close(self) -> None:
        """Close what was opened."""
        for client in self._opened(CLIENTS):
            client.close()

    def _read(self, pod: Json, port: int, read: Callable[[Page], Read]) -> Read:
        """Ask one pod, by a forward that ends with the question: there may be a pod on every node."""
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        page = self._stack.client(Page, f"pod {name}", Endpoint(service=f"pod/{name}", namespace=namespace, port=port))
        try:
            return read(page)
        finally:
            page.close()
            self._stack.forwards.drop(namespace, f"pod/{name}", port)

    def _endpoint(self, component: str, role: str) -> Endpoint:
        found = self._stack.component(component).endpoints.get(role)
        if found is None:
            raise AccessError("contract", f"component {component!r} has no endpoint {role!r}")
        return found

    def _opened(self, names: tuple[str, ...]) -> Iterator[Any]:
        return (self.__dict__[name] for name in names if name in self.__dict__)
