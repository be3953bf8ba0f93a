"""Settings of SwanLab for tests: a section over those of a committed stack, without asking the other relations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from stacks.object_store import ObjectStore
from stacks.swanlab import Swanlab
from tests.offline.stacks.examples import settings

if TYPE_CHECKING:
    from stacks.settings import Settings

BUCKETS: Final[list[dict[str, Any]]] = [
    {"name": "swanlab-private", "owner": "swanlab"},
    {"name": "swanlab-public", "owner": "swanlab", "public_read": True},
]
PUBLIC: Final[dict[str, Any]] = {"bucket": "swanlab-public", "endpoint": "s3.example.org"}
PRIVATE: Final[dict[str, Any]] = {"bucket": "swanlab-private", "endpoint": "s3.example.org"}
ELSEWHERE: Final[dict[str, Any]] = {
    "postgres": {"mode": "external", "host": "pg.example.org", "secret": "pg-login"},
    "redis": {"mode": "external", "host": "redis.example.org", "secret": "redis-login"},
    "clickhouse": {"mode": "external", "host": "ch.example.org", "secret": "ch-login"},
    "s3": {"mode": "external", "public": PUBLIC, "private": PRIVATE, "secret": "s3-login"},
}


def section(**keys: Any) -> Swanlab:  # noqa: ANN401  # any key of the section
    """The section as it is read from a stack file, managed unless told otherwise."""
    return Swanlab.model_validate_json(json.dumps({"mode": "managed", **keys}))


def with_swanlab(stack: str = "prod", store: dict[str, Any] | None = None, **keys: Any) -> Settings:  # noqa: ANN401  # any key of the section
    """A committed stack with these keys of `plumbline:swanlab`. store: keys of `plumbline:object_store`."""
    own = ObjectStore.model_validate_json(json.dumps(store or {"mode": "off"}))
    return settings(stack).model_copy(update={"swanlab": section(**keys), "object_store": own})
