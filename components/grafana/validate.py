"""Judges what Grafana is told before anything exists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from components.errors import DeployError
from components.grafana.args import External, Sqlite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.grafana.args import GrafanaArgs

_PLUGIN: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*@\d[\w.+-]*")
_PATH: Final = re.compile(r"(/[\w.-]+)+")
_INI: Final = re.compile(r"[\w.@:/+-]+")
"""What stands in an ini file as it is: neither a comment nor one of Grafana's own words."""


def validate(args: GrafanaArgs) -> None:
    """Raise DeployError with everything that is wrong, if anything is."""
    found = list(complaints(args))
    if found:
        raise DeployError("the settings of Grafana:\n" + "\n".join(f"- {line}" for line in found))


def complaints(args: GrafanaArgs) -> Iterator[str]:
    """What is wrong, each as `argument: what; what is accepted`."""
    if isinstance(args.database, Sqlite) and args.replicas > 1:
        yield (
            f"replicas: {args.replicas} with SQLite, whose file has one writer; accepted is 1, or an external database"
        )
    if isinstance(args.database, External):
        yield from _database(args.database)
    if args.root_url is not None and (urlsplit(args.root_url).path not in ("", "/") or urlsplit(args.root_url).query):
        yield f"root_url: {args.root_url} has a path; accepted is scheme and host: probes and links have none"
    yield from _plugins(args)


def _database(wanted: External) -> Iterator[str]:
    for key, text in (("host", wanted.host), ("name", wanted.name), ("user", wanted.user)):
        if not _INI.fullmatch(text):
            yield f"database.{key}: `{text}`; accepted are letters, digits and `_ . @ : / + -`"
    if wanted.kind == "mysql" and wanted.tls != "off" and wanted.authority is None:
        yield (
            "database.tls: MySQL with TLS and without its authority, which Grafana does not start without; accepted: "
            "the Secret's entry with the certificates, or `off`"
        )


def _plugins(args: GrafanaArgs) -> Iterator[str]:
    if args.plugins is None:
        return
    for name in args.plugins.names:
        if not _PLUGIN.fullmatch(name):
            yield f"plugins: `{name}`; accepted is `id@version`: without a version each start may bring another"
    if args.plugins.image is not None and not _PATH.fullmatch(args.plugins.path):
        yield f"plugins.path: `{args.plugins.path}`; accepted is a path from the root without spaces"
