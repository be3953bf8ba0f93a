"""What every job that pushes promises: for programs that push, and for the page of the catalogue."""

from __future__ import annotations

from typing import Final

JOB_SUCCESS: Final = "plumbline_job_last_success_timestamp_seconds"
JOB_PERIOD: Final = "plumbline_job_period_seconds"
"""A job that runs on a schedule pushes both, with POST, into one group of its own: when it last succeeded, and how
often it means to. It is watched by what it promised."""
