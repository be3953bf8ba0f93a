"""Access: the named context and no other, timeouts that fire, errors that say what kind they are."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
import requests

from smoke.access import procs
from smoke.access.errors import AccessError, CommandError, RefusedError, UnreachableError
from smoke.access.kube import Kube
from smoke.access.prometheus import Prometheus
from tests.offline.smoke.fakes import BASE

if TYPE_CHECKING:
    from tests.offline.smoke.conftest import World


def test_program_that_does_not_end_is_killed() -> None:
    begin = time.monotonic()
    with pytest.raises(CommandError, match=r"did not end within 0\.2 s"):
        procs.run(["sleep", "30"], 0.2)
    assert time.monotonic() - begin < 25


def test_failure_carries_what_the_program_said() -> None:
    with pytest.raises(CommandError, match="exit code 3: bad luck"):
        procs.run(["sh", "-c", "echo bad luck >&2; exit 3"], 5)
    assert procs.run(["sh", "-c", "exit 3"], 5, check=False).code == 3


def test_missing_program_is_an_error() -> None:
    with pytest.raises(CommandError, match="cannot be started"):
        procs.run(["/no/such/program"], 5)


def test_named_context_is_used_and_not_the_current_one(world: World) -> None:
    assert Kube(world.kubeconfig, "plumbline").get("/version")["gitVersion"] == "v1.34.4"
    with pytest.raises(UnreachableError, match="Connection refused"):
        Kube(world.kubeconfig, "elsewhere").get("/version")


def test_missing_kubeconfig_and_context_are_named(world: World) -> None:
    with pytest.raises(AccessError, match="no such kubeconfig"):
        Kube(world.directory / "none", "plumbline")
    with pytest.raises(AccessError, match="'gone'"):
        Kube(world.kubeconfig, "gone")


def test_kubeconfig_is_not_written_to(world: World) -> None:
    before = world.kubeconfig.read_bytes()
    Kube(world.kubeconfig, "plumbline").get("/version")
    assert world.kubeconfig.read_bytes() == before


def test_absent_object_is_none_and_absent_list_is_refused(world: World) -> None:
    kube = Kube(world.kubeconfig, "plumbline")
    assert kube.find(f"{BASE}/persistentvolumeclaims/none") is None
    with pytest.raises(RefusedError, match="HTTP 404"):
        kube.items(f"{BASE}/nothing")


def test_server_tells_its_time(world: World) -> None:
    kube = Kube(world.kubeconfig, "plumbline")
    before = int(time.time())  # HTTP tells whole seconds
    kube.get("/version")
    assert kube.server_time is not None
    assert before <= kube.server_time <= time.time()


@pytest.mark.parametrize(
    ("status", "error"),
    [(403, RefusedError), (500, UnreachableError), (503, UnreachableError), (429, UnreachableError)],
)
def test_status_decides_whether_to_try_again(
    world: World, monkeypatch: pytest.MonkeyPatch, status: int, error: type[Exception]
) -> None:
    monkeypatch.setattr(world.api, "get", lambda *_: (status, {"message": "no"}))
    monkeypatch.setattr(world.prometheus, "get", lambda *_: (status, {"error": "no"}))
    with pytest.raises(error, match=f"HTTP {status}"):
        Kube(world.kubeconfig, "plumbline").get("/version")
    with pytest.raises(error, match=f"HTTP {status}"):
        _prometheus(world).query("up")


def test_answer_that_is_no_json_is_not_an_answer(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world.api, "get", lambda *_: (200, "<html>"))
    monkeypatch.setattr(world.prometheus, "get", lambda *_: (200, "<html>"))
    with pytest.raises(UnreachableError, match="not JSON"):
        Kube(world.kubeconfig, "plumbline").get("/version")
    with pytest.raises(UnreachableError, match="not its JSON"):
        _prometheus(world).query("up")
    with pytest.raises(UnreachableError, match="not a line"):
        _prometheus(world).own_metrics()


def test_proxy_of_the_environment_is_not_asked_for_a_forward(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert _prometheus(world).flags()
    with pytest.raises(UnreachableError):
        Prometheus("Prometheus", lambda: world.prometheus_address, lambda: None, use_proxies=True).flags()


def test_broken_connection_is_told_to_the_forward() -> None:
    told: list[bool] = []
    client = Prometheus("Prometheus", lambda: "http://127.0.0.1:1", lambda: told.append(True), use_proxies=False)
    with pytest.raises(UnreachableError, match=requests.ConnectionError.__name__):
        client.ready()
    assert told == [True]


def _prometheus(world: World) -> Prometheus:
    return Prometheus("Prometheus", lambda: world.prometheus_address, lambda: None, use_proxies=False)
