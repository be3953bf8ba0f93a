"""Writers are stopped in order, the buffer drains, and they are started again whatever happens."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from recovery.errors import RecoveryError
from recovery.quiet import Quiesce, resume
from recovery.writers import ANNOTATION
from tests.offline.recovery.quiet_cluster import FakeCluster, Held, Site, cluster, empty, holding, served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

RUNNING = {"gateway": 2, "server": 3, "auth": 1, "house": 2}
STOPPED = dict.fromkeys(RUNNING, 0)
PACE = 0.001


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[FakeCluster], Site]]:
    open_: list[AbstractContextManager[Site]] = []

    def begin(found: FakeCluster) -> Site:
        open_.append(served(found, tmp_path))
        return open_[-1].__enter__()

    yield begin
    for context in open_:
        context.__exit__(None, None, None)


def quiet(site: Site, tell: Callable[[str], None] = lambda _line: None, **how: object) -> AbstractContextManager[None]:
    return Quiesce(site.settings(**how), site.api(), pace=PACE)(tell)  # type: ignore[arg-type]  # settings, whatever they are


def as_before(found: FakeCluster) -> None:
    assert found.replicas() == RUNNING
    assert found.annotated() == {}


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
        "vector: nothing held, and its counters still move",
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


@pytest.mark.parametrize("status", [403, 409, 500])
def test_a_scale_that_is_refused_for_good_in_the_middle(start: Callable[[FakeCluster], Site], status: int) -> None:
    found = cluster()
    found.refuse = lambda _number, _method, named: (
        status if named.endswith("deployments/auth/scale") and found.replicas()["auth"] else None
    )
    with pytest.raises(RecoveryError, match="auth"), quiet(start(found)):
        pytest.fail("not quiet")
    as_before(found)


@pytest.mark.parametrize("status", [409, 429, 500, 503])
def test_short_trouble_of_the_server_is_waited_for(start: Callable[[FakeCluster], Site], status: int) -> None:
    """Every third request that is no dry run fails, whatever it asks."""
    found = cluster()
    site = start(found)
    context = quiet(site)
    begun = False

    def refuse(number: int, _method: str, _named: str) -> int | None:
        return status if begun and number % 3 == 0 else None

    def watch(_number: int, _method: str, named: str) -> None:
        nonlocal begun
        begun = begun or named.endswith("statefulsets/vector")

    found.refuse, found.served = refuse, watch
    with context:
        assert found.replicas() == STOPPED
    as_before(found)


def test_one_that_cannot_be_started_does_not_keep_the_others_stopped(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    site = start(found)
    closed = set[str]()
    found.refuse = lambda _number, _method, named: 403 if named.split("/")[-2] in closed else None
    with pytest.raises(RecoveryError) as told, quiet(site):
        closed |= {"auth", "house"}
    assert found.replicas() == RUNNING | {"auth": 0, "house": 0}
    assert found.annotated() == {"auth": "1", "house": "2"}
    assert "deployments/auth/scale" in str(told.value)
    assert "deployments/house/scale" in str(told.value)
    assert "recovery resume" in str(told.value)
    closed.clear()
    assert resume(site.api(), site.settings(), lambda _line: None, pace=PACE) == ("house", "auth")
    as_before(found)
    assert resume(site.api(), site.settings(), lambda _line: None, pace=PACE) == ()


def test_both_are_told_when_the_point_fails_and_a_writer_stays_stopped(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    closed = set[str]()
    found.refuse = lambda _number, _method, named: 403 if named.split("/")[-2] in closed else None

    def cut_off() -> None:
        closed.add("auth")
        raise RecoveryError("the dump is cut off")

    with (
        pytest.raises(RecoveryError, match=r"dump is cut off.*Besides: writers are still stopped.*auth"),
        quiet(start(found)),
    ):
        cut_off()
    assert found.replicas() == RUNNING | {"auth": 0}


def test_an_annotation_that_is_no_number(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster(house=0)
    found.deployments["house"].annotations[ANNOTATION] = "many"
    site = start(found)
    with pytest.raises(RecoveryError, match="house: annotation plumbline/quiesced-replicas is 'many'"), quiet(site):
        pytest.fail("not quiet")
    with pytest.raises(RecoveryError, match="'many'; accepted: a number of replicas"):
        resume(site.api(), site.settings(), lambda _line: None, pace=PACE)
    assert found.events == []


def test_resume_respects_who_scaled_meanwhile(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster(server=0, house=0)
    found.deployments["house"].annotations[ANNOTATION] = "2"
    found.deployments["gateway"].annotations[ANNOTATION] = "7"
    site = start(found)
    assert resume(site.api(), site.settings(), lambda _line: None, pace=PACE) == ("house",)
    assert found.replicas() == RUNNING | {"server": 0}
    assert found.annotated() == {}


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), SystemExit(3), RecoveryError("y")])
def test_whatever_ends_the_block(start: Callable[[FakeCluster], Site], error: BaseException) -> None:
    found = cluster()
    with pytest.raises(type(error)) as raised, quiet(start(found)):
        raise error
    assert raised.value is error
    as_before(found)


@pytest.fixture(params=[signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def number(request: pytest.FixtureRequest) -> Iterator[signal.Signals]:
    """A signal with a handler that raises KeyboardInterrupt: the runner of the tests may ignore it."""
    found: signal.Signals = request.param
    before = signal.signal(found, signal.default_int_handler)
    yield found
    assert signal.getsignal(found) is signal.default_int_handler, "the handler is put back"
    signal.signal(found, before)


def test_a_signal_while_the_point_is_taken(start: Callable[[FakeCluster], Site], number: signal.Signals) -> None:
    found = cluster()
    with pytest.raises(KeyboardInterrupt), quiet(start(found)):
        signal.raise_signal(number)
    as_before(found)


def test_the_default_of_a_signal_becomes_an_exit(start: Callable[[FakeCluster], Site], number: signal.Signals) -> None:
    found = cluster()
    signal.signal(number, signal.SIG_DFL)
    try:
        with pytest.raises(SystemExit) as ended, quiet(start(found)):
            signal.raise_signal(number)
    finally:
        signal.signal(number, signal.default_int_handler)
    assert ended.value.code == 128 + number
    as_before(found)


def test_a_signal_while_writers_are_stopped(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    found.lingers = {"server": 10**9}

    def tell(line: str) -> None:
        if line == "gateway: stopped":
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(SystemExit), quiet(start(found), tell):
        pytest.fail("not quiet")
    as_before(found)


def test_a_signal_while_writers_are_started_is_acted_upon_afterwards(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()

    def tell(line: str) -> None:
        if line.startswith("house: started"):
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(SystemExit) as ended, quiet(start(found), tell):
        pass
    assert ended.value.code == 128 + 15
    as_before(found)


def test_a_second_signal_does_not_end_the_starting(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()

    def tell(line: str) -> None:
        if "started" in line:
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(SystemExit), quiet(start(found), tell):
        signal.raise_signal(signal.SIGTERM)
    as_before(found)


def test_who_reads_the_progress_may_go_away(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()

    def tell(line: str) -> None:
        if "house" in line:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError), quiet(start(found), tell):
        pytest.fail("not quiet")
    as_before(found)


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
        pytest.raises(RecoveryError, match=r"did not drain in time: .*counters still move"),
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


def test_metrics_that_cannot_be_read_at_first(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    found.pages = [None]
    with (
        pytest.raises(RecoveryError, match=r"metrics of the delivery buffer at http.*cannot be read"),
        quiet(start(found)),
    ):
        pytest.fail("not quiet")
    assert found.events == [], "nothing was changed"


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


def test_metrics_of_something_else(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    found.pages = [lambda _uptime: "process_start_time_seconds 5\n"]
    with pytest.raises(RecoveryError, match="shows no age, so it is not Vector's"), quiet(start(found)):
        pytest.fail("not quiet")
    assert found.events == []


def test_events_that_the_buffer_drops_are_told(start: Callable[[FakeCluster], Site]) -> None:
    found, lines = cluster(), list[str]()
    found.pages = [holding(3), empty(lost=3)]
    with quiet(start(found), lines.append):
        pass
    assert "WARNING: the delivery buffer dropped 3 events meanwhile; they are in no restore point" in lines


@pytest.mark.parametrize(("replicas", "told"), [(0, "has no replicas"), (2, "has 2 replicas and 1 addresses")])
def test_every_disk_of_the_buffer_must_be_read(start: Callable[[FakeCluster], Site], replicas: int, told: str) -> None:
    found = cluster()
    found.buffer_replicas = replicas
    with pytest.raises(RecoveryError, match=told), quiet(start(found)):
        pytest.fail("not quiet")
    assert found.events == []


def test_the_buffer_is_found_by_its_pods(start: Callable[[FakeCluster], Site]) -> None:
    found = cluster()
    site = start(found)
    with quiet(site, buffer_metrics=(), metrics_port=int(site.url.rpartition(":")[2])):
        assert found.scrapes >= 3
    as_before(found)


def test_a_name_twice_is_refused(start: Callable[[FakeCluster], Site]) -> None:
    with pytest.raises(ValueError, match="a name is there twice"):
        start(FakeCluster({"a": Held(1)})).settings(order=("a", "a"))
