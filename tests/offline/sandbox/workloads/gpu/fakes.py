"""A kubelet that answers what a test wants, and nodes with GPUs."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import grpc

from sandbox.workloads.gpu.api import deviceplugin_pb2 as plugin
from sandbox.workloads.gpu.api import podresources_pb2
from sandbox.workloads.gpu.collector import Shape
from sandbox.workloads.gpu.counters import parse
from sandbox.workloads.gpu.identity import RESOURCE, gpu_uuid
from sandbox.workloads.gpu.kubelet import Pod
from sandbox.workloads.gpu.node import Node

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sandbox.workloads.gpu.fields import Instance

NOW = 1_700_000_000.0
PATIENCE = 60.0
TRAINER = Pod("trainer-0", "team-research", "worker")
COUNTERS = """\
# Own file of these tests
DCGM_FI_DEV_GPU_UTIL, gauge, Utilization.
DCGM_FI_DEV_GPU_TEMP, gauge, Temperature.
DCGM_FI_DEV_POWER_USAGE, gauge, Power.
DCGM_FI_DEV_SM_CLOCK, gauge, Clock.
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION, counter, Energy.
DCGM_FI_DEV_XID_ERRORS, gauge, Last XID.
DCGM_FI_DEV_ECC_DBE_VOL_TOTAL, counter, Double-bit errors.
DCGM_FI_DEV_ROW_REMAP_FAILURE, gauge, Row remapping.
DCGM_FI_DEV_THERMAL_VIOLATION, counter, Thermal.
DCGM_FI_DEV_POWER_VIOLATION, counter, Power.
DCGM_FI_DEV_FB_USED, gauge, Used.
DCGM_EXP_XID_ERRORS_COUNT, gauge, XIDs in the window.
DCGM_EXP_XID_ERRORS_TOTAL, counter, XIDs.
DCGM_EXP_CLOCK_EVENTS_COUNT, gauge, Clock events in the window.
DCGM_EXP_GPU_HEALTH_STATUS, gauge, Health.
DCGM_FI_DRIVER_VERSION, label, Driver.
"""


def shape(text: str = COUNTERS) -> Shape:
    """What the node `n1` exports."""
    return Shape("n1", "n1", parse(text, "counters.csv"))


class Rig:
    """A node with two GPUs; the first one is held."""

    def __init__(self, text: str = COUNTERS, sliced: dict[int, tuple[Instance, ...]] | None = None) -> None:
        """Everything is well."""
        self.now = NOW
        self.uuids = [gpu_uuid("n1", index) for index in range(2)]
        self.pods = {self.uuids[0]: TRAINER}
        self.node = Node(shape(text), NOW, sliced)
        self.node.devices(self.uuids, NOW)
        self.node.tick(NOW, self.pods)

    def after(self, seconds: float) -> None:
        """Time passes, DCGM samples every half minute."""
        end = self.now + seconds
        while self.now < end:
            self.now = min(end, self.now + 30)
            self.node.tick(self.now, self.pods)

    def page(self) -> str:
        """The page; its status must be 200."""
        page = self.node.page(self.pods, self.now)
        assert page.status == 200
        return page.body

    def values(self, metric: str, **labels: str) -> list[float]:
        """Values of a metric's series with these labels, by UUID."""
        return values(self.page(), metric, **labels)

    def value(self, metric: str, gpu: int = 0, **labels: str) -> float:
        """Value of the one series of a GPU."""
        found = self.values(metric, gpu=str(gpu), **labels)
        assert len(found) == 1, (metric, gpu, labels, found)
        return found[0]


def values(page: str, metric: str, **labels: str) -> list[float]:
    """Values of a metric's series with these labels."""
    wanted = [f'{name}="{value}"' for name, value in labels.items()]
    lines = [line for line in page.splitlines() if line.startswith(f"{metric}{{")]
    return [float(line.rpartition(" ")[2]) for line in lines if all(word in line for word in wanted)]


class Kubelet:
    """Registration and PodResources on sockets in a directory."""

    def __init__(self, directory: Path) -> None:
        """directory: of `kubelet.sock` for registration and `resources.sock` for PodResources."""
        self.directory = directory
        self.registered: list[plugin.RegisterRequest] = []
        self.devices: list[tuple[str, str]] = []
        self.pods: dict[str, Pod] = {}
        self._server: grpc.Server | None = None

    @property
    def resources(self) -> Path:
        """Socket of PodResources."""
        return self.directory / "resources.sock"

    def start(self) -> None:
        """Listen, as a kubelet that starts does: every socket of a plugin is deleted."""
        for path in self.directory.glob("*.sock"):
            path.unlink()
        server = grpc.server(ThreadPoolExecutor(max_workers=2))
        server.add_generic_rpc_handlers((self._registration(), self._resources()))
        for name in ("kubelet.sock", "resources.sock"):
            server.add_insecure_port(f"unix://{self.directory / name}")
        server.start()
        self._server = server

    def stop(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.stop(grace=None).wait()

    def _register(self, request: plugin.RegisterRequest, _: object) -> plugin.Empty:
        self.registered.append(request)
        return plugin.Empty()

    def _registration(self) -> grpc.GenericRpcHandler:
        handler = grpc.unary_unary_rpc_method_handler(
            self._register,
            request_deserializer=plugin.RegisterRequest.FromString,
            response_serializer=plugin.Empty.SerializeToString,
        )
        return grpc.method_handlers_generic_handler("v1beta1.Registration", {"Register": handler})

    def _list(self, _request: object, _context: object) -> podresources_pb2.ListPodResourcesResponse:
        items = [
            podresources_pb2.PodResources(
                name=pod.name,
                namespace=pod.namespace,
                containers=[
                    podresources_pb2.ContainerResources(
                        name=pod.container,
                        devices=[podresources_pb2.ContainerDevices(resource_name=RESOURCE, device_ids=[device])],
                    )
                ],
            )
            for device, pod in self.pods.items()
        ]
        other = podresources_pb2.ContainerDevices(resource_name="example.com/fpga", device_ids=["fpga-0"])
        items.append(
            podresources_pb2.PodResources(
                name="other", containers=[podresources_pb2.ContainerResources(devices=[other])]
            )
        )
        return podresources_pb2.ListPodResourcesResponse(pod_resources=items)

    def _allocatable(self, _request: object, _context: object) -> podresources_pb2.AllocatableResourcesResponse:
        return podresources_pb2.AllocatableResourcesResponse(
            devices=[podresources_pb2.ContainerDevices(resource_name=name, device_ids=[i]) for name, i in self.devices]
        )

    def _resources(self) -> grpc.GenericRpcHandler:
        return grpc.method_handlers_generic_handler(
            "v1.PodResourcesLister",
            {
                "List": grpc.unary_unary_rpc_method_handler(
                    self._list,
                    request_deserializer=podresources_pb2.ListPodResourcesRequest.FromString,
                    response_serializer=podresources_pb2.ListPodResourcesResponse.SerializeToString,
                ),
                "GetAllocatableResources": grpc.unary_unary_rpc_method_handler(
                    self._allocatable,
                    request_deserializer=podresources_pb2.AllocatableResourcesRequest.FromString,
                    response_serializer=podresources_pb2.AllocatableResourcesResponse.SerializeToString,
                ),
            },
        )


def wait_until(condition: Callable[[], bool]) -> None:
    """Poll until it holds; fails after PATIENCE seconds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.02)
