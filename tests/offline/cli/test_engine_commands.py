"""Which stack a command line of the engine means, and whether it reads the stack file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from cli.engine import ROOT, engine_for, takes_config_file
from cli.words import _stack_of
from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from cli.engine import Engine
    from sandbox.home import Home
    from tests.offline.cli.fakes import FakeEngine


@pytest.mark.parametrize(
    "line",
    [
        *("up", "update", "preview", "pre", "refresh", "destroy", "down", "dn", "import"),
        *("config", "config set key value", "config get key"),
        *("up -s local", "-s local up", "--stack local up", "--stack=local up", "-slocal up"),
        *("--non-interactive up --yes", "-e up", "-v 9 preview", "-v=9 preview", "-C dir up", "--cwd dir up"),
        *("--color never --logtostderr refresh", "-Q -s local destroy"),
    ],
)
def test_command_reads_the_stack_file(line: str) -> None:
    assert takes_config_file(line.split())


@pytest.mark.parametrize(
    "line",
    [
        *("", "stack", "stack ls", "stack init local", "stack output --json", "cancel", "version", "plugin ls"),
        *("--help", "--version", "-s up", "--stack up", "--cwd up stack ls", "help up", "state delete urn"),
        *("--non-interactive stack export", "logs", "login", "whoami"),
    ],
)
def test_command_knows_no_stack_file(line: str) -> None:
    assert not takes_config_file(line.split())


@pytest.mark.parametrize(
    ("line", "stack"),
    [
        ("up -s prod", "prod"),
        ("up --stack prod", "prod"),
        ("up --stack=prod", "prod"),
        ("up -s=prod", "prod"),
        ("up -sprod", "prod"),
        ("-s prod up", "prod"),
        ("up -s organization/plumbline/prod", "prod"),
        ("up --stack=organization/plumbline/prod", "prod"),
        ("up", "local"),
        ("up -s", "local"),
        ("up --suppress-outputs", "local"),
        ("", "local"),
    ],
)
def test_stack_of_a_command_line(line: str, stack: str) -> None:
    assert _stack_of(line.split()) == stack


def test_stack_of_the_environment_counts_where_the_line_names_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_STACK", "staging")
    assert _stack_of(["preview"]) == "staging"
    assert _stack_of(["preview", "-s", "prod"]) == "prod"


@pytest.mark.usefixtures("pulumi")
def test_local_is_given_the_states_stack_file(local: Engine) -> None:
    assert local.argv(["up", "--yes"])[1:] == ["up", "--yes", "--config-file", str(local.config_file)]


@pytest.mark.usefixtures("pulumi")
def test_option_stays_before_the_end_of_options(local: Engine) -> None:
    line = ["config", "set", "key", "--", "-5"]
    assert local.argv(line)[1:] == ["config", "set", "key", "--config-file", str(local.config_file), "--", "-5"]


@pytest.mark.usefixtures("pulumi")
@pytest.mark.parametrize("line", [["up", "--config-file", "mine.yaml"], ["up", "--config-file=mine.yaml"]])
def test_users_own_stack_file_is_taken(local: Engine, line: list[str]) -> None:
    assert local.argv(line)[1:] == line


@pytest.mark.usefixtures("pulumi")
def test_other_stacks_use_the_projects_file(prod: Engine) -> None:
    assert prod.argv(["up"])[1:] == ["up"]
    assert prod.config_file == ROOT / "stacks" / "Pulumi.prod.yaml"


def test_unknown_stack_lists_the_known_ones(home: Home) -> None:
    with pytest.raises(SandboxError) as caught:
        engine_for(home, "prd")
    assert caught.value.what == "there is no stack 'prd'"
    assert "kind, local, prod, staging" in caught.value.remedy


def test_local_may_have_another_state(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUMBLINE_STATE", "test")
    assert engine_for(home, "local").state == home.state("test")


def test_other_stacks_have_no_state_here(home: Home) -> None:
    assert engine_for(home, "prod").state is None


def test_pinned_programs_come_first_on_the_path(local: Engine, pulumi: FakeEngine) -> None:
    local.capture("version")
    found = pulumi.environment["PATH"].split(os.pathsep)
    assert found.index(str(pulumi.directory)) < found.index(os.environ["PATH"].split(os.pathsep)[0])
