"""The kubelet's interfaces for devices, over its sockets: a thin layer over gRPC and the generated messages.

Services, methods and messages as in k8s.io/kubelet v0.34.4: deviceplugin v1beta1 and podresources v1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import grpc

from sandbox.workloads.gpu.api import deviceplugin_pb2 as plugin
from sandbox.workloads.gpu.api import podresources_pb2 as resources

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = "v1beta1"
# As the exporter upstream: a node with many pods answers with more than gRPC's default of 4 MiB.
MESSAGE_BYTES = 16 * 2**20
MIG_PREFIX = "nvidia.com/mig-"


class KubeletError(Exception):
    """The kubelet's socket does not answer, or it refused: which socket, what it said."""


@dataclass(frozen=True)
class Pod:
    """A container that holds a device."""

    name: str
    namespace: str
    container: str


class DevicePlugin(Protocol):
    """What a device plugin answers."""

    def options(self) -> plugin.DevicePluginOptions:
        """Optional calls that the plugin wants."""

    def devices(self) -> Iterator[plugin.ListAndWatchResponse]:
        """The list of devices, and again whenever it changes."""

    def allocate(self, request: plugin.AllocateRequest) -> plugin.AllocateResponse:
        """What a container needs to use its devices. Raises ValueError for unknown devices."""


def handlers(served: DevicePlugin) -> grpc.GenericRpcHandler:
    """The service `v1beta1.DevicePlugin`."""

    def allocate(request: plugin.AllocateRequest, context: grpc.ServicerContext) -> plugin.AllocateResponse:
        try:
            return served.allocate(request)
        except ValueError as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))

    return grpc.method_handlers_generic_handler(
        f"{VERSION}.DevicePlugin",
        {
            "GetDevicePluginOptions": grpc.unary_unary_rpc_method_handler(
                lambda _request, _context: served.options(),
                request_deserializer=plugin.Empty.FromString,
                response_serializer=plugin.DevicePluginOptions.SerializeToString,
            ),
            "ListAndWatch": grpc.unary_stream_rpc_method_handler(
                lambda _request, _context: served.devices(),
                request_deserializer=plugin.Empty.FromString,
                response_serializer=plugin.ListAndWatchResponse.SerializeToString,
            ),
            "Allocate": grpc.unary_unary_rpc_method_handler(
                allocate,
                request_deserializer=plugin.AllocateRequest.FromString,
                response_serializer=plugin.AllocateResponse.SerializeToString,
            ),
        },
    )


def register(socket: str, endpoint: str, resource: str, options: plugin.DevicePluginOptions) -> None:
    """Tell the kubelet that a plugin listens on `endpoint`, a name beside its own socket. Raises KubeletError."""
    request = plugin.RegisterRequest(version=VERSION, endpoint=endpoint, resource_name=resource, options=options)
    with grpc.insecure_channel(f"unix://{socket}") as channel:
        call = channel.unary_unary(
            f"/{VERSION}.Registration/Register",
            request_serializer=plugin.RegisterRequest.SerializeToString,
            response_deserializer=plugin.Empty.FromString,
        )
        try:
            call(request, timeout=10)
        except grpc.RpcError as error:
            raise KubeletError(f"{socket}: registration of {resource} failed: {_said(error)}") from error


def _said(error: grpc.RpcError) -> str:
    """Status and words of a failed call, on one line; the error's own text has ten."""
    if isinstance(error, grpc.Call):
        return f"{error.code().name}: {' '.join(str(error.details()).split())}"
    return str(error)


class PodResources:
    """Client of `v1.PodResourcesLister`: which devices there are, and which container holds which."""

    def __init__(self, socket: str, names: tuple[str, ...]) -> None:
        """socket: path of the kubelet's PodResources socket. names: resources that count as GPUs."""
        self._socket, self._names = socket, names
        options = [("grpc.max_receive_message_length", MESSAGE_BYTES)]
        channel = grpc.insecure_channel(f"unix://{socket}", options=options)
        self.close = channel.close
        self._list = channel.unary_unary(
            "/v1.PodResourcesLister/List",
            request_serializer=resources.ListPodResourcesRequest.SerializeToString,
            response_deserializer=resources.ListPodResourcesResponse.FromString,
        )
        self._allocatable = channel.unary_unary(
            "/v1.PodResourcesLister/GetAllocatableResources",
            request_serializer=resources.AllocatableResourcesRequest.SerializeToString,
            response_deserializer=resources.AllocatableResourcesResponse.FromString,
        )

    def devices(self) -> list[str]:
        """Ids of the healthy GPUs that the node offers. Raises KubeletError."""
        try:
            answer = self._allocatable(resources.AllocatableResourcesRequest(), timeout=10)
        except grpc.RpcError as error:
            raise KubeletError(f"{self._socket}: {_said(error)}") from error
        return sorted({i for item in answer.devices if item.resource_name in self._names for i in item.device_ids})

    def pods(self) -> dict[str, Pod]:
        """Device id → container that holds it. Raises KubeletError."""
        try:
            answer = self._list(resources.ListPodResourcesRequest(), timeout=10)
        except grpc.RpcError as error:
            raise KubeletError(f"{self._socket}: {_said(error)}") from error
        return {
            device: Pod(pod.name, pod.namespace, container.name)
            for pod in answer.pod_resources
            for container in pod.containers
            for item in container.devices
            if item.resource_name in self._names or item.resource_name.startswith(MIG_PREFIX)
            for device in item.device_ids
        }
