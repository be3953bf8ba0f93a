"""What the Alertmanager component must be told: plain, frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.images import ImagePin
    from components.prometheus.args import Resources
    from components.secrets import Existing


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """An address that takes Alertmanager's webhook, version 4.

    url: address without credentials; or url_secret: the Secret that holds the address. token: the Secret that holds a
    bearer token. Both lie in the stack's namespace. send_resolved: tell the end of an alert as well.
    """

    url: str | None = None
    url_secret: Existing | None = None
    token: Existing | None = None
    send_resolved: bool = True


@dataclass(frozen=True, kw_only=True)
class Receiver:
    """Who is told. name: one of RECEIVERS in signals/routing.py. webhooks: all of them are told."""

    name: str
    webhooks: tuple[Webhook, ...]


@dataclass(frozen=True, kw_only=True)
class AlertmanagerArgs:
    """Everything that decides what Alertmanager runs.

    stack: whose silences the claim holds. volume: Kubernetes quantity. storage_class: None means the cluster's
    default. retention: Prometheus duration, how long ended silences and sent notifications are remembered.
    external_url: where people reach it, stands in notifications. `cluster` and `environment` come with every alert,
    as external labels of Prometheus.
    """

    stack: str
    namespace: str
    image: ImagePin
    volume: str
    storage_class: str | None
    retention: str
    resources: Resources
    network_policies: bool
    receivers: tuple[Receiver, ...]
    external_url: str | None = None
