"""The whole program, from Pulumi's config map to the stack's outputs, against a recording engine."""

from __future__ import annotations

import runpy
from pathlib import Path

import pulumi
import pytest

from components.errors import DeployError
from stacks import preflight, systems
from stacks.cluster import Access
from stacks.contract import Contract
from tests.offline.components.pulumi_mocks import record
from tests.offline.stacks.examples import ROOT, as_pulumi_has_it, completed, stack_file, write_images


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    found: dict[str, object] = {}
    monkeypatch.setattr(pulumi, "export", found.__setitem__)
    monkeypatch.setattr(systems, "lint_prometheus", lambda _: None)
    monkeypatch.setattr(systems, "lint_alertmanager", lambda *_: None)
    where = Access(kubeconfig=Path("/k/config"), context="plumbline")
    monkeypatch.setattr(preflight, "preflight", lambda _: where)
    return found


def run(config: dict[str, str], stack: str) -> None:
    pulumi.runtime.set_all_config(config)
    try:
        record(lambda: runpy.run_path(str(ROOT), run_name="__main__"), stack)
    finally:
        pulumi.runtime.set_all_config({})


def test_program_exports_the_contract(tmp_path: Path, exported: dict[str, object]) -> None:
    images = write_images(tmp_path / "images.json")
    run(as_pulumi_has_it(completed("local", images)), "local")
    assert Contract.model_validate(exported["contract"], strict=False).stack == "local"


def test_wrong_settings_end_the_program_with_one_message(exported: dict[str, object]) -> None:
    with pytest.raises(DeployError, match="run `make up`"):
        run(as_pulumi_has_it(stack_file("local")), "local")
    assert exported == {}


def test_errors_are_shown_without_a_stack_trace() -> None:
    assert issubclass(DeployError, pulumi.RunError)


def test_root_stays_a_list_of_steps() -> None:
    text = (ROOT / "__main__.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 40
    assert not {"if", "for", "while", "try:", "match"} & set(text.split('"""')[2].split())
