"""The engine runs with a backend of its own for `local`, and with the user's for every other stack."""

from __future__ import annotations

import json
from shutil import rmtree, which
from typing import TYPE_CHECKING

import pytest

from cli import engine
from cli.engine import ROOT
from sandbox.cluster.facts import Process
from sandbox.errors import SandboxError
from sandbox.process import ProgramError
from sandbox.programs.build import directory
from sandbox.programs.spec import catalogue

if TYPE_CHECKING:
    from cli.engine import Engine
    from tests.offline.cli.fakes import FakeEngine

USERS = {
    "PULUMI_ACCESS_TOKEN": "pul-users",
    "PULUMI_BACKEND_URL": "s3://theirs",
    "PULUMI_HOME": "/home/ada/.pulumi",
    "PULUMI_CONFIG_PASSPHRASE": "users",
}


@pytest.fixture(autouse=True)
def user(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who is logged in elsewhere."""
    for name, value in USERS.items():
        monkeypatch.setenv(name, value)


def test_local_uses_a_backend_of_its_own(local: Engine, pulumi: FakeEngine) -> None:
    local.capture("stack", "ls")
    assert pulumi.environment["PULUMI_BACKEND_URL"] == f"file://{local.state}/pulumi"
    assert pulumi.environment["PULUMI_HOME"] == f"{local.state}/pulumi-home"
    assert pulumi.environment["PULUMI_CONFIG_PASSPHRASE_FILE"] == f"{local.state}/passphrase"


@pytest.mark.parametrize("secret", ["PULUMI_ACCESS_TOKEN", "PULUMI_CONFIG_PASSPHRASE"])
def test_users_secrets_do_not_reach_local(local: Engine, pulumi: FakeEngine, secret: str) -> None:
    local.capture("stack", "ls")
    assert secret not in pulumi.environment


def test_other_stacks_keep_the_users_backend(prod: Engine, pulumi: FakeEngine) -> None:
    prod.capture("stack", "ls")
    assert {name: pulumi.environment.get(name) for name in USERS} == USERS


def test_engine_means_the_stack_that_its_environment_is_of(
    local: Engine, pulumi: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULUMI_STACK", "prod")
    local.capture("preview")
    assert pulumi.environment["PULUMI_STACK"] == "local"


def test_engine_downloads_nothing(local: Engine, pulumi: FakeEngine) -> None:
    local.capture("version")
    assert pulumi.environment["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] == "true"
    assert pulumi.environment["PULUMI_SKIP_UPDATE_CHECK"] == "true"


@pytest.mark.usefixtures("pulumi")
def test_engine_finds_the_linters_of_telemetry_and_does_without_where_none_was_built(prod: Engine) -> None:
    """A stack without telemetry has them not built, and needs none."""
    for name, tool in (("otel-collector", "otelcol-contrib"), ("jaeger", "jaeger-linux")):
        path = directory(prod.home, catalogue()[1][name])
        assert which(tool, path=prod.environment()["PATH"]) == str(path / "bin" / tool)
        rmtree(path)
        assert which(tool, path=str(path)) is None
    prod.capture("version")


@pytest.mark.usefixtures("pulumi")
def test_secrets_are_made_once(local: Engine) -> None:
    assert local.state is not None
    local.prepare()
    before = {name: (local.state / name).read_text() for name in ("passphrase", "root-secret")}
    local.prepare()
    assert {name: (local.state / name).read_text() for name in before} == before
    assert len(set(before.values())) == 2


@pytest.mark.usefixtures("pulumi")
def test_secrets_have_256_bits_and_are_readable_by_their_owner_alone(local: Engine) -> None:
    assert local.state is not None
    local.prepare()
    for name in ("passphrase", "root-secret"):
        assert len(bytes.fromhex((local.state / name).read_text())) == 32
        assert (local.state / name).stat().st_mode & 0o777 == 0o600
    assert local.state.stat().st_mode & 0o777 == 0o700


@pytest.mark.usefixtures("pulumi")
def test_half_written_secret_is_replaced(local: Engine) -> None:
    assert local.state is not None
    local.state.mkdir(parents=True)
    (local.state / "passphrase.new").write_text("ab")
    local.prepare()
    assert len((local.state / "passphrase").read_text()) == 64


def test_provider_is_linked_where_the_engine_looks_for_it(local: Engine, pulumi: FakeEngine) -> None:
    assert local.state is not None
    local.prepare()
    (plugin,) = (local.state / "pulumi-home" / "plugins").iterdir()
    assert plugin.name == f"resource-kubernetes-v{catalogue()[1]['pulumi-resource-kubernetes'].version}"
    assert (plugin / "pulumi-resource-kubernetes").resolve().is_file()
    assert pulumi.calls == []


@pytest.mark.usefixtures("pulumi")
def test_link_to_an_older_provider_is_renewed(local: Engine) -> None:
    assert local.state is not None
    local.prepare()
    (link,) = (local.state / "pulumi-home" / "plugins").glob("*/pulumi-resource-kubernetes")
    new = link.readlink()
    link.unlink()
    link.symlink_to("/no/longer/there")
    local.prepare()
    assert link.readlink() == new


def test_language_host_lies_beside_the_engine(local: Engine, pulumi: FakeEngine) -> None:
    # Where it is not, the engine warns at every run that it took another.
    local.capture("version")
    names = {path.name for path in pulumi.directory.iterdir()}
    assert {"pulumi", "pulumi-language-python"} <= names
    assert not (pulumi.directory / "pulumi-language-python").is_symlink()


def test_engine_is_laid_out_once(local: Engine, pulumi: FakeEngine) -> None:
    local.capture("version")
    local.capture("version")
    assert list(pulumi.directory.parent.iterdir()) == [pulumi.directory]


@pytest.mark.usefixtures("pulumi")
def test_other_stacks_need_nothing_here(prod: Engine) -> None:
    prod.prepare()
    assert not (prod.home.root / "state").exists()


def test_known_stack_is_not_made_again(local: Engine, pulumi: FakeEngine) -> None:
    pulumi.answer("stack ls", [{"name": "organization/plumbline/local"}])
    local.select()
    assert pulumi.calls == ["stack ls --json"]


def test_new_stack_of_local_leaves_the_projects_file_alone(local: Engine, pulumi: FakeEngine) -> None:
    # `stack init` writes a salt beside the project it is called for.
    local.select()
    words = pulumi.calls[-1].split()
    assert (words[0], words[2:]) == ("--cwd", ["stack", "init", "local"])
    assert words[1] != str(ROOT)


def test_new_stack_elsewhere_is_made_in_the_project(prod: Engine, pulumi: FakeEngine) -> None:
    prod.select()
    assert pulumi.calls[-1] == "stack init prod"
    assert pulumi.working_directory == str(ROOT)


def test_lock_of_a_killed_engine_is_cleared(local: Engine, pulumi: FakeEngine) -> None:
    assert local.state is not None
    lock = local.state / "pulumi" / ".pulumi" / "locks" / "organization" / "plumbline" / "local" / "a.json"
    lock.parent.mkdir(parents=True)
    lock.write_text("{}")
    pulumi.answer("stack export", {"deployment": {}})
    local.unlock()
    assert pulumi.calls[0] == "cancel --yes --stack local"


def test_operations_of_unknown_outcome_are_refreshed(local: Engine, pulumi: FakeEngine) -> None:
    pulumi.answer("stack export", {"deployment": {"pending_operations": [{"type": "creating"}]}})
    local.unlock()
    assert pulumi.calls[-1].startswith("refresh --yes --clear-pending-creates")


@pytest.mark.parametrize("deployment", [None, {}, {"pending_operations": []}])
def test_engine_that_ended_in_order_needs_no_repair(local: Engine, pulumi: FakeEngine, deployment: object) -> None:
    pulumi.answer("stack export", {"deployment": deployment})
    local.unlock()
    assert pulumi.calls == ["stack export --stack local"]


def test_locks_of_other_stacks_are_not_ours_to_clear(prod: Engine, pulumi: FakeEngine) -> None:
    prod.unlock()
    assert pulumi.calls == []


def test_exit_code_of_a_command_in_front_is_returned(local: Engine, pulumi: FakeEngine) -> None:
    pulumi.fail(7)
    assert local.attached("up") == 7


def test_failed_question_is_an_error(local: Engine, pulumi: FakeEngine) -> None:
    pulumi.fail(1)
    with pytest.raises(ProgramError, match="exited with 1"):
        local.capture("stack", "ls")


def lock_held_by(local: Engine, pid: int) -> None:
    """The lock file that the engine's file backend writes."""
    assert local.state is not None
    lock = local.state / "pulumi/.pulumi/locks/organization/plumbline/local/1.json"
    lock.parent.mkdir(parents=True)
    lock.write_text(json.dumps({"pid": pid, "username": "root", "hostname": "h"}))


def test_lock_of_a_living_engine_is_respected(
    local: Engine, pulumi: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock_held_by(local, 4711)
    monkeypatch.setattr(engine, "read_process", lambda pid: Process(pid, 1, "pulumi", None))
    with pytest.raises(SandboxError, match="another engine works on stack local: process 4711"):
        local.unlock()
    assert pulumi.calls == []


def test_lock_whose_number_another_program_has_is_stale(
    local: Engine, pulumi: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock_held_by(local, 4711)
    pulumi.answer("stack export", {"deployment": {}})
    monkeypatch.setattr(engine, "read_process", lambda pid: Process(pid, 1, "bash", None))
    local.unlock()
    assert pulumi.calls[0] == "cancel --yes --stack local"


@pytest.mark.usefixtures("pulumi")
@pytest.mark.parametrize("name", ["passphrase", "root-secret"])
def test_lost_secret_of_a_deployed_stack_is_not_made_anew(local: Engine, name: str) -> None:
    assert local.state is not None
    local.prepare()
    stack = local.state / "pulumi/.pulumi/stacks/plumbline/local.json"
    stack.parent.mkdir(parents=True)
    stack.write_text("{}")
    (local.state / name).unlink()
    with pytest.raises(SandboxError, match=f"{name} is missing"):
        local.prepare()
    assert not (local.state / name).exists()


def test_no_proxy_stands_before_the_cluster(local: Engine, pulumi: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example.com:3128")
    monkeypatch.setenv("NO_PROXY", "intranet.example.com")
    local.capture("version")
    assert pulumi.environment["NO_PROXY"].split(",")[:2] == ["intranet.example.com", "10.203.0.0/24"]
    assert pulumi.environment["no_proxy"] == pulumi.environment["NO_PROXY"]
