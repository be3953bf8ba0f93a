"""One test per claim, one claim per test, and a suite that imports only what it may."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

from smoke.check import check_id_of
from smoke.registry import CHECK_IDS, REGISTRY
from smoke.runner import SUITE

ROOT = Path(__file__).parents[3]
OURS = {"signals", "components", "stacks", "recovery", "sandbox", "cli", "tests", "pulumi"}


def _ids_of_the_suite() -> list[str]:
    modules = [import_module(f"smoke.suite.{path.stem}") for path in sorted(SUITE.glob("test_*.py"))]
    found = [check_id_of(member) for module in modules for name, member in vars(module).items() if name[:5] == "test_"]
    return [str(check_id) for check_id in found]


def test_suite_and_registry_name_the_same_checks() -> None:
    assert sorted(_ids_of_the_suite()) == sorted(CHECK_IDS)


@pytest.mark.parametrize("check_id", CHECK_IDS)
def test_claim_is_a_sentence_with_a_remedy(check_id: str) -> None:
    check = REGISTRY[check_id]
    assert check.id == check_id
    assert check.claim[0].isupper()
    assert not check.claim.endswith(".")
    assert check.remedy
    assert check.requirement


def test_smoke_imports_of_our_rooms_only_signals_and_the_contract() -> None:
    for path in (ROOT / "smoke").rglob("*.py"):
        for name in _imports(path):
            room = name.split(".")[0]
            assert room not in OURS or room == "signals" or name.startswith("stacks.contract"), f"{path}: {name}"


def test_judges_do_no_input_or_output() -> None:
    forbidden = {"requests", "kubernetes", "subprocess", "testinfra", "socket", "pathlib", "os", "time"}
    for path in (ROOT / "smoke" / "judge").glob("*.py"):
        assert not forbidden & {name.split(".")[0] for name in _imports(path)}, path


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found
