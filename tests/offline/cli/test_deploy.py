"""`up` proves what it deployed; a durable stack gets exactly the plan that was confirmed."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from cli import deploy, engine
from sandbox.cluster import facts, ownership
from sandbox.errors import SandboxError
from sandbox.programs import build as programs
from tests.offline.cli.fakes import write
from tests.offline.sandbox.fakes import machine, silent

if TYPE_CHECKING:
    from cli.engine import Engine
    from sandbox.home import Home
    from tests.offline.cli.fakes import FakeEngine

THROWAWAY, DURABLE = "config:\n  plumbline:profile: throwaway\n", "config:\n  plumbline:profile: durable\n"


class Terminal(io.StringIO):
    """Standard input of someone who can be asked."""

    def isatty(self) -> bool:
        """Yes."""
        return True


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a durable stack `prod`."""
    root = tmp_path / "checkout"
    write(root / "stacks" / "Pulumi.prod.yaml", DURABLE)
    monkeypatch.setattr(engine, "ROOT", root)
    monkeypatch.setattr(deploy, "ROOT", root)
    return root


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (THROWAWAY, False),
        (DURABLE, True),
        ("config:\n  plumbline:profile: throw-away\n", True),
        ("config:\n  plumbline:profile:\n", True),
        ("config:\n", True),
        ("", True),
        ("encryptionsalt: v1:abc\n", True),
    ],
    ids=["throwaway", "durable", "misspelt", "empty", "no settings", "empty file", "salt alone"],
)
def test_stack_is_durable_unless_it_says_otherwise(local: Engine, text: str, *, expected: bool) -> None:
    write(local.config_file, text)
    assert deploy.is_durable(local) is expected


@pytest.mark.parametrize(
    ("text", "linters"),
    [
        (THROWAWAY, ()),
        (f"{THROWAWAY}  plumbline:otel_collector:\n    mode: managed\n", ("otel-collector",)),
        (f'{THROWAWAY}  "plumbline:traces": {{"mode": "managed"}}\n', ("jaeger",)),
        (f"{THROWAWAY}  plumbline:otel_collector: {{}}\n  plumbline:traces: {{}}\n", ("otel-collector", "jaeger")),
        (f"{THROWAWAY}  plumbline:logs:\n    mode: external\n", ()),
    ],
    ids=["none", "collector", "traces", "both", "logs"],
)
def test_linters_that_take_minutes_to_build_are_built_for_stacks_that_need_them(
    local: Engine, text: str, linters: tuple[str, ...]
) -> None:
    write(local.config_file, text)
    assert deploy.engine_programs(local) == (*deploy.ENGINE_PROGRAMS, *linters)


def test_stack_without_a_file_needs_no_more_programs_than_any(local: Engine) -> None:
    assert not local.config_file.exists()
    assert deploy.engine_programs(local) == deploy.ENGINE_PROGRAMS


