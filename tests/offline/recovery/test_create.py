"""A point is all or nothing: its manifest is the last thing that is written."""

from __future__ import annotations

import re
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from recovery.create import create
from recovery.errors import RecoveryError
from tests.offline.recovery.examples import config
from tests.offline.recovery.shelves import Shelf
from tests.offline.recovery.vaults import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recovery.model import Point
    from recovery.ports import Tell

BEGIN = datetime(2026, 11, 30, 7, 20, tzinfo=UTC)


class Ticking:
    """A clock that is a minute further at each question."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> datetime:
        self.asked += 1
        return BEGIN + timedelta(minutes=self.asked - 1)


class Quieting:
    """Notes when writers were stopped and started."""

    def __init__(self, log: list[str]) -> None:
        self.log = log

    @contextmanager
    def __call__(self, tell: Tell) -> Iterator[None]:
        tell("quiet")
        self.log.append("stopped")
        try:
            yield
        finally:
            self.log.append("started")


def silent(line: str) -> None:
    """Nobody listens."""
    del line


def test_point_names_every_store_in_order_and_when_it_began() -> None:
    published: list[Point] = []
    stores = (Shelf("runs", {"a": "1"}), Shelf("points", {"b": "2", "c": "3"}))
    taken = create(
        config(), stores, Memory(), published.append, mode="online", quiet=None, tell=silent, clock=Ticking()
    )
    assert published == [taken.point]
    assert [part.store for part in taken.point.parts] == ["runs", "points"]
    assert re.fullmatch(r"20261130T072000Z-[0-9a-f]{8}", taken.point.id)
    assert taken.point.first_lost == BEGIN + timedelta(minutes=1)
    assert taken.point.ended == BEGIN + timedelta(minutes=2)
    assert taken.point.stack == "local"
    assert len(taken.point.consistency) == 2
    assert set(taken.seconds) == {"runs", "points"}


def test_store_that_fails_leaves_no_point_behind() -> None:
    published: list[Point] = []
    stores = (Shelf("runs", {"a": "1"}), Shelf("points", fails={"take online"}))
    with pytest.raises(RecoveryError, match="take online of points"):
        create(config(), stores, Memory(), published.append, mode="online", quiet=None, tell=silent)
    assert published == []


def test_no_store_is_no_point() -> None:
    published: list[Point] = []
    with pytest.raises(RecoveryError, match="names no store"):
        create(config(), (), Memory(), published.append, mode="online", quiet=None, tell=silent)
    assert published == []


def test_quiesced_point_is_taken_while_writers_are_stopped() -> None:
    log: list[str] = []

    class Noted(Shelf):
        def _called(self, word: str) -> None:
            log.append(word)

    create(
        config(),
        (Noted("runs"),),
        Memory(),
        lambda _: log.append("published"),
        mode="quiesced",
        quiet=Quieting(log),
        tell=silent,
    )
    assert log == ["stopped", "take quiesced", "started", "published"]


def test_writers_are_started_when_a_store_fails() -> None:
    log: list[str] = []
    with pytest.raises(RecoveryError, match="fails on request"):
        create(
            config(),
            (Shelf("runs", fails={"take quiesced"}),),
            Memory(),
            lambda _: log.append("published"),
            mode="quiesced",
            quiet=Quieting(log),
            tell=silent,
        )
    assert log == ["stopped", "started"]


def test_quiesced_without_knowing_how_is_refused() -> None:
    with pytest.raises(RecoveryError, match="needs the section `quiesce`"):
        create(config(), (Shelf("runs"),), Memory(), lambda _: None, mode="quiesced", quiet=None, tell=silent)
