"""Secrets that somebody else keeps: each that the settings name must be there with its keys, before any change.

A missing one would leave a pod waiting for its volume, or a receiver without an address, long after the deployment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.errors import DeployError
from signals.routing import RECEIVERS
from stacks.grafana_preflight import secret_entries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stacks.alerting import SecretEntry
    from stacks.cluster import Reader
    from stacks.settings import Settings


def wanted(settings: Settings) -> dict[str, dict[str, str]]:
    """Name of each Secret that the settings name → key in it → the setting that asks for it."""
    found: dict[str, dict[str, str]] = {}
    named = (*_of_stores(settings), *_of_receivers(settings), *_of_backends(settings), *secret_entries(settings))
    for setting, name, key in named:
        found.setdefault(name, {}).setdefault(key, setting)
    return found


def check_secrets(reader: Reader, settings: Settings) -> None:
    """Raises DeployError naming every Secret or key that is missing, the setting that asks, and how to make it."""
    missing = []
    for name, keys in wanted(settings).items():
        there = reader.secret_keys(settings.namespace, name)
        absent = [key for key in keys if there is None or key not in there]
        if absent:
            literals = " ".join(f"--from-file={key}=<file>" for key in keys)
            what = "is missing" if there is None else f"has no key {', '.join(absent)}"
            missing.append(
                f"- Secret {settings.namespace}/{name} {what}, which {keys[absent[0]]} names; fix: "
                f"kubectl -n {settings.namespace} create secret generic {name} {literals} "
                f"(if the namespace is missing: kubectl create namespace {settings.namespace}), or another setting"
            )
    if missing:
        raise DeployError("Secrets that the settings name are not there; nothing was changed:\n" + "\n".join(missing))


def _of_stores(settings: Settings) -> Iterator[tuple[str, str, str]]:
    stores = settings.prometheus.remote_write if settings.prometheus is not None else ()
    for number, store in enumerate(stores):
        if store.secret is not None:
            setting = f"plumbline:prometheus.remote_write[{number}].secret"
            yield setting, store.secret.name, store.secret.username_key
            yield setting, store.secret.name, store.secret.password_key


def _of_backends(settings: Settings) -> Iterator[tuple[str, str, str]]:
    for signal, section in (("logs", settings.logs), ("traces", settings.traces)):
        wanted = section.external
        if wanted is not None and wanted.headers_secret is not None:
            for key in wanted.headers:
                yield f"plumbline:{signal}.external.headers", wanted.headers_secret, key


def _of_receivers(settings: Settings) -> Iterator[tuple[str, str, str]]:
    if settings.alertmanager.mode != "managed":
        return
    for receiver in RECEIVERS:
        for number, hook in enumerate(getattr(settings.alertmanager.receivers, receiver)):
            entries: dict[str, SecretEntry | None] = {"url_secret": hook.url_secret, "token": hook.token}
            for field, entry in entries.items():
                if entry is not None:
                    yield f"plumbline:alertmanager.receivers.{receiver}[{number}].{field}", entry.name, entry.key
