"""What would go wrong is told before anything is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recovery.errors import RecoveryError
from recovery.quiet import resume
from recovery.writers import ANNOTATION
from tests.offline.recovery.quiet_cluster import FakeCluster, Held, cluster
from tests.offline.recovery.quiet_site import PACE, STOPPED, as_before, quiet, sites

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.offline.recovery.quiet_site import Site


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[FakeCluster], Site]]:
    yield from sites(tmp_path)


def test_an_autoscaler_is_refused_before_anything_changes(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    found.scalers = [("StatefulSet", "gateway"), ("Deployment", "other"), ("Deployment", "house")]
    with pytest.raises(RecoveryError, match="HorizontalPodAutoscaler sets the replicas of house "), quiet(start(found)):
        pytest.fail("not quiet")
    assert found.events == []


def test_autoscalers_of_others_do_not_matter(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    found.scalers = [("StatefulSet", "gateway"), ("Deployment", "other")]
    with quiet(start(found)):
        assert found.replicas() == STOPPED


@pytest.mark.parametrize(
    ("refused", "told"),
    [
        ("GET /apis/apps/v1/namespaces/lab/deployments/auth", "get of deployments "),
        ("GET /apis/autoscaling/v2/namespaces/lab/horizontalpodautoscalers", "list of horizontalpodautoscalers "),
        ("GET /api/v1/namespaces/lab/pods", "list of pods "),
        ("PATCH /apis/apps/v1/namespaces/lab/deployments/house?dry", "patch of deployments "),
        ("PATCH /apis/apps/v1/namespaces/lab/deployments/house/scale?dry", "patch of deployments/scale "),
        ("GET /apis/apps/v1/namespaces/lab/statefulsets/vector", "get of statefulsets "),
    ],
)
def test_a_missing_right_is_named_before_anything_changes(
    start: Callable[[FakeCluster], Site], refused: str, told: str
) -> None:
    found = cluster()
    found.refuse = lambda _number, _method, named: 403 if named == refused else None
    with (
        pytest.raises(RecoveryError, match=rf"{told}.*refused \(403\).*give the account this verb"),
        quiet(start(found)),
    ):
        pytest.fail("not quiet")
    assert found.events == []
    assert all("PATCH" not in line or line.endswith("?dry") for line in found.log)


def test_a_deployment_that_is_not_there(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    del found.deployments["auth"]
    with pytest.raises(RecoveryError, match=r"deployments/auth is refused \(404\)"), quiet(start(found)):
        pytest.fail("not quiet")
    assert found.events == []


def test_an_annotation_that_is_no_number(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster(house=0)
    found.deployments["house"].annotations[ANNOTATION] = "many"
    site = start(found)
    with pytest.raises(RecoveryError, match="house: annotation plumbline/quiesced-replicas is 'many'"), quiet(site):
        pytest.fail("not quiet")
    with pytest.raises(RecoveryError, match="'many'; accepted: a number of replicas"):
        resume(site.api(), site.settings(), lambda _line: None, pace=PACE)
    assert found.events == []


def test_metrics_that_cannot_be_read_at_first(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    found.pages = [None]
    with (
        pytest.raises(RecoveryError, match=r"metrics of the delivery buffer at http.*cannot be read"),
        quiet(start(found)),
    ):
        pytest.fail("not quiet")
    assert found.events == [], "nothing was changed"


def test_leftovers_are_started_even_if_this_run_cannot_begin(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster(server=0)
    found.deployments["server"].annotations[ANNOTATION] = "3"
    found.pages = [None]
    with pytest.raises(RecoveryError, match="cannot be read"), quiet(start(found)):
        pytest.fail("not quiet")
    as_before(found)


def test_metrics_of_something_else(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    found.pages = [lambda _uptime: "process_start_time_seconds 5\n"]
    with pytest.raises(RecoveryError, match="shows no age, so it is not Vector's"), quiet(start(found)):
        pytest.fail("not quiet")
    assert found.events == []


@pytest.mark.parametrize(("replicas", "told"), [(0, "has no replicas"), (2, "has 2 replicas and 1 addresses")])
def test_every_disk_of_the_buffer_must_be_read(start: Callable[[FakeCluster], Site], replicas: int, told: str) -> None:
    found = cluster()
    found.buffer_replicas = replicas
    with pytest.raises(RecoveryError, match=told), quiet(start(found)):
        pytest.fail("not quiet")
    assert found.events == []


def test_a_deadline_within_which_figures_cannot_settle(start: Callable[[FakeCluster], Site]) -> None:
    with pytest.raises(ValueError, match="seconds must be more than settle_seconds"):
        start(cluster()).settings(seconds=10, settle=10)


def test_a_name_twice_is_refused(start: Callable[[FakeCluster], Site]) -> None:
    with pytest.raises(ValueError, match="a name is there twice"):
        start(FakeCluster({"a": Held(1)})).settings(order=("a", "a"))
