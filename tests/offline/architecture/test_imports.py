"""Imports point one way: signals ← components ← stacks ← __main__; checks and sandbox know none of them."""

from __future__ import annotations

import pytest

from tests.offline.architecture.imports import ALLOWED, CONTRACT, violations, with_engine
from tests.offline.architecture.tree import modules


def test_imports_point_one_way() -> None:
    assert [line for module, source in modules().items() for line in violations(module, source)] == []


def test_contract_can_be_read_without_the_engine() -> None:
    assert with_engine(CONTRACT, modules()) == []


def test_every_room_has_a_rule() -> None:
    rooms = {module.split(".")[0] for module in modules()}
    assert rooms - {"tests"} <= set(ALLOWED)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("signals.rules.x", "import components.naming"),
        ("signals.rules.x", "from stacks.contract import Contract"),
        ("signals.rules.x", "import requests"),
        ("components.x", "from stacks.settings import Settings"),
        ("components.x", "if TYPE_CHECKING:\n    from stacks import settings"),
        ("stacks.bundle", "def f():\n    import __main__"),
        ("stacks.bundle", "from sandbox.home import Home"),
        ("smoke.judge.x", "import pulumi"),
        ("smoke.judge.x", "from pulumi_kubernetes.core.v1 import Pod"),
        ("smoke.judge.x", "from stacks import settings"),
        ("smoke.judge.x", "import stacks"),
        ("smoke.judge.x", "from components import naming"),
        ("recovery.drill", "from stacks.settings import Settings"),
        ("recovery.drill", "import pulumi.automation"),
        ("sandbox.cluster.x", "from components.images import images"),
        ("sandbox.cluster.x", "from ...smoke import runner"),
        ("sandbox.cluster.x", "from cli.engine import ROOT"),
        ("cli.deploy", "from smoke import runner"),
        ("cli.deploy", "from stacks.contract import Contract"),
        ("cli.deploy", "import requests"),
        ("bin.bootstrap", "from sandbox.home import find_home"),
        ("bin.bootstrap", "import yaml"),
        ("smoke.x", "from tests.offline import promtool"),
    ],
)
def test_import_against_the_direction_is_seen(module: str, source: str) -> None:
    assert len(violations(module, source)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("components.x", "import pulumi\nfrom signals.rules import rules\nfrom components.naming import names"),
        ("stacks.bundle", "from components.prometheus import component"),
        ("__main__", "from stacks.bundle import deploy"),
        ("smoke.judge.x", "import kubernetes\nfrom stacks.contract import Contract\nfrom stacks import contract"),
        ("sandbox.workloads.x", "from signals.catalogue import producers\nfrom . import y\nimport os.path"),
        ("cli.deploy", "import yaml\nfrom sandbox.home import Home\nfrom __future__ import annotations"),
        ("tests.offline.x", "import cli, smoke, stacks"),
    ],
)
def test_import_in_the_direction_is_accepted(module: str, source: str) -> None:
    assert violations(module, source) == []


def test_engine_behind_the_contract_is_seen() -> None:
    tree = {"stacks": "", CONTRACT: "from stacks.fields import Url", "stacks.fields": "import pulumi"}
    assert with_engine(CONTRACT, tree) == ["stacks.fields imports pulumi"]


def test_engine_in_the_package_of_the_contract_is_seen() -> None:
    assert with_engine(CONTRACT, {"stacks": "import pulumi", CONTRACT: ""}) == ["stacks imports pulumi"]
