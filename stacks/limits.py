"""The section of the settings that bounds every scrape, whichever Prometheus does it."""

from __future__ import annotations

from pydantic import Field

from stacks.fields import SizeRetention
from stacks.section import Section


class Limits(Section):
    """Limits of every scrape; one that passes a limit is thrown away whole, and an alert says so."""

    samples: int = Field(default=100_000, gt=999, description="samples per scrape, at least 1000")
    labels: int = Field(default=40, gt=0, description="labels per sample")
    label_name_length: int = Field(default=128, gt=0, description="bytes of a label's name")
    label_value_length: int = Field(default=2048, gt=0, description="bytes of a label's value")
    body_size: SizeRetention = Field(default="64MB", description="uncompressed bytes of one answer")
    targets: int = Field(default=5000, gt=0, description="targets per job")
