"""The running stack as a check sees it: its contract, its API server, its programs."""

from __future__ import annotations

import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from smoke import limits, poll
from smoke.access.alertmanager import Alertmanager
from smoke.access.errors import AccessError
from smoke.access.forward import PortForwards
from smoke.access.kube import Kube
from smoke.access.prometheus import Prometheus
from smoke.access.pushgateway import Pushgateway
from smoke.access.sink import Sink
from smoke.judge.pods import is_live
from smoke.judge.workloads import pods_of
from smoke.proofs.handover import Handover
from smoke.proofs.page import PageProof

if TYPE_CHECKING:
    from pathlib import Path

    from smoke.access.http import Client
    from smoke.proofs.model import Proof
    from stacks.contract import Component, Contract, Endpoint

Json = dict[str, Any]
Made = TypeVar("Made", bound="Client")

ENDPOINT = "http"
SINK = "sink"
CLIENTS = ("prometheus", "alertmanager", "pushgateway", "sink", "forwards", "kube")
PROOFS = ("handover", "page_proof")


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
    def handover(self) -> Handover:
        """The proof that a GPU is named after the pod that holds it."""
        return Handover(self)

    @cached_property
    def page_proof(self) -> PageProof:
        """The proof that an alert arrives."""
        return PageProof(self)

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

    def _proofs(self) -> list[Proof]:
        opened: dict[str, Any] = self.__dict__
        return [opened[name] for name in PROOFS if name in opened]

    def _client(self, kind: type[Made], name: str, component: str, role: str = ENDPOINT) -> Made:
        """A client by the endpoint's url if it has one, else through a port-forward."""
        endpoint = self._endpoint(component, role)
        if endpoint.url:
            address = endpoint.url.rstrip("/")
            return kind(name, lambda: address, lambda: None, use_proxies=True)
        key = (endpoint.namespace or self.contract.namespace, endpoint.service, endpoint.port)

        def locate() -> str:
            return f"{endpoint.scheme}://127.0.0.1:{self.forwards.port(*key)}"

        return kind(name, locate, lambda: self.forwards.drop(*key), use_proxies=False)

    def _endpoint(self, component: str, role: str) -> Endpoint:
        endpoints = self.component(component).endpoints
        found = endpoints.get(role) or (next(iter(endpoints.values()), None) if role == ENDPOINT else None)
        if found is None:
            raise AccessError("contract", f"component {component!r} has no endpoint {role!r}")
        return found
