"""Writers are started again, whatever ends the block."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from recovery.errors import RecoveryError
from recovery.quiet import resume
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
