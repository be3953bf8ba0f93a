"""Broken configurations and rules are refused in promtool's words, before anything is registered."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from components.errors import DeployError
from components.prometheus.config import render
from components.prometheus.lint import lint, promtool
from stacks.bundle import plan
from tests.offline.promtool import require_promtool
from tests.offline.stacks.examples import STACKS, local_args, settings, write_images

if TYPE_CHECKING:
    from pathlib import Path

GOOD = "global: {}\n"
RULE = "groups:\n- name: a\n  rules:\n  - {record: 'a:b:c', expr: '%s'}\n"


@pytest.fixture(autouse=True)
def _promtool() -> None:
    require_promtool()


@pytest.mark.parametrize("stack", STACKS)
def test_every_stack_passes(stack: str, tmp_path: Path) -> None:
    decided = plan(settings(stack, write_images(tmp_path / "images.json")))
    assert decided.systems[0].name == "prometheus"
    lint(decided.systems[0].manifests["config"]["data"])


def test_broken_configuration_is_refused() -> None:
    with pytest.raises(DeployError, match=r"(?s)`promtool check config --syntax-only prometheus\.yml` refuses.*globl"):
        lint({"prometheus.yml": "globl: {}\n"})


def test_timeout_above_interval_is_refused() -> None:
    text = "global: {scrape_interval: 10s, scrape_timeout: 20s}\n"
    with pytest.raises(DeployError, match="scrape timeout greater than scrape interval"):
        lint({"prometheus.yml": text})


def test_rule_with_an_unclosed_bracket_is_refused() -> None:
    with pytest.raises(DeployError, match=r"(?s)`promtool check rules .*` refuses.*unclosed left parenthesis"):
        lint({"prometheus.yml": GOOD, "rules-a.yml": RULE % "sum(up"})


def test_duplicate_rule_is_refused() -> None:
    text = RULE % "up" + "  - {record: 'a:b:c', expr: 'up'}\n"
    with pytest.raises(DeployError, match=r"(?s)exit code 3.*duplicate"):
        lint({"prometheus.yml": GOOD, "rules-a.yml": text})


def test_template_that_cannot_be_expanded_is_refused() -> None:
    alert = "groups:\n- name: a\n  rules:\n  - {alert: A, expr: up, annotations: {summary: '{{ $label.x }}'}}\n"
    with pytest.raises(DeployError, match="undefined variable"):
        lint({"prometheus.yml": GOOD, "rules-a.yml": alert})


def test_configuration_without_rules_passes() -> None:
    lint({"prometheus.yml": GOOD})


def test_rendered_files_of_a_component_pass() -> None:
    lint(render(local_args()).files)


def test_missing_promtool_names_make_env(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(DeployError, match=r"promtool is not on PATH.*run `make env`"):
        lint({"prometheus.yml": GOOD})


def test_promtool_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "promtool"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(DeployError, match=r"`promtool check` did not finish within 0\.2 s"):
        promtool(["check"], tmp_path, timeout=0.2)
