"""The running stack as a check sees it: its contract, its API server, its programs."""

from __future__ import annotations

import base64
import binascii
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from smoke import grafana, limits, poll
from smoke.access.alertmanager import Alertmanager
from smoke.access.errors import AccessError
from smoke.access.forward import PortForwards
from smoke.access.grafana import Grafana
from smoke.access.http import Client
from smoke.access.kube import Kube
from smoke.access.objects import Key, Objects
from smoke.access.prometheus import Prometheus
from smoke.access.pushgateway import Pushgateway
from smoke.access.sink import Sink
from smoke.access.swanlab import SwanLab
from smoke.judge.pods import is_live
from smoke.judge.workloads import pods_of
from smoke.proofs.handover import Handover
from smoke.proofs.page import PageProof
from smoke.proofs.roundtrip import Roundtrip
from smoke.proofs.roundtrip_pod import Pod
from smoke.proofs.roundtrip_process import Process
from smoke.redact import remember
from smoke.telemetry import Telemetry

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smoke.proofs.model import Proof
    from stacks.contract import Bucket, Component, Contract, Endpoint, Experiments, Recovery, SecretRef

Json = dict[str, Any]
Made = TypeVar("Made", bound="Client")

ENDPOINT = "http"
SINK = "sink"
GATE = "gate"
CLIENTS = (
    *("prometheus", "alertmanager", "pushgateway", "sink", "swanlab", "gate", "objects", "restore_points"),
    "grafana",
    *("telemetry", "forwards", "kube"),
)
PROOFS = ("handover", "page_proof", "roundtrip", "roundtrip_pod")


@dataclass(frozen=True)
class Where:
    """How to reach a program. own_address: it has an address of its own, so that proxies of the environment apply."""

    locate: Callable[[], str]
    broken: Callable[[], None]
    own_address: bool


