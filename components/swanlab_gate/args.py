"""What the gate must be told: plain, frozen, already validated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from components.images import ImagePin
    from components.prometheus.args import Resources
    from components.secrets import Existing

Kind = Literal["http", "body", "refused", "answers", "tcp", "redis", "postgres"]


@dataclass(frozen=True, kw_only=True)
class Part:
    """One endpoint that must answer; kinds and addresses as gate/model.py explains them. body: for kind `body`."""

    name: str
    kind: Kind
    address: str
    body: str = ""


@dataclass(frozen=True, kw_only=True)
class SwanlabGateArgs:
    """Everything that decides what the gate asks.

    namespace: the stack's, whose pods scrape it. swanlab_namespace: where it runs. licence_url: address of the server.
    api_key: entry of a Secret in SwanLab's namespace that need not exist yet.
    """

    namespace: str
    swanlab_namespace: str
    image: ImagePin
    parts: tuple[Part, ...]
    licence_url: str
    api_key: Existing
    resources: Resources
    network_policies: bool
