"""Where a Grafana is and who asks it."""

from __future__ import annotations

from pathlib import Path  # pydantic needs it when the model is made
from typing import Literal

from pydantic import Field

from recovery.model import Record


class Settings(Record):
    """One Grafana, of which the main organisation is kept.

    url: scheme, host and port. login: an administrator of the server, whom the deployment makes; password_file: holds
    the password, one line. folder: uid of the folder that the deployment fills with boards. scratch: it lives for a
    verification only, and is given what a point holds.
    """

    kind: Literal["grafana"] = "grafana"
    name: str = Field(min_length=1)
    url: str = Field(pattern=r"^https?://[^@/]+/?$")
    login: str = Field(default="admin", min_length=1)
    password_file: Path = Field(strict=False)
    folder: str = Field(min_length=1)
    scratch: bool = False
