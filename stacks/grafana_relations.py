"""Relations between the settings of Grafana, and with the rest of the stack."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from components.grafana.names import LOGS_PLUGIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stacks.grafana import Grafana
    from stacks.settings import Settings

KEY: Final = "plumbline:grafana"
_LABEL_KEY: Final = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")


def broken(settings: Settings) -> list[str]:
    """One sentence per broken relation: the values, the rule, and what to change."""
    wanted = settings.grafana
    found = list(_modes(wanted))
    if wanted.mode == "managed":
        found += [*_database(wanted), *_address(wanted)]
    if wanted.mode != "off":
        found += _plugins(wanted)
    return [*found, *_labels(wanted), *_places(settings)]


def _modes(wanted: Grafana) -> Iterator[str]:
    if (wanted.mode == "existing") != (wanted.existing is not None):
        yield (
            f"{KEY}.mode is `{wanted.mode}` and {KEY}.existing is {'set' if wanted.existing else 'missing'}; accepted: "
            "both or neither; fix: say where that Grafana runs (namespace), or another mode"
        )


def _database(wanted: Grafana) -> Iterator[str]:
    database = wanted.database
    if database.kind == "sqlite" and wanted.replicas > 1:
        yield (
            f"{KEY}.replicas is {wanted.replicas} and {KEY}.database.kind is `sqlite`: a file has one writer, and a "
            f"second breaks it; accepted: 1; fix: pulumi config set --path '{KEY}.replicas' 1, or a database of yours"
        )
    asked = {key: getattr(database, key) for key in ("host", "name", "user", "secret")}
    if database.kind == "sqlite":
        given = [key for key in (*asked, "port", "authority_key") if getattr(database, key) is not None]
        if given:
            yield (
                f"{KEY}.database has {', '.join(given)}, and its kind is `sqlite`, which is a file; accepted: none of "
                f"these; fix: remove them, or pulumi config set --path '{KEY}.database.kind' postgres"
            )
        return
    missing = [key for key, value in asked.items() if value is None]
    if missing:
        yield (
            f"{KEY}.database.kind is `{database.kind}` and {', '.join(missing)} missing; accepted: all of "
            "host, name, user, secret; fix: add what is missing"
        )
    if database.kind == "mysql" and database.tls != "off" and database.authority_key is None:
        yield (
            f"{KEY}.database.tls is `{database.tls}` and authority_key is missing: with MySQL and TLS, Grafana does "
            f"not start without certificates to check with; accepted: the key in {KEY}.database.secret that holds "
            "them, or tls `off`; fix: add it"
        )


def _address(wanted: Grafana) -> Iterator[str]:
    if wanted.root_url is not None and urlsplit(wanted.root_url).path not in ("", "/"):
        yield (
            f"{KEY}.root_url {wanted.root_url} has a path, below which neither probes nor links of boards are; "
            "accepted: scheme and host; fix: a host name of its own"
        )


def _plugins(wanted: Grafana) -> Iterator[str]:
    plugins = wanted.plugins
    if (plugins.source == "none") == bool(plugins.names):
        yield (
            f"{KEY}.plugins.source is `{plugins.source}` and names has {len(plugins.names)} entries; accepted: none "
            "for `none`, at least one otherwise; fix: correct one of them"
        )
    if wanted.mode == "managed" and (plugins.source == "image") != (plugins.image is not None):
        yield (
            f"{KEY}.plugins.source is `{plugins.source}` and image is {'set' if plugins.image else 'missing'}; "
            "accepted: both or neither; fix: name the image, or another source"
        )
    if wanted.mode == "existing" and plugins.image is not None:
        yield (
            f"{KEY}.plugins.image is set, and {KEY}.mode is `existing`: nothing is installed there; accepted: names of "
            f"what it has, `{LOGS_PLUGIN}@…`, and source `preinstall`; fix: remove image"
        )


def _labels(wanted: Grafana) -> Iterator[str]:
    if wanted.existing is None:
        return
    for key in ("dashboard_labels", "datasource_labels"):
        labels: dict[str, str] = getattr(wanted.existing, key)
        if not labels:
            yield f"{KEY}.existing.{key} is empty, and its sidecar would select nothing; accepted: at least one label"
        for name in sorted(labels):
            if not _LABEL_KEY.fullmatch(name) or name.startswith("app.kubernetes.io/"):
                yield (
                    f"{KEY}.existing.{key} has `{name}`; accepted: the name of a label, and none of "
                    "app.kubernetes.io/, which are the stack's own"
                )


def _places(settings: Settings) -> Iterator[str]:
    """In the stack's own namespace there is none but the stack's."""
    existing = settings.grafana.existing
    if existing is not None and existing.namespace == settings.namespace:
        yield (
            f"{KEY}.existing.namespace is `{existing.namespace}`, the stack's own, where nobody else deploys; "
            "accepted: the namespace of that Grafana; fix: correct it, or mode `managed`"
        )
