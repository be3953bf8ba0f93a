"""SwanLab: every part answers, it is activated, closed, on claims, and gives back what an SDK logs."""

from __future__ import annotations

import secrets
import string
from typing import TYPE_CHECKING, Any

from smoke import limits, poll
from smoke.access import hosts, state
from smoke.access.errors import AccessError, NoShellError, RefusedError
from smoke.access.http import Client
from smoke.access.objects import Objects
from smoke.check import check
from smoke.judge import objects, swanlab
from smoke.judge.pods import is_live

if TYPE_CHECKING:
    from collections.abc import Callable

    from smoke.model import Problem
    from smoke.stack import Stack

Json = dict[str, Any]

COMPONENT = "swanlab"
GATE = "gate"
KEY_LENGTH = 21
"""SDKs before 0.8 take keys of this length alone."""


@check("swanlab.ready")
def test_ready(stack: Stack) -> str:
    told: dict[str, bool] = {}
    # Its image is ours, and not every site has it.
    watched = GATE in stack.component(COMPONENT).endpoints

    def probe() -> list[Problem]:
        answers = {part: stack.swanlab.stranger(route) for part, route in swanlab.ROUTES.items()}
        samples = stack.gate.own_metrics() if watched else []
        told.update(swanlab.watched(samples))
        return [*swanlab.ready(answers), *(swanlab.gate(samples) if watched else [])]

    stack.settle(probe, limits.SETTLE)
    seen = f"its gate sees {', '.join(sorted(told))}" if watched else "the contract has no gate that sees the others"
    return f"through the gateway answer {', '.join(swanlab.ROUTES)}; {seen}"


@check("swanlab.activated")
def test_activated(stack: Stack) -> str:
    told: dict[str, Any] = {}

    def probe() -> list[Problem]:
        told.update(stack.swanlab.licence())
        return swanlab.activated(told)

    stack.settle(probe, limits.QUICK)
    return f"{stack.swanlab.user()} logs in with the key; licence {told.get('plan')} with {told.get('seats')} seats"


@check("swanlab.closed")
def test_closed(stack: Stack) -> str:
    wrong = "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(KEY_LENGTH))
    public, elsewhere = _public_buckets(stack), stack.experiments.public_bucket

    def probe() -> list[Problem]:
        routes = {route: stack.swanlab.stranger(route)[0] for route in swanlab.INTERNAL}
        logins = {
            "a wrong key": _refusal(lambda: stack.swanlab.log_in(wrong)),
            "an empty key": _refusal(lambda: stack.swanlab.log_in("")),
        }
        problems = [*swanlab.internal_closed(routes), *swanlab.login_refused(logins)]
        store, names = public or (None, ())
        problems += [p for name in names if store is not None for p in _bucket(store, name)]
        return problems + (_bucket_elsewhere(elsewhere) if elsewhere else [])

    stack.settle(probe, limits.QUICK)
    unasked = "the contract does not say where the public bucket is"
    bucket = "so are PUT and LIST of the public bucket" if public or elsewhere else unasked
    return f"{len(swanlab.INTERNAL)} internal routes are closed; a wrong and an empty key are refused; {bucket}"


@check("swanlab.large_bodies")
def test_large_bodies(stack: Stack) -> str:
    size = stack.experiments.body_limit

    def probe() -> list[Problem]:
        small = stack.swanlab.body(swanlab.METRICS, swanlab.SMALL)
        return swanlab.body_taken(size, small, stack.swanlab.body(swanlab.METRICS, size))

    stack.settle(probe, limits.QUICK)
    way = (
        "by its own address" if stack.swanlab.uses_proxies else "by a port-forward, which no proxy before it is part of"
    )
    return f"a body of {size} bytes is answered by SwanLab itself; the gateway was asked {way}"


@check("swanlab.volumes")
def test_volumes(stack: Stack) -> str:
    namespace = stack.namespace_of(stack.component(COMPONENT))
    own = {name: store for name, store in stack.experiments.stores.items() if store.mode == "chart"}
    told: list[str] = []

    def probe() -> list[Problem]:
        told.clear()
        pods = [pod for pod in stack.kube.pods(namespace) if is_live(pod)]
        problems = []
        for name, store in own.items():
            problems += swanlab.stores_mounted(name, store, pods)
            for pod in swanlab.pods_of(name, pods):
                claim = swanlab.claim_of(pod, store.claims)
                if claim is not None:
                    found = _state(stack, name, pod, claim)
                    told.append(f"{name}: {found.directory} of pod {pod['metadata']['name']} is on claim {claim}")
                    problems += swanlab.on_claim(found, claim)
        return problems

    stack.settle(probe, limits.SETTLE)
    return "\n".join(told) or "every store of SwanLab is external, so none of its state is on a claim"


