"""Where the programs of a deployed stack are, and the keys to them. Services are asked by their own addresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from components.swanlab.names import DATABASE, SECRETS
from smoke import limits, poll
from smoke.access.errors import AccessError
from smoke.access.objects import Key
from smoke.judge.identity import same_cluster
from smoke.model import CheckFailedError
from smoke.stack import Stack
from stacks.contract import SecretRef
from tests.bench.errors import BenchError

if TYPE_CHECKING:
    from pathlib import Path

    from smoke.model import Problem
    from stacks.contract import Contract

CLICKHOUSE: Final = "clickhouse"
STORE: Final = "object-store"


@dataclass(frozen=True)
class Database:
    """ClickHouse's HTTP interface. The password is hidden in prints."""

    url: str
    name: str
    user: str
    password: str

    def __repr__(self) -> str:
        return f"Database({self.url})"


@dataclass(frozen=True)
class Site:
    """One installation, as the machine of its cluster reaches it. Addresses are scheme, host and port.

    sdk: the pinned version. api_key: of an account that may log. bucket: the private one.
    """

    sdk: str
    gateway: str
    api_key: str
    database: Database
    store: str
    bucket: str
    store_key: Key

    def __repr__(self) -> str:
        return f"Site({self.gateway})"


def refusal(contract: Contract) -> str:
    """Why this stack cannot be measured; empty when it can."""
    if contract.experiments is None:
        return "it has no SwanLab that takes runs; enable section swanlab of its stack file and run make up"
    if contract.experiments.stores[CLICKHOUSE].mode != "chart":
        return "its ClickHouse is external, and others may use it; only a ClickHouse of the chart is measured"
    if contract.object_store is None:
        return "it deploys no object store of its own; only that one is measured"
    if "node-access" not in contract.capabilities:
        return "this machine is no node of its cluster, and a way through the API server would be all that is measured"
    return ""


def find(contract: Contract, kubeconfig: Path) -> Site:
    """Addresses and keys of the stack. Raises BenchError."""
    why = refusal(contract)
    if why:
        raise BenchError(f"stack {contract.stack} cannot be measured: {why}")
    stack = Stack(contract, kubeconfig)
    try:
        poll.settle(lambda: _identity(stack), limits.IDENTITY)
        return _site(stack)
    except (AccessError, CheckFailedError) as error:
        raise BenchError(f"the stack cannot be asked: {error}") from error
    finally:
        stack.close()


def _site(stack: Stack) -> Site:
    namespace = stack.namespace_of(stack.component("swanlab"))
    secret = SECRETS[CLICKHOUSE]
    user, password = (
        stack.secret(SecretRef(namespace=namespace, name=secret, key=key)) for key in ("username", "password")
    )
    bucket = next(bucket for bucket in stack.buckets if not bucket.public_read)
    return Site(
        sdk=stack.experiments.sdk,
        gateway=_address(stack, "swanlab", "http"),
        api_key=stack.api_key(),
        database=Database(_address(stack, "swanlab", CLICKHOUSE), DATABASE, user, password),
        store=_address(stack, STORE, "http"),
        bucket=bucket.name,
        store_key=Key(stack.secret(bucket.access), stack.secret(bucket.secret)),
    )


def _address(stack: Stack, component: str, role: str) -> str:
    """By the address of the Service, as pods reach it too: no forward and no proxy in between."""
    endpoint = stack.component(component).endpoints.get(role)
    if endpoint is None:
        raise BenchError(f"component {component} has no endpoint {role!r} in the contract; run make up")
    namespace = endpoint.namespace or stack.contract.namespace
    service = stack.kube.get(f"/api/v1/namespaces/{namespace}/services/{endpoint.service}")
    return f"{endpoint.scheme}://{service['spec']['clusterIP']}:{endpoint.port}"


def _identity(stack: Stack) -> list[Problem]:
    cluster = stack.contract.cluster
    return same_cluster(stack.kube.get("/api/v1/namespaces/kube-system"), cluster.uid, cluster.context)
