"""A configuration as the CronJobs have it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recovery.config import Config

if TYPE_CHECKING:
    from pathlib import Path


def document(**other: Any) -> dict[str, Any]:  # noqa: ANN401  # whatever JSON holds
    """The file as JSON holds it."""
    account = {
        "access_key_file": "/secrets/recovery-writer/accessKey",
        "secret_key_file": "/secrets/recovery-writer/secretKey",
    }
    return {
        "stack": "local",
        "cluster_uid": "5b0f4c1e-3a52-4f57-9a4e-2f6f2a0a3c11",
        "target": {
            "endpoint": "http://recovery-store.plumbline-recovery.svc:8333",
            "bucket": "recovery",
            "writer": account,
            "retention_days": 1,
            "signing_key_file": "/secrets/recovery-signing/key",
        },
        "work": "/work",
        "period_seconds": {"create": 3600, "verify": 21600, "prune": 86400},
        "retention": {"keep_last": 5, "keep_days": 2},
        "rpo_seconds": 7200,
        "rto_seconds": 1800,
        **other,
    }


def config(**other: Any) -> Config:  # noqa: ANN401  # whatever JSON holds
    """The file, parsed."""
    return Config.model_validate_json(json.dumps(document(**other)))


def written(directory: Path, **other: Any) -> Path:  # noqa: ANN401  # whatever JSON holds
    """The file in a directory."""
    path = directory / "config.json"
    path.write_text(json.dumps(document(**other)), encoding="utf-8")
    return path
