"""Memory of containers and of what runs in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.swanlab.quantity import size_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.prometheus.args import Resources

RUNTIME_PERCENT: Final = 80
"""Share of a container's memory at which Go's runtime collects garbage hard; the rest is for what it does not count."""


def runtime_limit(memory_bytes: int) -> dict[str, str]:
    """The variable that tells Go's runtime how much memory there is: it sees the node's, not the container's."""
    return {"name": "GOMEMLIMIT", "value": f"{memory_bytes * RUNTIME_PERCENT // 100}B"}


def above_limit(memory_bytes: int, resources: Resources) -> Iterator[str]:
    """A complaint if a program is told of more memory than its container may have: it would be killed, not refused."""
    try:
        limit = size_bytes(resources.memory_limit)
    except ValueError as error:
        yield f"resources.memory_limit: {error}"
        return
    if not 0 < memory_bytes <= limit:
        yield (
            f"memory_bytes: {memory_bytes} in a container of {resources.memory_limit} ({limit}); accepted is more than "
            "0 and no more than the container's limit"
        )
