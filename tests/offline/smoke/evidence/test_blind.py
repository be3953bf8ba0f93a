"""A stack whose exporter of GPUs was away says so, and a throttle on somebody else's GPU stays his."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from smoke.run_evidence.main import BLIND, TOLD
from tests.offline.smoke.evidence.conftest import prometheus
from tests.offline.smoke.evidence.scene import OF_RUN, STEP

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.offline.smoke.evidence.conftest import Stores


def at(sample: str) -> float:
    """Time of a line of OpenMetrics."""
    return float(sample.rpartition(" ")[2])


def asked(stores: Stores, directory: Path, keep: Callable[[str], bool], *words: str) -> tuple[int, dict[str, Any]]:
    """The command on a Prometheus that has a part of the samples."""
    scene = replace(stores.scene, samples=[one for one in stores.scene.samples if keep(one)])
    with prometheus(scene, directory) as port:
        return stores.ask("--run", *words, prometheus=port)


def test_exporter_that_was_away_is_not_clean(stores: Stores, tmp_path: Path) -> None:
    code, found = asked(stores, tmp_path, lambda one: not one.startswith("DCGM_"), "cool", "--step", str(STEP))
    assert (code, found["verdict"], found["findings"]) == (BLIND, "incomplete", [])
    essential = [one for one in found["not_looked_at"] if one["essential"]]
    assert [one["what"] for one in essential] == ["2 of the 2 GPUs of pod team-a/cool-0"]


def test_one_gpu_without_samples_around_the_step_is_not_clean(stores: Stores, tmp_path: Path) -> None:
    """Its scrapes end just before the step: the pod still has it, as far as anybody knows."""
    uuid, begin = OF_RUN["cool"][1], stores.scene.begin + 195

    def keep(one: str) -> bool:
        return not (uuid in one and at(one) > begin)

    code, found = asked(stores, tmp_path, keep, "cool", "--step", str(STEP))
    assert (code, found["verdict"], found["findings"]) == (BLIND, "incomplete", [])
    assert [uuid in one["what"] for one in found["not_looked_at"] if one["essential"]] == [True]


def test_rules_that_nobody_evaluated_are_not_silence(stores: Stores, tmp_path: Path) -> None:
    def keep(one: str) -> bool:
        away = one.startswith(("ALERTS", "plumbline:")) and at(one) > stores.scene.begin + 60
        return not away

    code, found = asked(stores, tmp_path, keep, "cool", "--step", str(STEP))
    assert (code, found["verdict"]) == (BLIND, "incomplete")
    assert "alerts" in {one["what"] for one in found["not_looked_at"] if one["essential"]}


@pytest.mark.parametrize(("run", "found"), [("hot", True), ("cool", False)])
def test_throttle_is_blamed_on_who_holds_the_gpu(stores: Stores, tmp_path: Path, run: str, found: bool) -> None:  # noqa: FBT001  # a parameter of the test
    """Without alerts and logs of steps beside: by the GPU alone."""
    code, page = asked(stores, tmp_path, lambda one: "GpuThermalThrottling" not in one, run, "--step", str(STEP))
    assert code == TOLD
    assert [one["kind"] for one in page["findings"] if one["kind"] != "slow_step"] == ["thermal_throttle"] * found
