"""SwanLab when all its pods die at once: what survives, and what does not is told. Its pods are stand-ins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.offline.smoke.conftest import check_of
from tests.offline.smoke.fake_swanlab import KEY
from tests.offline.smoke.lab import BASE

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.offline.smoke.lab import Lab

Json = dict[str, Any]

SURVIVAL = "swanlab.survives_kill"


def test_prove_kills_every_pod_at_once_and_finds_everything_again(lab: Lab) -> None:
    code, report = lab.run(SURVIVAL, impact="disruptive")
    found = check_of(report, SURVIVAL)
    assert (found["status"], found["evidence"].count("46 points"), code) == ("pass", 1, 0), found["evidence"]
    assert sorted(lab.killed) == ["clickhouse-0", "object-store-0", "postgres-0", "redis-0", "server-0", "vector-0"]
    assert "6 pods were killed at once and replaced; the same key logs alice in" in found["evidence"]
    assert lab.left() == []


def _on_death(lab: Lab, change: Callable[[], object]) -> None:
    delete = lab.delete

    def dying(path: str, body: Json) -> tuple[int, Any]:
        answer = delete(path, body)
        if lab.killed:
            change()
        return answer

    lab.world.api.delete = dying  # type: ignore[method-assign]  # the stand-in is damaged here


def _loses_points(lab: Lab) -> None:
    _on_death(lab, lambda: [run.points.update({"sentinel/k0": []}) for run in lab.swanlab.runs.values()])


def _loses_sessions_alone(lab: Lab) -> None:
    _on_death(lab, lambda: setattr(lab.swanlab, "sessions", set()))


def _loses_keys(lab: Lab) -> None:
    _on_death(lab, lambda: setattr(lab.swanlab, "keys", {}))


def _loses_files(lab: Lab) -> None:
    _on_death(lab, lambda: [run.files.update({"sentinel/image": []}) for run in lab.swanlab.runs.values()])


def _other_account(lab: Lab) -> None:
    _on_death(lab, lambda: lab.swanlab.keys.update({KEY: "mallory"}))


def _new_claim(lab: Lab) -> None:
    claim = lab.world.api.objects[f"{BASE}/persistentvolumeclaims/swanlab-postgres-pvc"]
    _on_death(lab, lambda: claim["metadata"].update(uid="new"))


def _stays_away(lab: Lab) -> None:
    _on_death(lab, lambda: [pod["status"].update(phase="Pending", conditions=[]) for pod in lab.pods])


DEATHS: list[tuple[Callable[[Lab], None], str]] = [
    (_loses_points, "key sentinel/k0: seen 20 missing (steps 0-19)"),
    (_loses_files, "files of key sentinel/image"),
    (_loses_keys, "HTTP 401"),
    (_other_account, "account of the key: seen mallory; expected alice"),
    (_new_claim, "claim swanlab-postgres-pvc: seen uid new"),
    (_stays_away, "Pending"),
]


@pytest.mark.parametrize(("damage", "words"), DEATHS)
def test_what_does_not_survive_is_told(lab: Lab, damage: Callable[[Lab], None], words: str) -> None:
    damage(lab)
    code, report = lab.run(SURVIVAL, impact="disruptive")
    assert words in check_of(report, SURVIVAL)["evidence"]
    assert code == 1


def test_sessions_may_die_with_their_store(lab: Lab) -> None:
    _loses_sessions_alone(lab)
    code, _ = lab.run(SURVIVAL, impact="disruptive")
    assert code == 0
