"""The running stack as a check sees it: its contract, its API server, its Prometheus."""

from __future__ import annotations

import time
from functools import cached_property
from typing import TYPE_CHECKING, Any

from smoke import limits, poll
from smoke.access.errors import AccessError
from smoke.access.forward import PortForwards
from smoke.access.kube import Kube
from smoke.access.prometheus import Prometheus
from smoke.judge.pods import is_live
from smoke.judge.workloads import pods_of

if TYPE_CHECKING:
    from pathlib import Path

    from stacks.contract import Component, Contract, Endpoint

Json = dict[str, Any]

ENDPOINT = "http"


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
        """Port-forwards into the stack's namespace."""
        return PortForwards(self.kubeconfig, self.contract.cluster.context, self.contract.namespace)

    @cached_property
    def prometheus(self) -> Prometheus:
        """The contract's Prometheus, by its url if it has one, else through a port-forward."""
        endpoint = self._endpoint("prometheus")
        if endpoint.url:
            address = endpoint.url.rstrip("/")
            return Prometheus(lambda: address, lambda: None, use_proxies=True)

        def locate() -> str:
            return f"{endpoint.scheme}://127.0.0.1:{self.forwards.port(endpoint.service, endpoint.port)}"

        def broken() -> None:
            self.forwards.drop(endpoint.service, endpoint.port)

        return Prometheus(locate, broken, use_proxies=False)

    def component(self, name: str) -> Component:
        """A component of the contract. Raises AccessError when the contract has none of this name."""
        found = self.contract.components.get(name)
        if found is None:
            raise AccessError("contract", f"has no component {name!r}, though it claims the capability for it")
        return found

    def pods_of(self, name: str) -> list[tuple[Json, str]]:
        """Each live pod of a component's workloads, with the first contracted container of it. Raises AccessError."""
        namespace = self.contract.namespace
        pods = [pod for pod in self.kube.pods(namespace) if is_live(pod)]
        found = []
        for workload in self.component(name).workloads:
            live = self.kube.workload(namespace, workload.kind, workload.name)
            mine = pods_of(live, pods) if live else []
            found += [(pod, workload.images[0].container) for pod in mine]
        return found

    def settle(self, probe: poll.Probe, within: float) -> None:
        """Poll until there is no problem. `within` seconds count from the start of the run.

        A stack that is being changed settles once, not once per check; so the waits of a red run do not add up.
        """
        elapsed = time.monotonic() - self._started
        poll.settle(probe, max(within - elapsed, limits.LEAST_WAIT))

    def close(self) -> None:
        """Close what was opened."""
        opened: dict[str, Any] = self.__dict__
        for name in ("prometheus", "forwards", "kube"):
            if name in opened:
                opened[name].close()

    def _endpoint(self, name: str) -> Endpoint:
        endpoints = self.component(name).endpoints
        found = endpoints.get(ENDPOINT) or next(iter(endpoints.values()), None)
        if found is None:
            raise AccessError("contract", f"component {name!r} has no endpoint")
        return found
