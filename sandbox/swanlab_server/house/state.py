"""What the handlers of house work with."""

from __future__ import annotations

import http
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from sandbox.swanlab_server import bodies, clickhouse_client, runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sandbox.swanlab_server.context import Context
    from sandbox.swanlab_server.database import Row
    from sandbox.swanlab_server.web import Call

PATIENCE: Final = 30.0
"""Seconds that the buffer gets to acknowledge."""


class NotAcknowledged(OSError):  # what it says
    """The buffer did not take the events: the caller must send them again."""


@dataclass(frozen=True, kw_only=True)
class House:
    """context: the stores. vector: address of the delivery buffer. ready: set once the tables are there."""

    context: Context
    vector: str
    ready: threading.Event = field(default_factory=threading.Event)

    def deliver(self, lines: Iterable[str]) -> None:
        """Return once the buffer has all events on disk. lines: JSON objects. Raises OSError."""
        body = "\n".join(lines).encode()
        if not body:
            return
        headers = {"Content-Type": "application/x-ndjson"}
        answer = clickhouse_client.post(f"{self.vector}/", body, headers, PATIENCE)
        if answer.status != http.HTTPStatus.OK:
            raise NotAcknowledged(f"the buffer answered {answer.status}: {answer.body[:200].decode(errors='replace')}")

    def visible(self, call: Call, experiment: str) -> Row:
        """A run that the caller may read. Raises Refusal 404."""
        with self.context.database.read() as connection:
            return runs.find(connection, self.context.database.names, experiment, call.caller)

    def writable(self, call: Call, experiment: str) -> Row:
        """A run that the caller may write to, whether it is finished or not. Raises Refusal 404 and 403."""
        with self.context.database.write() as connection:
            return runs.writable(connection, self.context.database.names, experiment, call.caller)


@dataclass(frozen=True)
class Column:
    """One series that is asked for. run: where its points are, the root run for a moved one. name: in headings."""

    run: Row
    key: str
    name: str


def columns(house: House, call: Call, body: Mapping[str, Any], most: int) -> list[Column]:
    """`columns` of a body. Raises Refusal 400 and 404."""
    found: dict[str, Row] = {}
    result = []
    for item in bodies.objects(body.get("columns"), "columns", most):
        cuid = experiment_of(item)
        if cuid not in found:
            found[cuid] = house.visible(call, cuid)
        name = bodies.text_or(item, "experimentName", cuid)
        result.append(Column(found[cuid], bodies.text(item, "key", longest=1024), name))
    return result


def experiment_of(item: Mapping[str, Any]) -> str:
    """The run in which the points are. Raises Refusal 400."""
    return bodies.text_or(item, "rootExpId") or bodies.text(item, "experimentId")
