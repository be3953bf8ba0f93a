"""A healthy world for smoke to look at: contract, API server, Prometheus, kubectl, and short deadlines."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from smoke import limits
from smoke.main import main
from smoke.runner import SUITE
from tests.offline.smoke import fake_swanlab, full_stack, kubectl, objects
from tests.offline.smoke.board_world import healthy
from tests.offline.smoke.fakes import ApiServer, FakePrometheus, served
from tests.offline.smoke.full_world import Full
from tests.offline.smoke.lab import Lab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Json = dict[str, Any]
# Everything that a stack without access to its machine can be asked.
EXPECTED = [
    *("cluster.identity", "pods.running", "pods.not_restarted", "workloads.rolled_out", "workloads.image"),
    *("claims.bound", "node.conditions"),
    *("prometheus.reload", "prometheus.revision", "prometheus.sentinel_rule", "prometheus.flags"),
    *("prometheus.storage_fresh", "prometheus.rules_healthy"),
    *("scrape.expected_jobs", "scrape.all_up", "scrape.no_duplicates", "scrape.labels"),
    *("signals.contract", "signals.fresh", "signals.budget", "signals.banned", "pod.security", "pod.volume"),
    *("boards.choices", "boards.answered"),
]
SHORT = ("IDENTITY", "SETTLE", "QUICK", "LEAST_WAIT", "CONFIG_PROPAGATION", "TARGETS", "RULES", "POD_REPLACED")


class World:
    """A stack made of stand-ins. Damage it, then `run` smoke on it."""

    def __init__(self, directory: Path, api_address: str, prometheus_address: str) -> None:
        self.api = ApiServer()
        self.prometheus = FakePrometheus()
        self.directory = directory
        self.prometheus_address = prometheus_address
        self.kubeconfig = directory / "kubeconfig"
        self.out = directory / "out"
        self._write_kubeconfig(api_address)

    def write_contract(self, changes: Json | None = None, *, url: bool = True) -> Path:
        """The contract as a file; `url` reaches Prometheus directly, else it takes a port-forward."""
        document = objects.contract(**{"expected_checks": EXPECTED, **(changes or {})}).model_dump(mode="json")
        if url:
            document["components"]["prometheus"]["endpoints"]["http"]["url"] = self.prometheus_address
        path = self.directory / "contract.json"
        path.write_text(json.dumps(document))
        return path

    def arguments(self, *more: str) -> list[str]:
        """The command line for this world."""
        contract = self.directory / "contract.json"
        return ["--contract", str(contract), "--out", str(self.out), "--kubeconfig", str(self.kubeconfig), *more]

    def run(self, *more: str, suite: Path = SUITE, **changes: object) -> tuple[int, Json]:
        """Run smoke in this process; gives its exit code and its report."""
        self.write_contract(changes)
        code = main(self.arguments(*more), suite)
        return code, self.report()

    def report(self) -> Json:
        """The report that was written last."""
        document: Json = json.loads((self.out / "report.json").read_text())
        return document

    def _write_kubeconfig(self, address: str) -> None:
        # The current context leads nowhere: whoever uses it instead of the named one fails.
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "elsewhere",
            "clusters": [
                {"name": "here", "cluster": {"server": address}},
                {"name": "nowhere", "cluster": {"server": "http://127.0.0.1:1"}},
            ],
            "users": [{"name": "me", "user": {"token": "fake"}}],
            "contexts": [
                {"name": "plumbline", "context": {"cluster": "here", "user": "me"}},
                {"name": "elsewhere", "context": {"cluster": "nowhere", "user": "me"}},
            ],
        }
        self.kubeconfig.write_text(yaml.safe_dump(document))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A healthy stack, deadlines of a moment, and a kubectl of our own first on the PATH."""
    for name in SHORT:
        monkeypatch.setattr(limits, name, 0.0)
    monkeypatch.setattr(limits, "POLL_EVERY", 0.01)
    api, prometheus = ApiServer(), FakePrometheus()
    with served(api) as api_address, served(prometheus) as prometheus_address:
        kubectl.install(tmp_path / "bin", prometheus_address.removeprefix("http://"))
        monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
        made = World(tmp_path, api_address, prometheus_address)
        made.api, made.prometheus = api, prometheus
        prometheus.panels = healthy(objects.contract())
        yield made


@pytest.fixture
def full(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Full]:
    """A healthy stack with two GPUs, one of them held, and alerting up to a sink."""
    for name in ("HANDOVER", "DELIVERY", "WATCHDOG", "CLEAN_UP"):
        monkeypatch.setattr(limits, name, 0.0)
    stack = full_stack.Platform(world.api, world.prometheus)
    world.api.objects["/api/v1/namespaces/team-a/pods"] = [full_stack.gpu_pod("train-0", 1)]
    with served(stack.pager) as pager, served(stack.pushes) as pushes:
        yield Full(world, stack, full_stack.components(pager, pushes, pager))


def check_of(report: Json, check_id: str) -> Json:
    """The entry of one check in a report."""
    found: Json = next(check for check in report["checks"] if check["id"] == check_id)
    return found


class _Late:
    """Serves a state that is known only after its address is."""

    state: Any

    def answer(self, request: fake_swanlab.Request) -> fake_swanlab.Answer:
        answer: fake_swanlab.Answer = self.state.answer(request)
        return answer


@pytest.fixture
def lab(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """A healthy stack with SwanLab, activated, and an object store."""
    for name in ("QUIET_AFTER", "CLEAN_UP", "SWANLAB_REPLACED"):
        monkeypatch.setattr(limits, name, 0.0)
    smaller = {"READ_BACK": 0.3, "SDK_RUN": 60.0, "SENTINEL_STEPS": 20, "SENTINEL_KEYS": 2, "SENTINEL_WIDTH": 0}
    for name, value in smaller.items():
        monkeypatch.setattr(limits, name, value)
    monkeypatch.setenv("PLUMBLINE_HOME", str(world.directory / "home"))
    swanlab, store = _Late(), _Late()
    with ExitStack() as open_:
        addresses = [open_.enter_context(fake_swanlab.served(late)) for late in (swanlab, store)]
        made = Lab(world, *addresses)
        swanlab.state, store.state = made.swanlab, made.store
        made.swanlab.base = addresses[0]
        yield made
