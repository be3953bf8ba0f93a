"""The configuration of Alertmanager: receivers from the arguments, routing from the signals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.alertmanager.names import secret_directory
from components.alertmanager.receivers import enforce
from components.rendered import Rendered, revision
from signals import alertmanager_config
from signals.alertmanager_config import CONFIG_FILE
from signals.routing import inhibit_rules, route

if TYPE_CHECKING:
    from components.alertmanager.args import AlertmanagerArgs
    from components.secrets import Existing


def render(args: AlertmanagerArgs) -> Rendered:
    """The configuration file and its revision. Raises DeployError if somebody is missing, see receivers.py.

    Credentials are named by the paths at which the pod mounts their Secrets: a changed Secret needs no roll-out,
    because Alertmanager reads these files for every notification.
    """
    enforce(args)
    names = {receiver.name: receiver.name for receiver in args.receivers}
    text = alertmanager_config.render(receivers(args), route(names), inhibit_rules())
    files = {CONFIG_FILE: text}
    return Rendered(files=files, revision=revision(files))


def receivers(args: AlertmanagerArgs) -> tuple[alertmanager_config.Receiver, ...]:
    """Receivers as Alertmanager and the outputs contract have them: paths in place of Secrets."""
    return tuple(
        alertmanager_config.Receiver(
            name=receiver.name,
            webhooks=tuple(
                alertmanager_config.Webhook(
                    url=webhook.url,
                    url_file=_path(webhook.url_secret),
                    credentials_file=_path(webhook.token),
                    send_resolved=webhook.send_resolved,
                )
                for webhook in receiver.webhooks
            ),
        )
        for receiver in args.receivers
    )


def _path(entry: Existing | None) -> str | None:
    return None if entry is None else f"{secret_directory(entry.name)}/{entry.key}"
