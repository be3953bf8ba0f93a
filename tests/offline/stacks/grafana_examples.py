"""Settings of Grafana, laid over the stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from components.grafana.names import LOGS_PLUGIN
from tests.offline.stacks.examples import ROOT_SECRET, settings

if TYPE_CHECKING:
    from stacks.settings import Settings

POSTGRES: dict[str, Any] = {
    "kind": "postgres",
    "host": "db.example.com",
    "name": "grafana",
    "user": "grafana",
    "secret": {"name": "grafana-db", "key": "password"},
}
THEIRS: dict[str, Any] = {"mode": "existing", "existing": {"namespace": "team-grafana"}}
PLUGIN: dict[str, Any] = {"source": "preinstall", "names": [f"{LOGS_PLUGIN}@0.29.0"]}
MANAGED: dict[str, Any] = {"mode": "managed"}


def grafana(stack: str = "prod", **keys: Any) -> Settings:  # noqa: ANN401  # any key of the section
    """A committed stack with these keys laid over the section of Grafana."""
    return settings(stack, None, grafana=keys)


def kind(**keys: Any) -> Settings:  # noqa: ANN401  # any key of the section
    """Stack kind with derived secrets."""
    return settings("kind", None, grafana={**MANAGED, **keys}, secrets={"root": ROOT_SECRET})