@check("swanlab.roundtrip", begin=lambda stack: stack.roundtrip.begin())
def test_roundtrip(stack: Stack) -> str:
    poll.fetch(stack.roundtrip.begin)
    stack.settle(stack.roundtrip.advance, limits.SDK_RUN + limits.READ_BACK)
    return stack.roundtrip.told


@check("swanlab.roundtrip_pod", begin=lambda stack: stack.roundtrip_pod.begin())
def test_roundtrip_pod(stack: Stack) -> str:
    poll.fetch(stack.roundtrip_pod.begin)
    stack.settle(stack.roundtrip_pod.advance, limits.SDK_RUN + limits.READ_BACK)
    return stack.roundtrip_pod.told


def _state(stack: Stack, store: str, pod: Json, claim: str) -> swanlab.State:
    """Where this pod keeps its state: asked of it if it has a shell, else as the contract says."""
    promised = next((c.mounted_at for c in stack.component(COMPONENT).claims if c.name == claim), None)
    if promised is None:
        raise AccessError("contract", f"component {COMPONENT!r} has no claim {claim!r}, though its stores name it")
    metadata, container = pod["metadata"], swanlab.SERVICES[store]
    where = (stack.kubeconfig, stack.contract.cluster.context, metadata["namespace"])
    host = hosts.container(*where, metadata["name"], container)
    try:
        points = state.mount_points(host)
        directory = state.directory(host, store) if store in state.TELLING else promised
    except NoShellError:
        return swanlab.State(pod, container, promised, None)
    return swanlab.State(pod, container, directory, points)


def _public_buckets(stack: Stack) -> tuple[Objects, tuple[str, ...]] | None:
    """Where media may be that anybody reads, asked as a stranger; None where the contract does not say where it is."""
    store = stack.experiments.stores.get("s3")
    if store is not None and store.mode == "chart":
        own = Objects("SwanLab's own object store", lambda: stack.swanlab.address, lambda: None, None)
        return own, (swanlab.CHART_PUBLIC_BUCKET,)
    if stack.claims("object-store"):
        public = tuple(bucket.name for bucket in stack.buckets if bucket.public_read)
        return (stack.objects, public) if public else None
    return None


def _bucket(store: Objects, bucket: str) -> list[Problem]:
    return _closed(
        bucket,
        put=lambda name: store.put(bucket, name, b"stranger"),
        delete=lambda name: store.delete(bucket, name),
        listed=lambda: store.names(bucket, objects.PREFIX),
    )


def _bucket_elsewhere(address: str) -> list[Problem]:
    """Asked in plain HTTP: where the bucket is part of the host name, an S3 client would ask another address."""
    client = Client("SwanLab's public bucket", lambda: address.rstrip("/"), lambda: None, use_proxies=True)
    try:
        return _closed(
            address,
            put=lambda name: client.ask("PUT", f"/{name}", body="stranger"),
            delete=lambda name: client.ask("DELETE", f"/{name}"),
            listed=lambda: client.ask("GET", "/", {"list-type": "2", "prefix": objects.PREFIX}),
        )
    finally:
        client.close()


def _closed(
    bucket: str, *, put: Callable[[str], object], delete: Callable[[str], object], listed: Callable[[], object]
) -> list[Problem]:
    name = f"{objects.PREFIX}{secrets.token_hex(8)}"
    written = _refusal(lambda: put(name))
    if written is None:
        _refusal(lambda: delete(name))
    attempts = (("PUT", written), ("LIST", _refusal(listed)))
    found = [objects.Attempt("a stranger", f"{verb} {bucket}", status or objects.ALLOWED) for verb, status in attempts]
    return [problem for attempt in found for problem in objects.refused(attempt)]


def _refusal(act: Callable[[], object]) -> int | None:
    """HTTP status of the refusal, None if it was allowed."""
    try:
        act()
    except RefusedError as error:
        return error.status
    return None
