"""What the pods of SwanLab are given: its chart has no defaults, and what asks for nothing is evicted first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.pods import quantities
from components.prometheus.args import Resources

if TYPE_CHECKING:
    from components.objects import Manifest
    from components.swanlab.args import Size

_STANDARD: Final = {
    "gateway": ("200m", "256Mi", "1Gi"),
    "server": ("500m", "768Mi", "2Gi"),
    "auth": ("100m", "128Mi", "512Mi"),
    "house": ("500m", "512Mi", "2Gi"),
    "cloud": ("50m", "64Mi", "256Mi"),
    "next": ("200m", "384Mi", "1Gi"),
    "vector": ("500m", "512Mi", "2Gi"),
    "postgres": ("500m", "1Gi", "4Gi"),
    "redis": ("200m", "512Mi", "4Gi"),
    "clickhouse": ("1", "4Gi", "16Gi"),
    "s3": ("500m", "1Gi", "4Gi"),
    "rotation": ("50m", "64Mi", "128Mi"),
}
_SMALL: Final = {
    "gateway": ("10m", "32Mi", "256Mi"),
    "server": ("20m", "96Mi", "512Mi"),
    "auth": ("10m", "64Mi", "384Mi"),
    "house": ("20m", "96Mi", "512Mi"),
    "cloud": ("10m", "48Mi", "256Mi"),
    "next": ("10m", "48Mi", "512Mi"),
    "vector": ("20m", "96Mi", "512Mi"),
    "postgres": ("20m", "96Mi", "512Mi"),
    "redis": ("10m", "32Mi", "256Mi"),
    "clickhouse": ("50m", "256Mi", "2Gi"),
    "s3": ("20m", "128Mi", "1Gi"),
    "rotation": ("10m", "32Mi", "128Mi"),
}
_SIZES: Final[dict[Size, dict[str, tuple[str, str, str]]]] = {"standard": _STANDARD, "small": _SMALL}
"""Size → program → requested processor time, requested memory, most memory."""


def given(size: Size, program: str) -> Resources:
    """What a program is given."""
    cpu, memory, limit = _SIZES[size][program]
    return Resources(cpu_request=cpu, memory_request=memory, memory_limit=limit)


def resources(size: Size, program: str) -> Manifest:
    """`resources` of a program's container."""
    return quantities(given(size, program))
