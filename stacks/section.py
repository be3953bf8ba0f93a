"""What every section of the settings has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Base of every section: immutable, no conversion between types, an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