class Stack:
    """Everything a check may ask. Connections are made at first use and closed with the run."""

    def __init__(self, contract: Contract, kubeconfig: Path) -> None:
        self.contract = contract
        self.kubeconfig = kubeconfig
        self._started = time.monotonic()

    @cached_property
    def kube(self) -> Kube:
        """The API server of the contract's context. Raises AccessError."""
        return Kube(self.kubeconfig, self.contract.cluster.context)

    @cached_property
    def forwards(self) -> PortForwards:
        """Port-forwards into the cluster."""
        return PortForwards(self.kubeconfig, self.contract.cluster.context)

    @cached_property
    def prometheus(self) -> Prometheus:
        """The contract's Prometheus."""
        return self._client(Prometheus, "Prometheus", "prometheus")

    @cached_property
    def alertmanager(self) -> Alertmanager:
        """The contract's Alertmanager."""
        return self._client(Alertmanager, "Alertmanager", "alertmanager")

    @cached_property
    def pushgateway(self) -> Pushgateway:
        """The contract's Pushgateway."""
        return self._client(Pushgateway, "Pushgateway", "pushgateway")

    @cached_property
    def sink(self) -> Sink:
        """What keeps the notifications that it receives: endpoint `sink` of the Alertmanager."""
        return self._client(Sink, "alert sink", "alertmanager", SINK)

    @cached_property
    def swanlab(self) -> SwanLab:
        """The contract's SwanLab, through its gateway."""
        where = self._where("swanlab", ENDPOINT)
        return SwanLab("SwanLab", where.locate, where.broken, key=self.api_key, use_proxies=where.own_address)

    @cached_property
    def gate(self) -> Client:
        """What watches the parts of SwanLab: endpoint `gate` of the component `swanlab`."""
        return self._client(Client, "SwanLab's gate", "swanlab", GATE)

    @cached_property
    def grafana(self) -> Grafana:
        """The contract's Grafana, signed in as its administrator at first use."""
        where = self._where("grafana", ENDPOINT)
        login = grafana.login(self)
        return Grafana("Grafana", where.locate, where.broken, login=login, use_proxies=where.own_address)

    @cached_property
    def objects(self) -> Objects:
        """The contract's object store, asked as a stranger does."""
        where = self._where("object-store", ENDPOINT)
        return Objects("object store", where.locate, where.broken, None)

    @property
    def buckets(self) -> tuple[Bucket, ...]:
        """What the contract promises that the object store holds. Raises AccessError when it promises nothing."""
        if self.contract.object_store is None:
            raise AccessError("contract", "has no section 'object_store', though it claims the capability for it")
        return self.contract.object_store.buckets

    def owner_of(self, bucket: Bucket) -> Objects:
        """The object store, asked with the key of the bucket's owner. Raises AccessError."""
        # The access key is a name, which every signed address shows; to mask it would mask that word everywhere.
        return self.objects.as_(Key(self._value(bucket.access), self.secret(bucket.secret)))

    @property
    def experiments(self) -> Experiments:
        """What the contract promises of SwanLab. Raises AccessError when it promises nothing."""
        if self.contract.experiments is None:
            raise AccessError("contract", "has no section 'experiments', though it claims the capability for it")
        return self.contract.experiments

    @property
    def recovery(self) -> Recovery:
        """What the contract promises of restore points. Raises AccessError when it promises nothing."""
        if self.contract.recovery is None:
            raise AccessError("contract", "has no section 'recovery', though it claims the capability for it")
        return self.contract.recovery

    @cached_property
    def restore_points(self) -> Objects:
        """Where restore points lie, asked with the key that reads them. Raises AccessError."""
        promised = self.recovery
        where = self._within(promised.target) if promised.own else _at(promised.target)
        key = Key(self._value(promised.reader_access), self.secret(promised.reader_secret))
        return Objects("target of restore points", where.locate, where.broken, key, promised.region)

    def api_key(self) -> str:
        """The key by which checks log in to SwanLab. Raises AccessError."""
        return self.secret(self.experiments.login)

    def secret(self, ref: SecretRef) -> str:
        """The value of a secret, from here on masked in all that is reported. Raises AccessError."""
        value = self._value(ref)
        remember(value)
        return value

    @cached_property
    def handover(self) -> Handover:
        """The proof that a GPU is named after the pod that holds it."""
        return Handover(self)

    @cached_property
    def page_proof(self) -> PageProof:
        """The proof that an alert arrives."""
        return PageProof(self)

    @cached_property
    def roundtrip(self) -> Roundtrip:
        """The proof that what an SDK logs from outside of the cluster is read back."""
        return Roundtrip(self, Process(self))

    @cached_property
    def roundtrip_pod(self) -> Roundtrip:
        """The proof that what an SDK logs from a pod is read back."""
        return Roundtrip(self, Pod(self))

    @cached_property
    def telemetry(self) -> Telemetry:
        """Collectors, stores of logs and traces, and the proofs about them."""
        return Telemetry(self)

    def claims(self, *capabilities: str) -> bool:
        """Whether the contract has all of these capabilities."""
        return set(capabilities) <= set(self.contract.capabilities)

    def component(self, name: str) -> Component:
        """A component of the contract. Raises AccessError when the contract has none of this name."""
        found = self.contract.components.get(name)
        if found is None:
            raise AccessError("contract", f"has no component {name!r}, though it claims the capability for it")
        return found

    def namespace_of(self, component: Component) -> str:
        """Where the component's workloads are."""
        return component.namespace or self.contract.namespace

    def managed(self) -> list[tuple[Component, str]]:
        """Every component that this stack deploys, with its namespace."""
        components = self.contract.components.values()
        return [(found, self.namespace_of(found)) for found in components if found.managed]

    def namespaces(self) -> list[str]:
        """Namespaces in which every pod is the stack's: its own, and those of its components."""
        return list(dict.fromkeys([self.contract.namespace, *(namespace for _, namespace in self.managed())]))

    def pods_of(self, name: str) -> list[tuple[Json, str]]:
        """Each live pod of a component's workloads, with the first contracted container of it. Raises AccessError."""
        component = self.component(name)
        namespace = self.namespace_of(component)
        pods = [pod for pod in self.kube.pods(namespace) if is_live(pod)]
        found = []
        for workload in component.workloads:
            live = self.kube.workload(namespace, workload.kind, workload.name)
            mine = pods_of(live, pods) if live else []
            found += [(pod, workload.images[0].container) for pod in mine]
        return found

    def client(self, kind: type[Made], name: str, endpoint: Endpoint) -> Made:
        """A client of what is behind an endpoint."""
        where = self._reached(endpoint)
        return kind(name, where.locate, where.broken, use_proxies=where.own_address)

    def settle(self, probe: poll.Probe, within: float) -> None:
        """Poll until there is no problem. `within` seconds count from the start of the run.

        A stack that is being changed settles once, not once per check; so the waits of a red run do not add up.
        """
        elapsed = time.monotonic() - self._started

        def attempt() -> list[Any]:
            self.advance()
            return probe()

        poll.settle(attempt, max(within - elapsed, limits.LEAST_WAIT))

    def advance(self) -> None:
        """Move on what was begun early, by one attempt each. What stands in the way is told by the check that waits."""
        for proof in self._proofs():
            try:
                proof.advance()
            except AccessError:
                continue

    def clean(self) -> list[str]:
        """Remove what proofs have written and not removed yet; gives what could not be removed, and why."""
        left = []
        for proof in self._proofs():
            try:
                poll.fetch(proof.end, limits.CLEAN_UP)
            except Exception as error:  # one that cannot be ended must not keep the others
                left.append(f"{proof.subject} could not be removed ({error}); the next run removes it")
        return left

    def close(self) -> None:
        """Close what was opened."""
        opened: dict[str, Any] = self.__dict__
        for name in CLIENTS:
            if name in opened:
                opened[name].close()

    def _value(self, ref: SecretRef) -> str:
        subject = f"Secret {ref.name} of namespace {ref.namespace}"
        found = self.kube.find(f"/api/v1/namespaces/{ref.namespace}/secrets/{ref.name}")
        if found is None:
            raise AccessError(subject, "does not exist")
        try:
            value = base64.b64decode((found.get("data") or {}).get(ref.key, ""), validate=True).decode().strip()
        except (binascii.Error, UnicodeDecodeError):
            raise AccessError(subject, f"its key {ref.key!r} is not text") from None
        if not value:
            raise AccessError(subject, f"has no key {ref.key!r}, or an empty one")
        return value

    def _proofs(self) -> list[Proof]:
        opened: dict[str, Any] = self.__dict__
        more = self.telemetry.proofs() if "telemetry" in opened else []
        return [opened[name] for name in PROOFS if name in opened] + more

    def _client(self, kind: type[Made], name: str, component: str, role: str = ENDPOINT) -> Made:
        return self.client(kind, name, self._endpoint(component, role))

    def _where(self, component: str, role: str) -> Where:
        return self._reached(self._endpoint(component, role))

    def _reached(self, endpoint: Endpoint) -> Where:
        """By the endpoint's url if it has one, else through a port-forward."""
        if endpoint.url:
            return _at(endpoint.url)
        key = (endpoint.namespace or self.contract.namespace, endpoint.service, endpoint.port)
        return self._forwarded(endpoint.scheme, key)

    def _within(self, address: str) -> Where:
        """By an address that pods use: `scheme://service.namespace.svc:port`. Raises AccessError for another one."""
        parts = urlsplit(address)
        service, _, rest = (parts.hostname or "").partition(".")
        namespace = rest.partition(".")[0]
        if not (service and namespace and parts.port):
            raise AccessError("contract", f"{address} is no address of a Service; accepted is http://name.space.svc:80")
        return self._forwarded(parts.scheme, (namespace, service, parts.port))

    def _forwarded(self, scheme: str, key: tuple[str, str, int]) -> Where:
        """key: namespace, Service, port."""

        def locate() -> str:
            return f"{scheme}://127.0.0.1:{self.forwards.port(*key)}"

        return Where(locate, lambda: self.forwards.drop(*key), own_address=False)

    def _endpoint(self, component: str, role: str) -> Endpoint:
        endpoints = self.component(component).endpoints
        found = endpoints.get(role) or (next(iter(endpoints.values()), None) if role == ENDPOINT else None)
        if found is None:
            raise AccessError("contract", f"component {component!r} has no endpoint {role!r}")
        return found


def _at(url: str) -> Where:
    """By an address that this machine can use."""
    address = url.rstrip("/")
    return Where(lambda: address, lambda: None, own_address=True)
