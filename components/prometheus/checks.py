"""Checks of the smoke suite that a deployed Prometheus brings with it."""

from __future__ import annotations

from typing import Final

CHECKS: Final = (
    "prometheus.reload",
    "prometheus.revision",
    "prometheus.flags",
    "prometheus.rules_healthy",
    "prometheus.sentinel_rule",
    "prometheus.storage_fresh",
    "scrape.expected_jobs",
    "scrape.all_up",
    "scrape.no_duplicates",
    "scrape.labels",
    "signals.contract",
    "signals.fresh",
)

PROOFS: Final = ("prometheus.data_survives_kill",)
"""Disruptive: run by `make prove` alone and therefore not expected of a plain smoke run."""
