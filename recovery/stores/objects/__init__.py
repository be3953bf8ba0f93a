"""Objects of an S3 bucket, listed and read one by one: no tool's exit code is trusted."""

from __future__ import annotations

from recovery.stores.objects.settings import Settings
from recovery.stores.objects.store import Objects, open_store

__all__ = ["Objects", "Settings", "open_store"]
