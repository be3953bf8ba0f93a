"""What people made in a Grafana, by its HTTP API: boards, folders, accounts without passwords, and so on."""

from __future__ import annotations

from recovery.stores.grafana.settings import Settings
from recovery.stores.grafana.store import Grafana, open_store

__all__ = ["Grafana", "Settings", "open_store"]