@pytest.mark.usefixtures("checkout")
def test_preview_builds_what_judges_the_stacks_configuration(
    prod: Engine, pulumi: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []
    write(prod.config_file, f"{DURABLE}  plumbline:otel_collector:\n    mode: managed\n")
    monkeypatch.setattr(programs, "ensure", lambda _home, names, _progress: asked.append(tuple(names)))
    pulumi.answer("stack ls", [{"name": "prod"}])
    assert deploy.preview(prod.home, "prod", silent()[0]) == 0
    assert asked == [(*deploy.ENGINE_PROGRAMS, "otel-collector")]


def test_throwaway_stack_is_updated_at_once(local: Engine, pulumi: FakeEngine) -> None:
    write(local.config_file, THROWAWAY)
    assert deploy._update(local) == 0
    assert [call.split()[:3] for call in pulumi.calls] == [["up", "--refresh", "--yes"]]


def test_durable_stack_gets_the_plan_that_was_confirmed(
    prod: Engine, pulumi: FakeEngine, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("prod\n"))
    assert deploy._update(prod) == 0
    plan = f"{checkout}/.out/prod/plan.json"
    assert pulumi.calls == [
        f"preview --refresh --diff --save-plan {plan} --stack prod",
        f"up --refresh --plan {plan} --yes --skip-preview --stack prod",
    ]


@pytest.mark.usefixtures("checkout")
@pytest.mark.parametrize("answer", ["yes\n", "\n", "production\n"])
def test_durable_stack_is_not_changed_without_its_name(
    prod: Engine, pulumi: FakeEngine, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    with pytest.raises(SandboxError, match="not confirmed; nothing was changed"):
        deploy._update(prod)
    assert [call.split()[0] for call in pulumi.calls] == ["preview"]


@pytest.mark.usefixtures("checkout")
def test_durable_stack_is_not_changed_when_nobody_can_be_asked(
    prod: Engine, pulumi: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("prod\n"))
    with pytest.raises(SandboxError, match=r"is durable and there is nobody to confirm"):
        deploy._update(prod)
    assert [call.split()[0] for call in pulumi.calls] == ["preview"]


@pytest.mark.usefixtures("checkout")
def test_durable_stack_is_not_changed_after_a_failed_preview(prod: Engine, pulumi: FakeEngine) -> None:
    pulumi.fail(255)
    assert deploy._update(prod) == 255
    assert len(pulumi.calls) == 1


@pytest.fixture
def proved(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Catches the call of the smoke suite, which is red."""
    caught: dict[str, Any] = {}

    def smoke(argv: list[str], **options: object) -> SimpleNamespace:
        caught.update(options, argv=argv)
        return SimpleNamespace(returncode=1)

    monkeypatch.setattr(deploy, "subprocess", SimpleNamespace(run=smoke))
    return caught


@pytest.mark.usefixtures("checkout")
@pytest.mark.parametrize(("kind", "impact"), [("smoke", "sentinel"), ("prove", "disruptive")])
def test_smoke_gets_the_contract_of_the_stack_and_its_verdict_counts(
    local: Engine, pulumi: FakeEngine, proved: dict[str, Any], kind: str, impact: str
) -> None:
    write(local.config_file, "config:\n  plumbline:cluster:\n    kubeconfig: /k/config\n")
    pulumi.answer("stack ls", [{"name": "local"}])
    pulumi.answer("stack output", {"contract": {"version": 1}})
    assert deploy.prove(local, kind) == 1
    words = [word for word in proved["argv"] if word != "--boards"]
    assert len(words) == len(proved["argv"]) - 1
    options = dict(zip(words[3::2], words[4::2], strict=True))
    assert json.loads(Path(options["--contract"]).read_text()) == {"version": 1}
    assert options["--impact"] == impact
    assert options["--kubeconfig"] == "/k/config"


@pytest.mark.usefixtures("checkout")
def test_report_goes_without_boards_where_that_is_asked_for(
    prod: Engine, pulumi: FakeEngine, proved: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pulumi.answer("stack ls", [{"name": "prod"}])
    pulumi.answer("stack output", {"contract": {}})
    monkeypatch.setenv("BOARDS", "no")
    deploy.prove(prod, "smoke")
    assert "--boards" not in proved["argv"]


def test_word_that_says_neither_yes_nor_no_is_refused_before_anything_is_done(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOARDS", "maybe")
    said = "BOARDS is 'maybe', which says neither yes nor no\n  next: give yes, or no"
    with pytest.raises(SandboxError, match=said):
        deploy.up(home, "prod", silent()[0])
    with pytest.raises(SandboxError, match=said):
        deploy.smoke(home, "prod", "smoke")


@pytest.mark.usefixtures("checkout")
def test_smoke_of_a_stack_that_names_no_kubeconfig_uses_the_users(
    prod: Engine, pulumi: FakeEngine, proved: dict[str, Any]
) -> None:
    pulumi.answer("stack ls", [{"name": "prod"}])
    pulumi.answer("stack output", {"contract": {}})
    deploy.prove(prod, "smoke")
    assert "--kubeconfig" not in proved["argv"]


@pytest.mark.usefixtures("checkout")
def test_stack_that_was_never_deployed_is_named(prod: Engine, pulumi: FakeEngine) -> None:
    pulumi.answer("stack ls", [{"name": "staging"}])
    with pytest.raises(SandboxError, match=r"stack prod has never been deployed\n  next: run make up STACK=prod"):
        deploy.prove(prod, "smoke")


@pytest.mark.usefixtures("checkout")
def test_stack_without_a_contract_is_named(prod: Engine, pulumi: FakeEngine) -> None:
    pulumi.answer("stack ls", [{"name": "prod"}])
    pulumi.answer("stack output", {})
    with pytest.raises(SandboxError, match="has no output `contract`"):
        deploy.prove(prod, "smoke")


def test_preview_needs_a_running_cluster(home: Home) -> None:
    with pytest.raises(SandboxError, match=r"the embedded cluster 'local' does not run\n  next: run make up"):
        deploy.preview(home, "local", silent()[0])


@pytest.mark.parametrize("kind", ["smoke", "prove"])
def test_smoke_needs_a_running_cluster(home: Home, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(facts, "gather", lambda _: machine())
    with pytest.raises(SandboxError, match="does not run"):
        deploy.smoke(home, "local", kind)


@pytest.mark.parametrize("kind", ["smoke", "prove"])
def test_smoke_beside_another_command_is_refused(home: Home, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(facts, "gather", lambda _: machine())
    with ownership.machine_lock("make up"), pytest.raises(SandboxError, match="in use by another command: make up"):
        deploy.smoke(home, "local", kind)


@pytest.mark.usefixtures("checkout")
def test_pods_of_a_durable_stack_are_not_killed(home: Home, pulumi: FakeEngine) -> None:
    with pytest.raises(SandboxError, match=r"make prove kills pods and stack prod is durable"):
        deploy.smoke(home, "prod", "prove")
    assert pulumi.calls == []


def test_addresses_are_reached_through_the_api_server(local: Engine, checkout: Path) -> None:
    endpoint = {"service": "prometheus", "port": 9090, "scheme": "http"}
    contract = {"namespace": "plumbline", "components": {"prometheus": {"endpoints": {"http": endpoint}}}}
    write(checkout / ".out" / "local" / "contract.json", json.dumps(contract))
    assert "bin/kubectl -n plumbline port-forward svc/prometheus 9090" in deploy._addresses(local)


def test_reports_of_another_state_lie_apart(local: Engine, checkout: Path) -> None:
    test = engine.Engine(local.home, "local", local.home.state("test"))
    assert deploy.out_directory(test) == checkout / ".out" / "test"


@pytest.mark.parametrize("kind", ["smoke", "prove"])
def test_old_verdict_does_not_outlive_a_command_that_could_not_judge(
    local: Engine, checkout: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    reports = [write(checkout / f".out/local/report.{kind}", "green") for kind in ("json", "html", "md", "xml")]
    monkeypatch.setattr(deploy, "is_whole", lambda _: False)
    with pytest.raises(SandboxError, match="does not run"):
        deploy.smoke(local.home, "local", kind)
    assert [report for report in reports if report.exists()] == []
