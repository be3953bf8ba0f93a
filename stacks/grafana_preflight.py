"""What is asked before a Grafana is changed that keeps accounts and boards of people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.errors import DeployError
from components.grafana.names import CLAIM
from stacks.claims import given, lowered, own_claims
from stacks.root_secret import check_same_root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stacks.cluster import Reader
    from stacks.settings import Settings

_KEY = "plumbline:grafana"


def derives(settings: Settings) -> bool:
    """Whether a secret of it follows from the root secret."""
    wanted = settings.grafana
    return wanted.mode == "managed" and (wanted.admin.secret is None or wanted.encryption is None)


def check_grafana(reader: Reader, settings: Settings) -> None:
    """Another root secret would be another key of what the database keeps encrypted, and nobody could read that again.

    Of a database elsewhere there is no claim that could tell. Raises DeployError.
    """
    if not derives(settings):
        return
    live = own_claims(reader, settings.namespace, settings.stack)
    check_same_root(settings, settings.namespace, live)
    known, wanted = given(live[CLAIM]) if CLAIM in live else 1, settings.grafana.admin.generation
    if settings.grafana.admin.secret is None:
        for line in lowered(f"{_KEY}.admin.generation", f"{settings.namespace}/{CLAIM}", known, wanted):
            raise DeployError(line)


def secret_entries(settings: Settings) -> Iterator[tuple[str, str, str]]:
    """(setting, Secret, key) of each Secret that the section names."""
    wanted = settings.grafana
    if wanted.mode != "managed":
        return
    entries = {"admin.secret": wanted.admin.secret, "encryption": wanted.encryption}
    database = wanted.database
    if database.kind != "sqlite":
        entries["database.secret"] = database.secret
    for key, entry in entries.items():
        if entry is not None:
            yield f"{_KEY}.{key}", entry.name, entry.key
    if database.kind != "sqlite" and database.secret is not None and database.authority_key is not None:
        yield f"{_KEY}.database.authority_key", database.secret.name, database.authority_key
