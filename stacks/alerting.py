"""Sections of the settings: who is told when an alert fires."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stacks.fields import Bytes, DnsName, DnsSubdomain, Duration, HttpUrl, SecretKey, Text, WebhookUrl
from stacks.section import Section


class SecretEntry(Section):
    """One entry of an existing Secret in the stack's namespace."""

    name: DnsSubdomain = Field(description="name of the Secret")
    key: SecretKey = Field(description="key in it")


class Webhook(Section):
    """An address that takes Alertmanager's webhook, version 4. Exactly one of url and url_secret."""

    url: WebhookUrl | None = Field(default=None, description="address without credentials, in its path neither")
    url_secret: SecretEntry | None = Field(default=None, description="Secret with the address: keys name, key")
    token: SecretEntry | None = Field(default=None, description="Secret with a bearer token: keys name, key")
    send_resolved: bool = Field(default=True, description="false if the end of an alert must not be told")


class Receivers(Section):
    """Who is told, by severity. A severity that nobody receives is an error."""

    P0: tuple[Webhook, ...] = Field(default=(), description="response in 5 minutes: list of webhooks")
    P1: tuple[Webhook, ...] = Field(default=(), description="response in 15 minutes: list of webhooks")
    P2: tuple[Webhook, ...] = Field(default=(), description="response in one hour: list of webhooks")
    P3: tuple[Webhook, ...] = Field(default=(), description="response in one working day: list of webhooks")
    watchdog: tuple[Webhook, ...] = Field(
        default=(), description="dead man's switch, told every few minutes that alerting works: list of webhooks"
    )


class AlertmanagerAddress(Section):
    """An Alertmanager that a team already runs."""

    address: Text = Field(pattern=r"^[^\s/:]+:[0-9]{1,5}$", description="`host:port`, reached from Prometheus")
    scheme: Literal["http", "https"] = Field(default="http", description="`http` or `https`")


class Sink(Section):
    """A service that keeps what it receives, so that smoke can read a notification back. The sandbox has one."""

    namespace: DnsName = Field(description="namespace of the Service")
    service: DnsName = Field(description="name of the Service")
    port: int = Field(gt=0, lt=65536, description="port of the Service")


class Alertmanager(Section):
    """What groups alerts and tells people."""

    mode: Literal["managed", "existing", "off"] = Field(
        default="managed", description="`managed`: deployed by this stack; `existing`: a team's own; `off`: nobody"
    )
    volume: Bytes = Field(default="1Gi", description="size of the claim for silences, a Kubernetes quantity")
    retention: Duration = Field(default="120h", description="how long resolved alerts and silences are kept")
    receivers: Receivers = Field(default_factory=Receivers, description="keys P0, P1, P2, P3, watchdog")
    external_url: HttpUrl | None = Field(default=None, description="where people reach it; stands in notifications")
    existing: tuple[AlertmanagerAddress, ...] = Field(
        default=(), description="for mode `existing`: list of address, scheme"
    )
    sink: Sink | None = Field(
        default=None, description="where smoke reads notifications back: namespace, service, port"
    )
