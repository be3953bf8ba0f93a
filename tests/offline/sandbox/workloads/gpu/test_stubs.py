"""Messages on the kubelet's sockets have upstream's names, numbers and types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from google.protobuf.descriptor import FieldDescriptor
from grpc_tools import protoc  # type: ignore[import-untyped]  # ships without type information

from cli.engine import ROOT
from sandbox.workloads.gpu.api import deviceplugin_pb2, podresources_pb2

if TYPE_CHECKING:
    from pathlib import Path

    from google.protobuf.descriptor import Descriptor

API = "sandbox/workloads/gpu/api"
# By hand from k8s.io/kubelet v0.34.4: pkg/apis/deviceplugin/v1beta1/api.proto and pkg/apis/podresources/v1/api.proto.
DEVICE_PLUGIN = {
    "Empty": {},
    "DevicePluginOptions": {
        "pre_start_required": (1, "bool"),
        "get_preferred_allocation_available": (2, "bool"),
    },
    "RegisterRequest": {
        "version": (1, "string"),
        "endpoint": (2, "string"),
        "resource_name": (3, "string"),
        "options": (4, "DevicePluginOptions"),
    },
    "Device": {"ID": (1, "string"), "health": (2, "string")},
    "ListAndWatchResponse": {"devices": (1, "repeated Device")},
    "ContainerAllocateRequest": {"devices_ids": (1, "repeated string")},
    "AllocateRequest": {"container_requests": (1, "repeated ContainerAllocateRequest")},
    "ContainerAllocateResponse": {"envs": (1, "repeated EnvsEntry")},
    "AllocateResponse": {"container_responses": (1, "repeated ContainerAllocateResponse")},
}
POD_RESOURCES = {
    "AllocatableResourcesRequest": {},
    "AllocatableResourcesResponse": {"devices": (1, "repeated ContainerDevices")},
    "ListPodResourcesRequest": {},
    "ListPodResourcesResponse": {"pod_resources": (1, "repeated PodResources")},
    "PodResources": {
        "name": (1, "string"),
        "namespace": (2, "string"),
        "containers": (3, "repeated ContainerResources"),
    },
    "ContainerResources": {"name": (1, "string"), "devices": (2, "repeated ContainerDevices")},
    "ContainerDevices": {"resource_name": (1, "string"), "device_ids": (2, "repeated string")},
}
TYPES = {FieldDescriptor.TYPE_BOOL: "bool", FieldDescriptor.TYPE_STRING: "string"}


def fields(message: Descriptor) -> dict[str, tuple[int, str]]:
    """Field → its number and type."""
    found = {}
    for field in message.fields:
        kind = field.message_type.name if field.message_type else TYPES[field.type]
        found[field.name] = (field.number, f"repeated {kind}" if field.is_repeated else kind)
    return found


@pytest.mark.parametrize(
    ("module", "package", "expected"),
    [(deviceplugin_pb2, "v1beta1", DEVICE_PLUGIN), (podresources_pb2, "v1", POD_RESOURCES)],
    ids=["device plugin", "pod resources"],
)
def test_messages_are_those_of_upstream(
    module: object, package: str, expected: dict[str, dict[str, tuple[int, str]]]
) -> None:
    file = module.DESCRIPTOR  # type: ignore[attr-defined]  # every generated module has one
    assert file.package == package
    assert {name: fields(message) for name, message in file.message_types_by_name.items()} == expected


@pytest.mark.parametrize("name", ["deviceplugin", "podresources"])
def test_generated_modules_follow_from_their_sources(tmp_path: Path, name: str) -> None:
    arguments = ["", f"-I{ROOT}", f"--python_out={tmp_path}", f"--pyi_out={tmp_path}", f"{API}/{name}.proto"]
    assert protoc.main(arguments) == 0
    for suffix in ("_pb2.py", "_pb2.pyi"):
        made = tmp_path / API / f"{name}{suffix}"
        assert (ROOT / API / made.name).read_text() == made.read_text()
