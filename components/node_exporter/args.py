"""What the node-exporter component must be told: plain, frozen, already validated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from components.exporters import EVERY_TAINT
from components.node_exporter.names import PORT

if TYPE_CHECKING:
    from components.images import ImagePin
    from components.prometheus.args import Resources


@dataclass(frozen=True, kw_only=True)
class NodeExporterArgs:
    """Everything that decides what node-exporter runs.

    namespace: of node agents. instance: the stack's namespace. flags: which collectors run and what they leave out, as
    the catalogue says; addresses and paths are decided here. port: on the node's own address. textfile_directory: on
    the node, whose `*.prom` files are exposed as well. follow_mounts: file systems that are mounted later are seen
    too; needs a node whose root is a shared mount, as systemd makes it. max_unavailable: nodes without a pod during a
    roll-out, a number or per cent.
    """

    namespace: str
    instance: str
    image: ImagePin
    flags: tuple[str, ...]
    resources: Resources
    port: int = PORT
    textfile_directory: str | None = None
    follow_mounts: bool = True
    tolerations: tuple[dict[str, str], ...] = EVERY_TAINT
    max_unavailable: str = "10%"
