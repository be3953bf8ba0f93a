"""A container image as the deployment names it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_REFERENCE = re.compile(r"(?P<name>[^@]+?)(?::(?P<tag>[\w][\w.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?")


@dataclass(frozen=True, kw_only=True)
class ImagePin:
    """reference: `name:tag[@digest]`. image_id: config digest of a locally built image, which the node reports.

    stand_in: the image list says that it only stands in for the real program, so a proof with it is worth less.
    """

    reference: str
    image_id: str | None = None
    stand_in: bool = False

    @property
    def version(self) -> str:
        """The tag, else the first 12 hex digits of the digest, else `unknown`."""
        found = _REFERENCE.fullmatch(self.reference)
        if found is None:
            return "unknown"
        return found["tag"] or (found["digest"] or "unknown").removeprefix("sha256:")[:12]
