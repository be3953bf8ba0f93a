"""A cluster that answers nothing but what a test gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

    from stacks.cluster import LiveClaim


class Silent:
    """Whatever it is asked is a fault of the test; a subclass answers what its test is about."""

    def namespace_uid(self, name: str) -> str:
        raise AssertionError(f"asked for namespace {name}")

    def claim(self, namespace: str, name: str) -> LiveClaim | None:
        raise AssertionError(f"asked for claim {namespace}/{name}")

    def marked_claims(self, label: dict[str, str], name: str) -> tuple[str, ...]:
        raise AssertionError(f"asked for claims {name} with {label}")

    def secret_keys(self, namespace: str, name: str) -> frozenset[str] | None:
        raise AssertionError(f"asked for Secret {namespace}/{name}")

    def listing(self, path: str) -> list[dict[str, Any]]:
        raise AssertionError(f"asked for list {path}")

    def schemas(self, version: str) -> dict[str, dict[str, Any]] | None:
        raise AssertionError(f"asked for schemas of {version}")

    def clock(self) -> datetime | None:
        raise AssertionError("asked what time it is")
