"""Each thing that the proxy does to a call is seen to happen, and not to happen to the next one."""

from __future__ import annotations

import http.client
import threading
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
import requests

from sandbox.faults.proxy import faulty
from sandbox.faults.rules import BodyLimit, Drop, Latency, Rule, Status, Truncate
from tests.offline.sandbox.faults.servers import LARGE, LARGE_BYTES, Echo, echo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.faults.proxy import Proxy


@pytest.fixture(scope="module")
def server() -> Iterator[Echo]:
    """One for all tests of the module."""
    with echo() as found:
        yield found


@pytest.fixture
def proxy(server: Echo) -> Iterator[Proxy]:
    """A proxy without rules before it."""
    server.seen.clear()
    with faulty(server.url) as found:
        yield found


def ask(proxy: Proxy, method: str = "GET", path: str = "/x", **more: object) -> requests.Response:
    """One call on a connection of its own, without the machine's proxies."""
    with requests.Session() as session:
        session.trust_env = False
        return session.request(method, proxy.url + path, timeout=60, **more)  # type: ignore[arg-type]  # as requests takes them


def test_call_and_answer_pass_unchanged_without_a_rule(proxy: Proxy, server: Echo) -> None:
    found = ask(
        proxy, "PUT", "/a%20b?q=1&r=%2F", data=b"\x00\xff body", headers={"Host": "of.the.client", "X-Own": "1"}
    )
    told = found.json()
    assert (found.status_code, found.headers["ETag"]) == (201, '"of the server"')
    assert found.raw.headers.getlist("Set-Cookie") == ["a=1", "b=2"]
    assert (told["path"], told["body"]) == ("/a%20b?q=1&r=%2F", "\x00\xff body")
    assert (told["headers"]["Host"], told["headers"]["X-Own"]) == ("of.the.client", "1")
    assert server.seen == ["PUT /a%20b?q=1&r=%2F"]
    (call,) = proxy.calls
    assert (call.asked.path, call.asked.size, call.rules, call.reached, call.status) == ("/a%20b", 7, (), True, 201)


def test_host_of_the_server_is_shown_on_request(server: Echo) -> None:
    with faulty(server.url, keep_host=False) as proxy:
        found = ask(proxy, headers={"Host": "of.the.client"})
    assert found.json()["headers"]["Host"] == urlsplit(server.url).netloc


def test_status_is_answered_in_the_servers_place(proxy: Proxy, server: Echo) -> None:
    proxy.rules = [Rule(act=Status(429, '{"code": "busy"}', {"Retry-After": "1"}), name="busy", last=1)]
    refused, passed = ask(proxy), ask(proxy)
    assert (refused.status_code, refused.text, refused.headers["Retry-After"]) == (429, '{"code": "busy"}', "1")
    assert passed.status_code == 200
    assert server.seen == ["GET /x"]
    assert [(call.rules, call.reached, call.status) for call in proxy.calls] == [
        (("busy",), False, 429),
        ((), True, 200),
    ]


