"""Judges who is told, before anything is rendered: an alert that nobody receives is an outage that nobody sees."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from components.errors import DeployError
from signals.alertmanager_config import seconds
from signals.routing import RECEIVERS, WATCHDOG
from signals.secret_addresses import secret_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.alertmanager.args import AlertmanagerArgs, Receiver, Webhook


_SECRET_PARAMETER = re.compile(r"pass|token|secret|credential|key|sig|auth", re.IGNORECASE)


def enforce(args: AlertmanagerArgs) -> None:
    """Raise DeployError with everything that is wrong with the receivers, if anything is."""
    found = complaints(args)
    if found:
        raise DeployError("the receivers of Alertmanager:\n" + "\n".join(f"- {line}" for line in found))


def complaints(args: AlertmanagerArgs) -> list[str]:
    """What is wrong, each as `receiver: what; what is accepted`, in the order of RECEIVERS and of the arguments."""
    found = [*_names(args), *_retention(args)]
    for receiver in args.receivers:
        found += [f"{receiver.name}: {what}" for what in _webhooks(receiver)]
    return found


def _names(args: AlertmanagerArgs) -> Iterator[str]:
    given = [receiver.name for receiver in args.receivers]
    for name in RECEIVERS:
        if name not in given:
            what = "the dead man's switch" if name == WATCHDOG else f"alerts of severity {name}"
            yield f"{name}: nobody receives {what}; give it at least one webhook"
        elif given.count(name) > 1:
            yield f"{name}: is there {given.count(name)} times; accepted is one with several webhooks"
    for name in given:
        if name not in RECEIVERS:
            yield f"{name}: no alert is routed to it; accepted are {', '.join(RECEIVERS)}"


def _retention(args: AlertmanagerArgs) -> Iterator[str]:
    try:
        seconds(args.retention)
    except ValueError as error:
        yield f"retention: {error}"


def _webhooks(receiver: Receiver) -> Iterator[str]:
    if not receiver.webhooks:
        yield "has no webhook, so nobody is told; accepted is at least one"
    for index, webhook in enumerate(receiver.webhooks):
        where = f"webhook {index + 1}"
        if (webhook.url is None) == (webhook.url_secret is None):
            yield f"{where} has {'no address' if webhook.url is None else 'two'}; accepted is one of url and url_secret"
        elif webhook in receiver.webhooks[:index]:
            yield f"{where} is there twice, and would be told twice; remove one"
        yield from (f"{where}: {what}" for what in _address(webhook))


def _address(webhook: Webhook) -> Iterator[str]:
    """Never quotes the address: what is wrong with it may be that it holds a password."""
    if webhook.url is None:
        return
    if "{{" in webhook.url:
        yield "url is a template; accepted is a plain address, templates are for a Secret named by url_secret"
        return
    try:
        parts = urlsplit(webhook.url)
        host, login = parts.hostname, parts.username or parts.password
    except ValueError as error:
        yield f"url cannot be parsed ({error}); accepted is http://… or https://… with a host"
        return
    if parts.scheme not in ("http", "https") or not host:
        yield "url has no host or another scheme; accepted is http://… or https://… with a host"
    elif secret_path(webhook.url):
        what = "url has a path that is a secret, and would stand in a ConfigMap"
        yield f"{what}; put the address into a Secret named by url_secret"
    words = [name for name, _ in parse_qsl(parts.query) if _SECRET_PARAMETER.search(name)]
    if login or words:
        what = "a login" if login else f"the parameter {words[0]}"
        yield f"url holds {what}, and would stand in a ConfigMap; put the address into a Secret named by url_secret"
