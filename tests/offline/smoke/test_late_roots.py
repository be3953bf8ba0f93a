"""Traces with a late root: when children and roots are sent, by a clock that the test moves."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from smoke.access.errors import UnreachableError
from smoke.proofs import late_roots
from smoke.proofs.late_roots import LateRoots
from stacks.contract import Sampling

if TYPE_CHECKING:
    from smoke.access.otlp import Span
    from smoke.stack import Stack

PROMISED = Sampling(
    keep_percent=1.0,
    slow_ms=2000,
    decision_wait_seconds=20,
    decision_wait_after_root_seconds=5,
    traces_in_memory=1000,
)
SERVICE = "plumbline-smoke-x-late"


@dataclass
class World:
    """A gateway that takes spans, each request in `takes` seconds, and a store that has what `keeps` says."""

    now: float = 1000.0
    takes: float = 0.0
    refuses: bool = False
    requests: list[list[Span]] = field(default_factory=list)
    keeps: bool = True

    def spans(self, resource: dict[str, str], spans: list[Span]) -> None:
        assert resource == {"service.name": SERVICE}
        if self.refuses:
            raise UnreachableError("otel-gateway", "is away")
        self.now += self.takes
        self.requests.append(list(spans))

    def search(self, service: str, limit: int) -> list[dict[str, Any]]:
        assert service == SERVICE
        stored: dict[str, list[dict[str, str]]] = {}
        for one in (span for request in self.requests for span in request if self.keeps):
            stored.setdefault(one.trace_id, []).append({"spanID": one.span_id})
        assert len(stored) <= limit
        return [{"traceID": trace, "spans": spans} for trace, spans in stored.items()]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    monkeypatch.setattr(late_roots, "time", SimpleNamespace(monotonic=lambda: made.now, time=lambda: made.now))
    return made


def proof(world: World, promised: Sampling = PROMISED) -> LateRoots:
    telemetry = SimpleNamespace(gateway=world, traces=world)
    return LateRoots(cast("Stack", SimpleNamespace(telemetry=telemetry)), SERVICE, promised)


def at(world: World, seconds: float, found: LateRoots) -> int:
    """Move the clock on, give the proof its turn; how many requests there are then."""
    world.now = 1000.0 + seconds
    found.send()
    return len(world.requests)


def test_roots_come_when_a_decision_by_the_first_span_would_have_been_made(world: World) -> None:
    found = proof(world)
    # Five that are waited after a root, and two within which the decision is made.
    assert [at(world, seconds, found) for seconds in (0, 3, 6.9)] == [1, 1, 1]
    assert "their roots are not sent yet" in str(found.found()[0])
    assert [at(world, seconds, found) for seconds in (7, 8, 100)] == [2, 2, 2]
    children, roots = world.requests
    assert len(children) == len(roots) == 20
    assert {one.parent for one in roots} == {""}
    assert [(one.trace_id, one.parent) for one in children] == [(one.trace_id, one.span_id) for one in roots]
    assert {round(one.end - one.start, 2) for one in roots} == {3.0}
    assert {round(one.end - one.start, 2) for one in children} == {0.01}
    assert found.found() == []
    assert found.told == "20 slow traces whose root came 7 s late are all kept, each whole"


def test_traces_that_are_not_kept_are_told_and_not_sent_again(world: World) -> None:
    found = proof(world)
    at(world, 0, found)
    at(world, 7, found)
    world.keeps = False
    assert at(world, 60, found) == 2
    assert "slow late-root traces: seen 20 of 20 are not there" in str(found.found()[0])


def test_roots_that_would_come_after_the_decision_are_given_up_for_other_traces(world: World) -> None:
    found = proof(world)
    at(world, 0, found)
    assert at(world, 19.5, found) == 2, "the promised wait of 20 s is as good as over"
    first, second = world.requests
    assert {one.parent for one in second} != {""}
    assert not {one.trace_id for one in first} & {one.trace_id for one in second}
    assert at(world, 27, found) == 3
    assert [one.trace_id for one in world.requests[2]] == [one.trace_id for one in second]


def test_roots_that_took_too_long_to_send_do_not_count(world: World) -> None:
    found = proof(world)
    at(world, 0, found)
    world.takes = 13.0
    assert at(world, 7, found) == 2
    assert "not sent yet" in str(found.found()[0])
    world.takes = 0.0
    assert at(world, 21, found) == 3
    assert {one.parent for one in world.requests[2]} != {""}


def test_gateway_that_is_away_is_sent_the_children_when_it_is_back(world: World) -> None:
    found = proof(world)
    world.refuses = True
    with pytest.raises(UnreachableError):
        at(world, 0, found)
    world.refuses = False
    assert [at(world, seconds, found) for seconds in (12, 18.9, 19)] == [1, 1, 2]


def test_waits_without_room_for_a_late_root_are_said_to_be_untried(world: World) -> None:
    close = PROMISED.model_copy(update={"decision_wait_seconds": 9})
    found = proof(world, close)
    assert at(world, 60, found) == 0
    assert found.found() == []
    assert "no slow trace with a late root was tried" in found.told
    just = PROMISED.model_copy(update={"decision_wait_seconds": 10})
    assert at(world, 0, proof(world, just)) == 1