def test_latency_holds_the_call_and_then_passes_it_on(
    proxy: Proxy, server: Echo, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[tuple[float, int]] = []
    monkeypatch.setattr("sandbox.faults.proxy.time.sleep", lambda seconds: waited.append((seconds, len(server.seen))))
    proxy.rules = [Rule(act=Latency(2.5), last=1)]
    assert [ask(proxy).status_code, ask(proxy).status_code] == [200, 200]
    assert waited == [(2.5, 0), (0.0, 1)]
    assert [call.rules for call in proxy.calls] == [("Latency",), ()]


def test_connection_is_dropped_before_the_server_hears_of_the_call(proxy: Proxy, server: Echo) -> None:
    proxy.rules = [Rule(act=Drop(), last=1)]
    with pytest.raises(requests.ConnectionError):
        ask(proxy)
    assert server.seen == []
    assert ask(proxy).status_code == 200
    assert [(call.reached, call.status) for call in proxy.calls] == [(False, None), (True, 200)]


def test_connection_is_dropped_after_the_server_did_what_was_asked(proxy: Proxy, server: Echo) -> None:
    proxy.rules = [Rule(act=Drop(reached=True), last=1)]
    with pytest.raises(requests.ConnectionError):
        ask(proxy, "POST", data=b"once")
    assert server.seen == ["POST /x"]
    assert ask(proxy).status_code == 200
    assert [(call.reached, call.status) for call in proxy.calls] == [(True, None), (True, 200)]


def test_body_above_the_limit_is_refused_and_one_at_the_limit_is_not(proxy: Proxy, server: Echo) -> None:
    proxy.rules = [Rule(act=BodyLimit(1024**2))]
    assert ask(proxy, "POST", data=b"x" * (1024**2 + 1)).status_code == 413
    assert server.seen == []
    assert ask(proxy, "POST", data=b"x" * 1024**2).status_code == 200


def test_answer_is_cut_and_the_client_can_tell(proxy: Proxy) -> None:
    proxy.rules = [Rule(act=Truncate(1000), route=LARGE)]
    connection = http.client.HTTPConnection(urlsplit(proxy.url).netloc, timeout=60)
    connection.request("GET", LARGE)
    answer = connection.getresponse()
    assert answer.getheader("Content-Length") == str(LARGE_BYTES)
    with pytest.raises(http.client.IncompleteRead) as caught:
        answer.read()
    connection.close()
    assert caught.value.partial == b"x" * 1000
    proxy.rules = []
    assert ask(proxy, path=LARGE).content == b"x" * LARGE_BYTES
    assert [call.status for call in proxy.calls] == [None, 200]


def test_rules_changed_at_run_time_hold_from_the_next_call_on(proxy: Proxy) -> None:
    proxy.rules = [Rule(act=Status(503))]
    refused = ask(proxy).status_code
    proxy.rules = []
    passed = ask(proxy).status_code
    proxy.rules = [Rule(act=Status(403), method="GET")]
    assert (refused, passed, ask(proxy).status_code, ask(proxy, "POST").status_code) == (503, 200, 403, 200)


def test_objects_are_refused_by_operation_and_key(proxy: Proxy) -> None:
    proxy.rules = [Rule(act=Status(403), verb="PutObject", key="private/*")]
    signed = "?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=00"
    assert ask(proxy, "PUT", f"/private/a.png{signed}").status_code == 403
    assert ask(proxy, "GET", f"/private/a.png{signed}").status_code == 200
    assert ask(proxy, "PUT", f"/public/a.png{signed}").status_code == 201
    assert {call.asked.path for call in proxy.calls} == {"/private/a.png", "/public/a.png"}


def test_client_may_use_it_as_its_proxy_for_servers_that_it_knows(server: Echo) -> None:
    with echo() as store, echo() as stranger, faulty(server.url, store.url) as proxy, requests.Session() as session:
        session.trust_env = False
        session.proxies = {"http": proxy.url}
        proxy.rules = [Rule(act=Status(503), route="/refused")]
        assert (
            session.put(f"{store.url}/k?q=1", data=b"x", timeout=60).json()["headers"]["Host"]
            == urlsplit(store.url).netloc
        )
        assert session.get(f"{store.url}/refused", timeout=60).status_code == 503
        assert session.get(f"{server.url}/y", timeout=60).status_code == 200
        assert session.get(f"{stranger.url}/y", timeout=60).status_code == 502
        assert (store.seen, stranger.seen) == (["PUT /k?q=1"], [])


def test_path_that_holds_an_address_is_still_a_path(proxy: Proxy, server: Echo) -> None:
    assert ask(proxy, path="/x?next=http://elsewhere.example.org/").status_code == 200
    assert server.seen == ["GET /x?next=http://elsewhere.example.org/"]


def test_head_has_the_length_and_no_body(proxy: Proxy) -> None:
    found = ask(proxy, "HEAD", LARGE)
    assert (found.status_code, found.headers["Content-Length"], found.content) == (200, str(LARGE_BYTES), b"")


def test_body_in_chunks_arrives_whole(proxy: Proxy) -> None:
    found = ask(proxy, "POST", data=iter([b"one ", b"two"]))
    assert (found.json()["body"], found.json()["headers"]["Content-Length"]) == ("one two", "7")


def test_server_that_is_away_is_a_bad_gateway() -> None:
    with echo() as gone:
        pass
    with faulty(gone.url) as proxy:
        assert ask(proxy).status_code == 502
        assert [(call.reached, call.status) for call in proxy.calls] == [(False, 502)]


def test_calls_at_the_same_time_are_each_counted_once(proxy: Proxy) -> None:
    proxy.rules = [Rule(act=Status(503), every=2)]
    statuses: list[int] = []
    threads = [threading.Thread(target=lambda: statuses.append(ask(proxy).status_code)) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] * 5 + [503] * 5
    assert len(proxy.calls) == 10
