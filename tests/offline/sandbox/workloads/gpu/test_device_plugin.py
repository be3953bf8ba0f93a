"""The device plugin offers GPUs to a kubelet, hands them out, loses them, and comes back when the kubelet does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import pytest

from sandbox.cluster import gpus
from sandbox.workloads.gpu import device_plugin
from sandbox.workloads.gpu.api import deviceplugin_pb2 as plugin
from sandbox.workloads.gpu.device_plugin import Gpus, Server, read_lost
from sandbox.workloads.gpu.identity import gpu_uuid
from tests.offline.sandbox.workloads.gpu.fakes import Kubelet, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

IDS = tuple(gpu_uuid("n1", index) for index in range(8))


@pytest.fixture
def offered() -> Gpus:
    """Eight healthy GPUs."""
    return Gpus("n1", 8)


@pytest.fixture
def server(offered: Gpus, kubelet: Kubelet) -> Iterator[Server]:
    """A plugin that is registered."""
    made = Server(offered, kubelet.directory)
    made.keep_registered()
    yield made
    offered.close()
    made.stop()


@pytest.fixture
def channel(kubelet: Kubelet) -> Iterator[grpc.Channel]:
    """To the plugin, as the kubelet opens it."""
    with grpc.insecure_channel(f"unix://{kubelet.directory}/plumbline-gpu.sock") as made:
        yield made


def allocate(channel: grpc.Channel, *requests: list[str]) -> plugin.AllocateResponse:
    """Ask for devices, one list per container."""
    call = channel.unary_unary(
        "/v1beta1.DevicePlugin/Allocate",
        request_serializer=plugin.AllocateRequest.SerializeToString,
        response_deserializer=plugin.AllocateResponse.FromString,
    )
    items = [plugin.ContainerAllocateRequest(devices_ids=devices) for devices in requests]
    return call(plugin.AllocateRequest(container_requests=items), timeout=60)


@pytest.mark.usefixtures("server")
def test_plugin_registers_its_socket_and_resource(kubelet: Kubelet) -> None:
    (request,) = kubelet.registered
    assert (request.version, request.endpoint) == ("v1beta1", "plumbline-gpu.sock")
    assert request.resource_name == "nvidia.com/gpu"
    assert not request.options.pre_start_required


@pytest.mark.usefixtures("server")
def test_devices_are_listed_and_lost_and_found(channel: grpc.Channel, offered: Gpus) -> None:
    call = channel.unary_stream(
        "/v1beta1.DevicePlugin/ListAndWatch",
        request_serializer=plugin.Empty.SerializeToString,
        response_deserializer=plugin.ListAndWatchResponse.FromString,
    )
    stream = call(plugin.Empty(), timeout=60)
    first = next(stream)
    assert [(device.ID, device.health) for device in first.devices] == [(i, "Healthy") for i in IDS]
    offered.lose(frozenset({3}))
    assert [device.ID for device in next(stream).devices if device.health == "Unhealthy"] == [IDS[3]]
    offered.lose(frozenset())
    assert {device.health for device in next(stream).devices} == {"Healthy"}


@pytest.mark.usefixtures("server")
def test_container_is_told_its_devices(channel: grpc.Channel) -> None:
    answer = allocate(channel, [IDS[2], IDS[5]], [IDS[0]])
    assert [dict(item.envs) for item in answer.container_responses] == [
        {"NVIDIA_VISIBLE_DEVICES": f"{IDS[2]},{IDS[5]}"},
        {"NVIDIA_VISIBLE_DEVICES": IDS[0]},
    ]


@pytest.mark.usefixtures("server")
def test_unknown_device_is_not_handed_out(channel: grpc.Channel) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        allocate(channel, ["GPU-of-another-node"])
    assert isinstance(caught.value, grpc.Call)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert "unknown device GPU-of-another-node" in str(caught.value.details())


def test_options_ask_for_no_optional_call(channel: grpc.Channel, server: Server) -> None:
    call = channel.unary_unary(
        "/v1beta1.DevicePlugin/GetDevicePluginOptions",
        request_serializer=plugin.Empty.SerializeToString,
        response_deserializer=plugin.DevicePluginOptions.FromString,
    )
    server.keep_registered()
    assert call(plugin.Empty(), timeout=60) == plugin.DevicePluginOptions()


def test_same_kubelet_is_not_registered_with_twice(server: Server, kubelet: Kubelet) -> None:
    server.keep_registered()
    assert len(kubelet.registered) == 1


def test_restarted_kubelet_is_registered_with_again(server: Server, kubelet: Kubelet) -> None:
    kubelet.stop()
    kubelet.start()  # deletes the plugin's socket
    server.keep_registered()
    assert len(kubelet.registered) == 2
    assert (kubelet.directory / "plumbline-gpu.sock").exists()


def test_plugin_waits_for_a_kubelet(offered: Gpus, tmp_path: Path) -> None:
    Server(offered, tmp_path).keep_registered()
    assert list(tmp_path.iterdir()) == []


def test_kubelet_that_does_not_answer_is_tried_again(
    offered: Gpus, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "kubelet.sock").touch()
    server = Server(offered, tmp_path)
    server.keep_registered()
    assert "registration of nvidia.com/gpu failed: UNAVAILABLE" in caplog.text
    offered.close()
    server.stop()
    (tmp_path / "kubelet.sock").unlink()
    kubelet = Kubelet(tmp_path)
    kubelet.start()
    again = Server(Gpus("n1", 8), tmp_path)
    again.keep_registered()
    assert len(kubelet.registered) == 1
    again.stop()
    kubelet.stop()


def test_lost_gpus_are_read_from_a_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "lost"
    assert read_lost(file, 8) == read_lost(None, 8) == frozenset()
    file.write_text("3\n7\n")
    assert read_lost(file, 8) == {3, 7}
    file.write_text("3\n8\nall\n")
    assert read_lost(file, 8) == {3}
    assert "not an index from 0 to 7: 8 all" in caplog.text


@pytest.mark.parametrize("count", ["0", "17", "-1"])
def test_number_of_gpus_is_checked(count: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        device_plugin.parse(["--node=n1", f"--count={count}"])
    assert "1 to 16 are accepted" in capsys.readouterr().err


def test_process_runs_from_the_sources_that_the_cluster_copies(tmp_path: Path, kubelet: Kubelet) -> None:
    for name, text in gpus.sources().items():
        path = tmp_path / "config" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    lost = tmp_path / "lost"
    command = [sys.executable, "-P", "-m", gpus.MODULE, "--node=n1", "--count=8", f"--directory={kubelet.directory}"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "config" / gpus.DIRECTORY)}
    process = subprocess.Popen([*command, f"--lost={lost}"], env=environment, cwd="/", stderr=subprocess.PIPE)
    try:
        wait_until(lambda: len(kubelet.registered) == 1)
        assert Path(f"/proc/{process.pid}/comm").read_text().strip() == "gpu-plugin"
        with grpc.insecure_channel(f"unix://{kubelet.directory}/plumbline-gpu.sock") as channel:
            call = channel.unary_stream(
                "/v1beta1.DevicePlugin/ListAndWatch",
                request_serializer=plugin.Empty.SerializeToString,
                response_deserializer=plugin.ListAndWatchResponse.FromString,
            )
            stream = call(plugin.Empty(), timeout=20)
            assert {device.health for device in next(stream).devices} == {"Healthy"}
            lost.write_text("1\n")
            assert [device.ID for device in next(stream).devices if device.health != "Healthy"] == [IDS[1]]
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()


def test_stream_ends_when_the_plugin_does(offered: Gpus) -> None:
    stream = offered.devices()
    next(stream)
    threading.Timer(0.05, offered.close).start()
    assert list(stream) == []
