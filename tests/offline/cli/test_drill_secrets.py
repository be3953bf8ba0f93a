"""What a drill hands over, and to whom: no secret is in arguments or files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli import deploy
from sandbox.errors import SandboxError
from tests.offline.cli.drill_facts import CANARIES, NEW
from tests.offline.cli.drill_world import World, broken, kill, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("destroy", [False, True])
def test_no_secret_is_in_arguments_or_files(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, destroy: bool
) -> None:
    kill(world, monkeypatch, "judge", destroy=destroy)
    texts = [*world.arguments, *(path.read_text() for path in tmp_path.rglob("*") if path.is_file())]
    assert len(texts) > 10
    assert [canary for canary in CANARIES if any(canary in text for text in texts)] == []


def test_drill_is_given_the_key_of_the_reader_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    kill(world, monkeypatch, "judge", destroy=False)
    secrets = {(w, n): one["data"] for (k, w, n), one in world.objects.items() if k == "secret" and NEW in (w or "")}
    reader = {"accessKey": "cmVhZGVy", "secretKey": CANARIES[3]}
    none = {"accessKey": "bm9uZQ==", "secretKey": "bm9uZQ=="}
    assert secrets == {
        (f"{NEW}-swanlab", "drill-reader"): reader,
        (f"{NEW}-recovery", "drill-reader"): reader,
        (f"{NEW}-swanlab", "drill-writer"): none,
        (f"{NEW}-recovery", "drill-writer"): none,
        (f"{NEW}-recovery", "drill-pruner"): none,
    }


def test_target_lets_in_the_jobs_that_restore_and_nobody_else(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    kill(world, monkeypatch, "judge", destroy=False)
    spec = world.objects["networkpolicy", "plumbline-recovery", "plumbline-drill"]["spec"]
    assert spec == {
        "podSelector": {"matchLabels": {"a": "store"}},
        "policyTypes": ["Ingress"],
        "ingress": [
            {
                "from": [
                    {
                        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": f"{NEW}-swanlab"}},
                        "podSelector": {"matchLabels": {"app.kubernetes.io/name": "recovery-restore"}},
                    }
                ],
                "ports": [{"protocol": "TCP", "port": 8333}],
            }
        ],
    }


def test_target_of_somebody_else_needs_no_door(world: World) -> None:
    world.source["recovery"]["own"] = False
    assert run(world) == 0
    assert "apply NetworkPolicy" not in world.events


def test_settings_of_the_drill_are_readable_by_the_owner_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    kill(world, monkeypatch, "judge", destroy=False)
    assert (world.state / "Pulumi.drill.yaml").stat().st_mode & 0o777 == 0o600
    assert (world.state / "drill" / "drill.json").stat().st_mode & 0o777 == 0o600


def test_smoke_that_cannot_be_run_does_not_hide_what_broke(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> int:
        raise SandboxError("no contract", "run make up")

    monkeypatch.setattr(deploy, "prove", never)
    world.stop["restore"] = broken()
    with pytest.raises(SandboxError, match="it broke"):
        run(world)
