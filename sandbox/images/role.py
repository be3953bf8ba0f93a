"""A role: what is in an image, how its containers start, and the name that follows from both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sandbox.images import layers

if TYPE_CHECKING:
    from sandbox.images.layers import Layer
    from sandbox.images.oci import Settings

NOBODY: Final = 65534
OURS: Final = 65532  # of programs of ours, and of those that name no user of their own


@dataclass(frozen=True)
class Role:
    """An image: role, version in its tag, layers from the bottom up, how it starts.

    image: its name where that is not the role's. stand_in: whether it imitates a program that cannot be had here.
    """

    name: str
    version: str
    layers: tuple[Layer, ...]
    settings: Settings
    image: str = ""
    stand_in: bool = False

    def digest(self) -> str:
        """First 8 hex digits of the hash over every input."""
        return layers.key(self.version, repr(self.settings), *(layer.key for layer in self.layers))[:8]

    def reference(self) -> str:
        """`plumbline.local/<image>:<version>-<hash8>`: says that it was built here, never an upstream's name."""
        return f"plumbline.local/{self.image or self.name}:{self.version}-{self.digest()}"


def title(text: str) -> dict[str, str]:
    """The label that says what an image is."""
    return {"org.opencontainers.image.title": text}
