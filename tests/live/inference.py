"""The inference service of the sandbox in a namespace of its own: requests across pods, with what is played in them."""

from __future__ import annotations

import json
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import requests

from components.otel_collector.names import AGENT, HTTP_PORT
from sandbox.home import find_home
from sandbox.workloads.inference.manifests import PORT, manifests, name
from tests.live.plumbline import STATE, forwarded, get, kubectl
from tests.live.workloads import NODES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Json = dict[str, Any]
ROLE: Final = "sandbox-inference"
TEAM: Final = "live"
GATEWAY: Final = name("gateway")
_SECONDS: Final = 180.0


@dataclass(frozen=True)
class Service:
    """A running service. url: of its gateway. run: run_id of all its pods."""

    namespace: str
    url: str
    run: str

    def ask(self, **play: Any) -> Json:  # noqa: ANN401  # members of `simulate` differ in type
        """One request; the answer with its `trace_id`, whatever its status. play: as in sandbox/…/asking.py."""
        answer = _post(f"{self.url}/v1/chat/completions", {"simulate": play})
        found: Json = answer.json()
        assert found.get("trace_id"), f"{answer.status_code} {answer.text}"
        return {**found, "status": answer.status_code}

    def batch(self, count: int, parallel: int, **play: Any) -> list[str]:  # noqa: ANN401  # as above
        """Trace ids of so many requests that all play the same."""
        wanted = {"requests": count, "parallel": parallel, "request": {"simulate": play}}
        answer = _post(f"{self.url}/v1/batch", wanted)
        assert answer.ok, answer.text
        found = [str(one["trace_id"]) for one in answer.json()["results"]]
        assert len(set(found)) == count
        return found

    def pods(self) -> dict[str, str]:
        """Pod → the node that it runs on."""
        items = get("pods", "-n", self.namespace)["items"]
        return {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in items}

    def flush(self, role: str) -> Json:
        """Let the role send what waits; what it counted."""
        with forwarded(f"service/{name(role)}", PORT, self.namespace) as url:
            answer = _post(f"{url}/flush", {})
        assert answer.ok, answer.text
        return dict(answer.json())


@contextmanager
def inference(meanwhile: Callable[[str], None]) -> Iterator[Service]:
    """The service, and its namespace gone afterwards. meanwhile: called with the namespace while pods start."""
    namespace, run = f"live-inference-{uuid.uuid4().hex[:6]}", f"run-{uuid.uuid4().hex[:8]}"
    images = json.loads((find_home().state(STATE) / "images.json").read_text())
    items = manifests(
        images[ROLE]["reference"],
        namespace=namespace,
        endpoint=f"http://{AGENT}.{NODES}.svc:{HTTP_PORT}",
        identity={"team": TEAM, "workload": "chat", "run_id": run},
    )
    kubectl("create", "namespace", namespace)
    try:
        kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        meanwhile(namespace)
        names = [f"deployment/{one['metadata']['name']}" for one in items if one["kind"] == "Deployment"]
        kubectl("wait", "-n", namespace, "--for=condition=Available", "--timeout=120s", *names)
        with forwarded(f"service/{GATEWAY}", PORT, namespace) as url:
            yield Service(namespace, url, run)
    finally:
        kubectl("delete", "namespace", namespace, "--wait=false")


def _post(url: str, body: Json) -> requests.Response:
    """Without the machine's proxies."""
    with requests.Session() as session:
        session.trust_env = False
        return session.post(url, json=body, timeout=_SECONDS)
