"""A stack with a Grafana, made of stand-ins."""

from __future__ import annotations

import base64
import hashlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from components.grafana.boards import board_json
from signals.dashboards.model import ALERTMANAGER, LOGS, PROMETHEUS, TRACES
from smoke import boards
from tests.offline.signals.promtool_cases import INPUTS
from tests.offline.smoke import objects
from tests.offline.smoke.board_world import expression, healthy
from tests.offline.smoke.conftest import check_of
from tests.offline.smoke.fake_grafana import PASSWORD, FakeGrafana, served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from signals.dashboards.model import Board
    from stacks.contract import Contract
    from tests.offline.smoke.conftest import World

Json = dict[str, Any]
CHECKS: Final = ("grafana.health", "grafana.closed", "grafana.datasources", "grafana.boards", "grafana.panels")
FOLDER: Final = "plumbline"
GPUS: Final = "plumbline-gpu-fleet"
SOURCES: Final = [
    {"uid": PROMETHEUS, "name": "P", "type": "prometheus", "url": "http://prometheus.plumbline.svc:9090"},
    {"uid": ALERTMANAGER, "name": "A", "type": "alertmanager", "url": "http://alertmanager.plumbline.svc:9093"},
    {"uid": LOGS, "name": "L", "type": "victoriametrics-logs-datasource", "url": "http://logs.plumbline.svc:9428"},
    {"uid": TRACES, "name": "J", "type": "jaeger", "url": "http://jaeger.plumbline.svc:16686"},
]


@dataclass
class Site:
    """A healthy stack with a Grafana."""

    world: World
    address: str
    state: FakeGrafana
    contract: Contract

    @property
    def boards(self) -> tuple[Board, ...]:
        """Those that it has."""
        return boards.of_contract(self.contract)

    def run(self, *only: str, **changes: object) -> tuple[int, dict[str, Json]]:
        """Exit code, and check by id."""
        document = self.contract.model_dump(mode="json")
        document["expected_checks"] = list(only or CHECKS)
        code, report = self.world.run("--only", *(only or CHECKS), **{**document, **changes})
        return code, {name: check_of(report, name) for name in only or CHECKS}

    def secret(self, password: str) -> None:
        """Put a password into the Secret that the contract names."""
        data = {"admin-password": base64.b64encode(password.encode()).decode()}
        path = f"/api/v1/namespaces/{objects.NAMESPACE}/secrets/grafana-generated"
        self.world.api.objects[path] = {"data": data}

    def red(self, check: str) -> str:
        """Evidence of a check that must fail."""
        code, told = self.run(check)
        assert (code, told[check]["status"]) == (1, "fail")
        return str(told[check]["evidence"])

    def panel(self, title: str) -> Json:
        """A panel of Grafana's copy of the GPU fleet."""
        found: Json = next(one for one in self.state.boards[GPUS].content["panels"] if one["title"] == title)
        return found

    def asked(self, title: str) -> str:
        """What the first query of a panel of the GPU fleet comes to."""
        (board,) = (one for one in self.boards if one.uid == GPUS)
        (panel,) = (one for one in board.panels if one.title == title)
        return expression(self.contract, board, panel.queries[0].expr)


@contextmanager
def healthy_site(world: World) -> Iterator[Site]:
    """Everything as it was rendered, and every panel answered."""
    state = FakeGrafana(sources=[dict(one) for one in SOURCES])
    with served(state) as address:
        plain = objects.contract().model_copy(update={"rules": INPUTS})
        texts = {board.uid: board_json(board) for board in boards.of_contract(plain)}
        for text in texts.values():
            state.provision(text, FOLDER)
        contract = promised(address, {uid: hashlib.sha256(text.encode()).hexdigest() for uid, text in texts.items()})
        state.series = dict(healthy(contract))
        made = Site(world, address, state, contract)
        made.secret(PASSWORD)
        yield made


def promised(address: str, digests: dict[str, str]) -> Contract:
    """The contract of a stack with this Grafana."""
    workload = {
        "kind": "Deployment",
        "name": "grafana",
        "replicas": 1,
        "images": [{"container": "grafana", "reference": "docker.io/grafana/grafana:11.6.4@sha256:" + "ab" * 32}],
    }
    ref = {"namespace": objects.NAMESPACE, "name": "grafana-generated", "key": "admin-password"}
    component = {
        "tier": "live",
        "workloads": [workload],
        "endpoints": {"http": {"service": "grafana", "port": 3000, "url": address}},
        "secrets": {"admin": ref},
    }
    own = objects.contract().model_dump(mode="json")
    return objects.contract(
        capabilities=["metrics", "prometheus-managed", "grafana"],
        components=own["components"] | {"grafana": component},
        rules=INPUTS,
        grafana={"folder": FOLDER, "datasources": SOURCES, "boards": digests},
    )
