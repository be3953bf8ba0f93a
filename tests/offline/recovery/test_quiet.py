"""Writers are stopped in order and started again in reverse, and what somebody else did to them is respected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recovery.errors import RecoveryError
from recovery.quiet import resume
from recovery.writers import ANNOTATION
from tests.offline.recovery.quiet_cluster import cluster
from tests.offline.recovery.quiet_site import PACE, RUNNING, STOPPED, as_before, quiet, sites

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.offline.recovery.quiet_cluster import FakeCluster
    from tests.offline.recovery.quiet_site import Site


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[FakeCluster], Site]]:
    yield from sites(tmp_path)


def test_in_order_and_back_in_reverse(start: Callable[[FakeCluster], Site]) -> None:
    found, lines = cluster(), list[str]()
    with quiet(start(found), lines.append):
        assert found.replicas() == STOPPED
        assert found.annotated() == {"gateway": "2", "server": "3", "auth": "1", "house": "2"}
        assert not any(held.pods for held in found.deployments.values())
    as_before(found)
    assert found.events == [
        "gateway annotation 2",
        "server annotation 3",
        "auth annotation 1",
        "house annotation 2",
        "gateway 0",
        "server 0",
        "auth 0",
        "house 0",
        "house 2",
        "house annotation None",
        "auth 1",
        "auth annotation None",
        "server 3",
        "server annotation None",
        "gateway 2",
        "gateway annotation None",
    ]
    assert lines == [
        "gateway: stopped",
        "server: stopped",
        "auth: stopped",
        "house: stopped",
        "vector: holds nothing; waiting for a second reading that is newer and equal",
        "vector: everything is stored",
        "house: started, 2 replicas",
        "auth: started, 1 replicas",
        "server: started, 3 replicas",
        "gateway: started, 2 replicas",
    ]


def test_waits_for_the_last_pod_before_it_stops_the_next(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    found.lingers = {"gateway": 7}
    seen: list[int] = []

    def watch(_number: int, _method: str, named: str) -> None:
        if named.endswith("deployments/server/scale"):
            seen.append(len(found.deployments["gateway"].pods))

    found.served = watch
    with quiet(start(found)):
        pass
    assert seen[0] == 0, "the first is the one that stops"
    as_before(found)


def test_a_pod_that_never_ends(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    found.lingers = {"server": 10**9}
    with (
        pytest.raises(RecoveryError, match=r"server .* still has pods .*server-0.*server-1.*server-2"),
        quiet(start(found), seconds=0.2),
    ):
        pytest.fail("not quiet")
    as_before(found)
    assert "house 0" not in found.events, "what comes behind it was not touched"


def test_pods_that_have_ended_do_not_count(
    start: Callable[[FakeCluster], Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = cluster()
    listed = found._pods
    evicted = {"metadata": {"name": "gateway-old"}, "status": {"phase": "Failed"}}
    monkeypatch.setattr(found, "_pods", lambda selector: [*listed(selector), evicted])
    with quiet(start(found), seconds=5):
        assert found.replicas() == STOPPED


def test_one_that_the_user_stopped_is_left_alone(start: Callable[[FakeCluster], Site]) -> None:
    found, lines = cluster(auth=0), list[str]()
    with quiet(start(found), lines.append):
        assert found.replicas() == STOPPED
        assert "auth" not in found.annotated()
    assert found.replicas() == RUNNING | {"auth": 0}
    assert not [event for event in found.events if event.startswith("auth")]
    assert "auth: has no replicas and was not stopped by this program, stays so" in lines


def test_a_leftover_holds_the_true_number(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster(server=0)
    found.deployments["server"].annotations[ANNOTATION] = "3"
    with quiet(start(found)):
        assert found.annotated()["server"] == "3"
    as_before(found)


def test_what_runs_is_the_truth_over_an_old_annotation(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    found.deployments["server"].annotations[ANNOTATION] = "9"
    with quiet(start(found)):
        assert found.annotated()["server"] == "3"
    as_before(found)


def test_one_that_is_scaled_after_it_was_marked_gets_its_new_number(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()

    def meddle(_number: int, method: str, named: str) -> None:
        if (method, named) == ("PATCH", "PATCH /apis/apps/v1/namespaces/lab/deployments/house"):
            found.served = lambda _number, _method, _named: None
            found.scale("house", 5)

    found.served = meddle
    with quiet(start(found)):
        assert found.annotated()["house"] == "5"
    assert found.replicas() == RUNNING | {"house": 5}


def test_resume_respects_who_scaled_meanwhile(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster(server=0, house=0)
    found.deployments["house"].annotations[ANNOTATION] = "2"
    found.deployments["gateway"].annotations[ANNOTATION] = "7"
    site = start(found)
    assert resume(site.api(), site.settings(), lambda _line: None, pace=PACE) == ("house",)
    assert found.replicas() == RUNNING | {"server": 0}
    assert found.annotated() == {}
