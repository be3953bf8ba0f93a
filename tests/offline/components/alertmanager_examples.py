"""Arguments of the Alertmanager component for tests."""

from __future__ import annotations

from components.alertmanager.args import AlertmanagerArgs, Receiver, Webhook
from components.images import ImagePin
from components.prometheus.args import Resources
from components.secrets import Existing

PEOPLE = (
    Receiver(
        name="P0",
        webhooks=(
            Webhook(url_secret=Existing(name="pager", key="url"), token=Existing(name="pager", key="token")),
            Webhook(url="https://chat.example/p0"),
        ),
    ),
    Receiver(name="P1", webhooks=(Webhook(url_secret=Existing(name="pager", key="url-p1")),)),
    Receiver(name="P2", webhooks=(Webhook(url="https://chat.example/p2"),)),
    Receiver(name="P3", webhooks=(Webhook(url="https://chat.example/p3", send_resolved=False),)),
    Receiver(name="watchdog", webhooks=(Webhook(url_secret=Existing(name="dead.man", key="url")),)),
)
ARGS = AlertmanagerArgs(
    stack="local",
    namespace="plumbline",
    image=ImagePin(reference="quay.io/prometheus/alertmanager:v0.31.1"),
    volume="1Gi",
    storage_class=None,
    retention="5d",
    resources=Resources(cpu_request="10m", memory_request="32Mi", memory_limit="128Mi"),
    network_policies=True,
    receivers=PEOPLE,
)


def told(name: str, *webhooks: Webhook) -> tuple[Receiver, ...]:
    """PEOPLE with other webhooks for one receiver."""
    return tuple(Receiver(name=name, webhooks=webhooks) if one.name == name else one for one in PEOPLE)
