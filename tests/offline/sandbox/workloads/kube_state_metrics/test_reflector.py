"""Following a resource: what the store holds after each thing that a server can do."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

import pytest

from sandbox.workloads.kube_state_metrics.families import RESOURCES
from sandbox.workloads.kube_state_metrics.reflector import Backoff, Reflector
from sandbox.workloads.kube_state_metrics.store import Store, exposition
from sandbox.workloads.kube_state_metrics.telemetry import Counters
from tests.offline.sandbox.workloads.kube_state_metrics.fake_api import (
    BREAK,
    HOLD,
    FakeApi,
    event,
    listed,
    pod,
    until,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

PODS = "/api/v1/pods"
TYPE = "*v1.Pod"


class Eager(Backoff):
    """Never waits, and counts how often it was asked to."""

    def __init__(self) -> None:
        """Not asked yet."""
        super().__init__()
        self.pauses = 0

    def pause(self) -> float:
        """No time at all."""
        self.pauses += 1
        return 0.0


class Following:
    """A reflector that runs against a fake server."""

    def __init__(self, server: FakeApi) -> None:
        """Not started: the test first says what the server answers."""
        self.server, self.counters, self.backoff, self.stop = server, Counters(), Eager(), threading.Event()
        kind = RESOURCES["pods"]
        families = tuple(f for f in kind.families(()) if f.name == "kube_pod_status_phase")
        self.store = Store(kind, families)
        self.reflector = Reflector(server.api(), PODS, self.store, self.counters, self.backoff)
        self.thread = threading.Thread(target=self.reflector.run, args=(self.stop,), daemon=True)

    def start(self) -> None:
        """Run in the background."""
        self.thread.start()

    def running(self) -> set[str]:
        """Names of the pods that are shown as running."""
        rows = [row for row in exposition([self.store]).splitlines() if 'phase="Running"} 1' in row]
        return {row.split('pod="')[1].split('"')[0] for row in rows}

    def names(self) -> set[str]:
        """Names of all pods that are shown."""
        rows = [row for row in exposition([self.store]).splitlines() if not row.startswith("#")]
        return {row.split('pod="')[1].split('"')[0] for row in rows}


@pytest.fixture
def following() -> Iterator[Following]:
    """A reflector whose server ends with the test."""
    made = Following(FakeApi())
    yield made
    made.stop.set()
    made.server.end()
    if made.thread.ident:
        made.thread.join()


RUNNING: dict[str, Any] = {"status": {"phase": "Running"}}
PENDING: dict[str, Any] = {"status": {"phase": "Pending"}}


def test_list_fills_the_store_page_by_page(following: Following) -> None:
    following.server.lists[PODS] = [listed("9", pod("a", **RUNNING), more="next"), listed("10", pod("b", **PENDING))]
    following.start()
    until(lambda: following.server.asked(watch=True))
    assert following.names() == {"a", "b"}
    assert [query.get("continue") for query in following.server.asked(watch=False)] == [None, "next"]
    assert following.server.asked(watch=True)[0]["resourceVersion"] == "10"
    assert following.server.asked(watch=True)[0]["allowWatchBookmarks"] == "true"
    assert following.reflector.listed


def test_events_change_the_store(following: Following) -> None:
    following.server.lists[PODS] = [listed("1", pod("old", **RUNNING))]
    following.server.watches[PODS] = [
        [
            event("ADDED", "2", "new", **PENDING),
            event("MODIFIED", "3", "new", **RUNNING),
            event("DELETED", "4", "old", **RUNNING),
            event("DELETED", "5", "never-seen", **RUNNING),
            HOLD,
        ]
    ]
    following.start()
    until(lambda: following.names() == {"new"})
    assert following.running() == {"new"}


def test_ended_watch_goes_on_from_the_last_event(following: Following) -> None:
    following.server.watches[PODS] = [[event("ADDED", "7", "a", **RUNNING)]]
    following.start()
    until(lambda: len(following.server.asked(watch=True)) == 2)
    assert following.server.asked(watch=True)[1]["resourceVersion"] == "7"
    assert len(following.server.asked(watch=False)) == 1
    assert following.backoff.pauses == 0


def test_bookmark_moves_the_version_and_nothing_else(following: Following) -> None:
    following.server.lists[PODS] = [listed("1", pod("a", **RUNNING))]
    bookmark = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "42"}}}
    following.server.watches[PODS] = [[bookmark]]
    following.start()
    until(lambda: len(following.server.asked(watch=True)) == 2)
    assert following.server.asked(watch=True)[1]["resourceVersion"] == "42"
    assert following.names() == {"a"}


def test_watch_that_brings_nothing_is_followed_by_a_pause(following: Following) -> None:
    following.server.watches[PODS] = [[], []]
    following.start()
    until(lambda: len(following.server.asked(watch=True)) == 3)
    assert following.backoff.pauses == 2
    assert len(following.server.asked(watch=False)) == 1


@pytest.mark.parametrize(
    "gone", [410, {"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old resource version"}}]
)
def test_gone_version_is_listed_again(following: Following, gone: int | dict[str, object]) -> None:
    following.server.lists[PODS] = [listed("1", pod("a", **RUNNING)), listed("50", pod("b", **RUNNING))]
    following.server.watches[PODS] = [[gone]]
    following.start()
    until(lambda: len(following.server.asked(watch=True)) == 2)
    assert following.names() == {"b"}
    assert following.server.asked(watch=True)[1]["resourceVersion"] == "50"


def test_broken_connection_loses_nothing(following: Following) -> None:
    following.server.watches[PODS] = [[event("ADDED", "3", "a", **RUNNING), BREAK]]
    following.start()
    until(lambda: len(following.server.asked(watch=True)) == 2)
    assert following.server.asked(watch=True)[1]["resourceVersion"] == "3"
    assert len(following.server.asked(watch=False)) == 1
    assert following.names() == {"a"}


def test_too_many_requests_is_waited_out(following: Following) -> None:
    following.server.watches[PODS] = [[429]]
    following.start()
    until(lambda: len(following.server.asked(watch=True)) == 2)
    assert len(following.server.asked(watch=False)) == 1
    assert following.backoff.pauses == 1


@pytest.mark.parametrize("event_", ["no json", {"type": "EXPLODED", "object": {"metadata": {"resourceVersion": "9"}}}])
def test_event_that_cannot_be_understood_is_never_passed_over(
    following: Following, event_: str | dict[str, object]
) -> None:
    following.server.watches[PODS] = [[event_]]
    following.start()
    until(lambda: len(following.server.asked(watch=True)) == 2)
    assert following.backoff.pauses == 1
    assert following.server.asked(watch=True)[1]["resourceVersion"] == "1"


def test_refusal_is_logged_counted_and_tried_again(following: Following, caplog: pytest.LogCaptureFixture) -> None:
    following.server.lists[PODS] = [403, 403, listed("5", pod("a", **RUNNING))]
    with caplog.at_level(logging.ERROR):
        following.start()
        until(lambda: following.reflector.listed)
    until(lambda: following.server.asked(watch=True))
    assert caplog.messages == ["cannot follow /api/v1/pods: GET /api/v1/pods: HTTP 403, refused by the test"] * 2
    lists, _ = following.counters.read()
    assert lists == {(TYPE, "error"): 2, (TYPE, "success"): 1}


def test_refused_watch_is_counted_and_listed_again(following: Following) -> None:
    following.server.watches[PODS] = [[403]]
    following.start()
    until(lambda: len(following.server.asked(watch=True)) == 2)
    until(lambda: following.counters.read()[1] == {(TYPE, "error"): 1, (TYPE, "success"): 1})
    assert len(following.server.asked(watch=False)) == 2


def test_what_was_seen_stays_while_the_server_refuses(following: Following) -> None:
    following.server.lists[PODS] = [listed("1", pod("a", **RUNNING)), *[403] * 1000]
    following.server.watches[PODS] = [[500]]
    following.start()
    until(lambda: len(following.server.asked(watch=False)) >= 3)
    assert following.names() == {"a"}


def test_pauses_double_up_to_half_a_minute_and_start_again() -> None:
    backoff = Backoff(stretch=lambda: 0.0)
    assert [backoff.pause() for _ in range(8)] == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]
    backoff.reset()
    assert backoff.pause() == 0.8


def test_pauses_are_stretched() -> None:
    assert Backoff(stretch=lambda: 1.0).pause() == 1.6
