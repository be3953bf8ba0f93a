"""Nothing is registered that a linter or a rule refuses, and linters see the very files that are deployed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi
import pytest

from components.errors import DeployError
from stacks import bundle, systems, telemetry_systems
from stacks.bundle import deploy, plan
from stacks.provider import kubernetes_provider
from tests.offline.components.pulumi_mocks import record
from tests.offline.components.test_component import LINTERS, WHERE
from tests.offline.stacks.examples import existing, settings, write_images

if TYPE_CHECKING:
    from pathlib import Path

    from stacks.settings import Settings


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return settings("local", write_images(tmp_path_factory.mktemp("local") / "images.json"))


def refused(*_: object) -> None:
    raise DeployError("refused")


def nothing_is_registered(found: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deploy, which must be refused, and see that no object was made by the way."""
    made: list[str] = []

    def note(logical: str, *_: object) -> None:
        made.append(logical)

    monkeypatch.setattr(bundle, "register", note)
    monkeypatch.setattr(pulumi.ComponentResource, "__init__", lambda _, __, name, *___: made.append(name))
    with pytest.raises(DeployError, match="refused"):
        record(lambda: deploy(found, kubernetes_provider(found, WHERE)))
    assert made == []


def judges(monkeypatch: pytest.MonkeyPatch, refusing: str) -> None:
    """Let every linter pass but one."""
    for linter, module in LINTERS.items():
        monkeypatch.setattr(module, linter, refused if linter == refusing else lambda *_: None)


@pytest.mark.parametrize("linter", ["lint_prometheus", "lint_alertmanager", "lint_collector", "lint_traces"])
def test_what_a_linter_refuses_is_not_registered(local: Settings, monkeypatch: pytest.MonkeyPatch, linter: str) -> None:
    judges(monkeypatch, linter)
    nothing_is_registered(local, monkeypatch)


@pytest.mark.parametrize("linter", ["lint_existing", "lint_alertmanager"])
def test_what_a_linter_refuses_is_not_handed_to_a_prometheus_that_runs_already(
    monkeypatch: pytest.MonkeyPatch, linter: str
) -> None:
    judges(monkeypatch, linter)
    nothing_is_registered(existing(), monkeypatch)


def test_what_policy_rules_refuse_is_not_registered(local: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    judges(monkeypatch, "none of them")
    monkeypatch.setattr(bundle, "enforce", refused)
    nothing_is_registered(local, monkeypatch)


def test_every_system_judges_the_very_files_that_are_deployed(local: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}
    monkeypatch.setattr(systems, "lint_prometheus", lambda files: seen.update(prometheus=files))
    monkeypatch.setattr(systems, "lint_alertmanager", lambda _, rendered: seen.update(alertmanager=rendered.files))
    together: list[dict[str, str]] = []
    monkeypatch.setattr(telemetry_systems, "lint_traces", lambda rendered: seen.update(jaeger=rendered.files))
    monkeypatch.setattr(telemetry_systems, "lint_collector", together.append)
    decided = {system.name: system for system in plan(local).systems}
    for system in decided.values():
        system.lint()
    assert {name: decided[name].manifests["config"]["data"] for name in seen} == seen
    assert set(seen) == {"prometheus", "alertmanager", "jaeger"}
    made = decided["otel-collector"].manifests
    agents, windows, gateway = (made[role]["data"] for role in ("agent-config", "agent-debug-info", "gateway-config"))
    assert together == [agents | windows, gateway]


def test_linters_are_those_of_the_programs(local: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each program leaves its name when it is run, and accepts; nothing but the routes is asked of amtool's answers."""
    ran = tmp_path / "ran"
    programs = ("promtool", "amtool", "otelcol-contrib", "jaeger-linux")
    for program in programs:
        (tmp_path / program).write_text(f'#!/bin/sh\necho "$(basename "$0") $1 $2" >> {ran}\n')
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    for system in plan(local).systems:
        if system.name == "alertmanager":
            with pytest.raises(DeployError, match="the routing of alerts"):
                system.lint()
        else:
            system.lint()
    lines = ran.read_text().splitlines()
    assert {"promtool check config", "promtool check rules"} <= set(lines)
    assert {line.split()[0] for line in lines} == {*programs}
    assert "amtool check-config alertmanager.yml" in lines
    assert lines.count("otelcol-contrib validate --config=collector.yaml") == 2  # agents, gateway
    assert "jaeger-linux validate --config=jaeger.yaml" in lines
