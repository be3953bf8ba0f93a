"""No point before the buffer is empty, and none if it was not empty all the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recovery.errors import RecoveryError
from recovery.quiet import resume
from tests.offline.recovery.quiet_cluster import cluster, empty, holding
from tests.offline.recovery.quiet_site import PACE, as_before, quiet, sites

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.offline.recovery.quiet_cluster import FakeCluster
    from tests.offline.recovery.quiet_site import Site


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[FakeCluster], Site]]:
    yield from sites(tmp_path)


@pytest.mark.parametrize("back", [0, 2])
def test_a_writer_that_somebody_started_meanwhile(start: Callable[[FakeCluster], Site], back: int) -> None:
    """Even if it is stopped again: what it wrote is in one part and not in another."""
    found = cluster()

    def flicker() -> None:
        found.scale("house", 2)
        found.scale("house", back)

    with (
        pytest.raises(RecoveryError, match="house was changed or started while the point was taken"),
        quiet(start(found)),
    ):
        flicker()
    as_before(found)


def test_two_runs_at_once(start: Callable[[FakeCluster], Site]) -> None:
    """The other one starts the writers: this one's point is not kept."""
    found = cluster()
    site = start(found)
    with pytest.raises(RecoveryError, match="was changed or started"), quiet(site):
        resume(site.api(), site.settings(), lambda _line: None, pace=PACE)
    as_before(found)


def test_buffer_that_drains_late(start: Callable[[FakeCluster], Site]) -> None:
    found, lines = cluster(), list[str]()
    found.pages = [holding(50), holding(50), holding(7, flying=3), holding(0, flying=2), empty()]
    with quiet(start(found), lines.append):
        assert found.scrapes >= 6, "two equal readings with nothing in it"
    assert "vector: out holds 50 events" in lines
    assert "vector: out holds 7 events; out has 3 events in flight" in lines
    assert "vector: out has 2 events in flight" in lines
    as_before(found)


def test_buffer_that_never_drains(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    found.pages = [holding(12, flying=4)]
    with (
        pytest.raises(RecoveryError, match="did not drain in time: out holds 12 events; out has 4"),
        quiet(start(found), seconds=0.2),
    ):
        pytest.fail("not quiet")
    as_before(found)


def test_buffer_that_refills(start: Callable[[FakeCluster], Site]) -> None:
    """Somebody else writes: it is empty each time it is looked at, and something went through."""
    found = cluster()
    found.pages = [lambda uptime: empty(received=int(uptime) * 5)(uptime)]
    with (
        pytest.raises(RecoveryError, match=r"did not drain in time: .*second reading that is newer and equal"),
        quiet(start(found), seconds=0.2),
    ):
        pytest.fail("not quiet")
    as_before(found)


def test_buffer_that_refills_once(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    found.pages = [empty(), empty(), holding(5, received=105), holding(0, received=105)]
    with quiet(start(found)):
        assert found.scrapes >= 5
    as_before(found)


def test_buffer_that_takes_events_while_the_point_is_taken(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    with pytest.raises(RecoveryError, match="vector took events while the point was taken"), quiet(start(found)):
        found.pages = [empty(received=101)]
    as_before(found)


def test_figures_that_stand_still_are_no_proof(start: Callable[[FakeCluster], Site]) -> None:
    """A page that is served from a cache: Vector's age does not grow."""
    found = cluster()
    found.pages = [lambda _uptime: empty()(50.0)]
    with pytest.raises(RecoveryError, match="did not drain in time"), quiet(start(found), seconds=0.2):
        pytest.fail("not quiet")
    as_before(found)


def test_metrics_that_cannot_be_read_any_more(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    found.pages = [empty(), None]
    with (
        pytest.raises(RecoveryError, match=r"did not drain in time: metrics .* cannot be read"),
        quiet(start(found), seconds=0.2),
    ):
        pytest.fail("not quiet")
    as_before(found)


def test_metrics_that_cannot_be_read_afterwards(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    with pytest.raises(RecoveryError, match="cannot be read"), quiet(start(found)):
        found.pages = [None]
    as_before(found)


def test_events_that_the_buffer_drops_are_told(start: Callable[[FakeCluster], Site]) -> None:
    found, lines = cluster(), list[str]()
    found.pages = [holding(3), empty(lost=3)]
    with quiet(start(found), lines.append):
        pass
    assert "WARNING: the delivery buffer dropped 3 events meanwhile; they are in no restore point" in lines


def test_the_buffer_is_found_by_its_pods(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    site = start(found)
    with quiet(site, buffer_metrics=(), metrics_port=int(site.url.rpartition(":")[2])):
        assert found.scrapes >= 3
    as_before(found)
