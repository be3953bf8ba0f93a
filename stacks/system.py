"""One component of a stack as decided, and the words in which the contract promises it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from stacks.contract import Component, Image, Workload

if TYPE_CHECKING:
    from collections.abc import Callable

    import pulumi

    from components.images import ImagePin
    from components.objects import Manifest

Images = dict[str, "ImagePin"]


@dataclass(frozen=True, kw_only=True)
class System:
    """One component as decided, before anything of it exists.

    manifests: role → manifest. promise: its part of the contract. register: makes the Pulumi component. lint: judges
    the rendered configuration with the program's own tool; raises DeployError. after: systems that must be there first.
    """

    name: str
    manifests: dict[str, Manifest]
    promise: Component
    register: Callable[[pulumi.ResourceOptions], pulumi.Resource]
    lint: Callable[[], None] = field(default=lambda: None)
    after: tuple[str, ...] = ()


def workload(
    kind: Literal["StatefulSet", "Deployment", "DaemonSet"],
    name: str,
    replicas: int | None,
    container: str,
    image: ImagePin,
) -> Workload:
    """A workload of one container that counts. replicas: None for a DaemonSet."""
    pinned = Image(container=container, reference=image.reference, image_id=image.image_id)
    return Workload(kind=kind, name=name, replicas=replicas, images=(pinned,))


def tier(image: ImagePin) -> Literal["simulated", "live"]:
    """What a claim about a program of this image is worth."""
    return "simulated" if image.stand_in else "live"
