"""Where Pulumi keeps its state, and whether that is good enough for a stack whose loss would matter."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pulumi

from components.errors import DeployError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stacks.settings import Settings


def backend_url(environment: Mapping[str, str]) -> str | None:
    """The backend in use, as the engine finds it: PULUMI_BACKEND_URL, else who is logged in. None if nobody is."""
    if environment.get("PULUMI_BACKEND_URL"):
        return environment["PULUMI_BACKEND_URL"]
    home = Path(environment.get("PULUMI_HOME") or Path.home() / ".pulumi")
    try:
        current = json.loads((home / "credentials.json").read_text(encoding="utf-8")).get("current")
    except (OSError, json.JSONDecodeError, AttributeError):
        return None
    return str(current) if current else None


def check_backend(settings: Settings) -> None:
    """A durable stack keeps its state where this machine's loss does not lose it.

    Raises DeployError on a real update with a file backend; a preview changes nothing and only warns.
    """
    url = backend_url(os.environ)
    if settings.profile != "durable" or url is None or not url.startswith("file://"):
        return
    message = (
        f"stack {settings.stack} is durable, but its state is in {url}: one lost disk, and nobody knows what is "
        "deployed or can decrypt its secrets; accepted: a shared backend (s3://, gs://, azblob://, https://); "
        "fix: `pulumi login <url>`, or set PULUMI_BACKEND_URL."
    )
    if not pulumi.runtime.is_dry_run():
        raise DeployError(message)
    pulumi.log.warn(message)
