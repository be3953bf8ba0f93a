"""PodResources says which GPUs there are, and which container holds which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sandbox.workloads.gpu.kubelet import KubeletError, PodResources
from tests.offline.sandbox.workloads.gpu.fakes import TRAINER

if TYPE_CHECKING:
    from pathlib import Path

    from tests.offline.sandbox.workloads.gpu.fakes import Kubelet

GPU = ("nvidia.com/gpu",)


def test_devices_of_the_resource_alone(kubelet: Kubelet) -> None:
    kubelet.devices = [("nvidia.com/gpu", "b"), ("nvidia.com/gpu", "a"), ("example.com/fpga", "c")]
    assert PodResources(str(kubelet.resources), GPU).devices() == ["a", "b"]


def test_other_names_of_gpus_are_taken_when_told(kubelet: Kubelet) -> None:
    kubelet.devices = [("nvidia.com/gpu", "a"), ("nvidia.com/a100", "b")]
    assert PodResources(str(kubelet.resources), (*GPU, "nvidia.com/a100")).devices() == ["a", "b"]


def test_device_is_mapped_to_its_container(kubelet: Kubelet) -> None:
    kubelet.pods = {"a": TRAINER}
    assert PodResources(str(kubelet.resources), GPU).pods() == {"a": TRAINER}


def test_kubelet_that_does_not_answer_is_named(tmp_path: Path) -> None:
    client = PodResources(str(tmp_path / "none.sock"), GPU)
    with pytest.raises(KubeletError, match=r"none\.sock: UNAVAILABLE"):
        client.pods()
    with pytest.raises(KubeletError, match=r"none\.sock: UNAVAILABLE"):
        client.devices()
