"""Clients of SwanLab and of an object store, against servers: what they read, and that a failed read is no data."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from smoke import limits
from smoke.access.errors import NoShellError, RefusedError, UnreachableError
from smoke.access.gateway import Blanks
from smoke.access.objects import Key, Objects
from smoke.access.state import CLICKHOUSE, POSTGRES, REDIS, directory
from smoke.access.swanlab import SwanLab, Target
from smoke.redact import MASK, redact, remember
from tests.offline.smoke.fake_swanlab import KEY, PROJECT, FakeStore, FakeSwanLab, Request, Run, served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TARGET = Target(PROJECT, "p1", "r1")


@pytest.fixture
def fake() -> FakeSwanLab:
    """An installation with one run."""
    made = FakeSwanLab()
    run = made.store("sentinel-1")
    run.points = {"loss": [(0, "0.5"), (1, "nan"), (2, "1e-07")], "a/b c": [(0, "1")]}
    run.files = {"image": [(1, b"second"), (0, b"first")]}
    run.config = {"lr": 0.1}
    run.lines = ["one", "two", "three", "four", "five"]
    return made


@pytest.fixture
def client(fake: FakeSwanLab) -> Iterator[SwanLab]:
    """Its client, with the right key."""
    with served(fake) as address:
        fake.base = address
        made = SwanLab("SwanLab", lambda: address, lambda: None, key=lambda: KEY)
        yield made
        made.close()


def test_run_is_read_whole(client: SwanLab) -> None:
    assert client.user() == "alice"
    assert client.target(PROJECT, "r1") == TARGET
    assert client.series(TARGET, "loss") == [(0, "0.5"), (1, "nan"), (2, "1e-07")]
    assert client.series(TARGET, "a/b c") == [(0, "1")]
    assert client.columns(TARGET) == {"loss": "FLOAT", "a/b c": "FLOAT", "image": "IMAGE", "__swanlab__.x": "FLOAT"}
    assert [client.media_bytes(TARGET, item.path) for item in client.media(TARGET, "image")] == [b"second", b"first"]
    assert client.log_lines(TARGET) == ["one", "two", "three", "four", "five"]
    assert client.run(TARGET)["state"] == "FINISHED"
    assert client.licence()["enabled"] is True


def test_session_that_has_ended_is_begun_anew_once(client: SwanLab, fake: FakeSwanLab) -> None:
    client.licence()
    fake.sessions.clear()
    assert client.licence()["plan"] == "free"
    assert fake.asked.count("POST /api/login/api_key") == 2
    fake.keys.clear()
    fake.sessions.clear()
    with pytest.raises(RefusedError, match="401"):
        client.licence()


def test_signed_address_on_another_host_is_shown_no_session(client: SwanLab, fake: FakeSwanLab) -> None:
    cookies: list[str] = []

    class Other:
        def answer(self, request: Any) -> tuple[int, bytes]:  # noqa: ANN401  # as the fakes have it
            cookies.append(request.headers.get("cookie", ""))
            return 200, b"x"

    with served(Other()) as other:
        assert client.fetch(f"{other}/b/o?X-Amz-Signature=s", "file o") == b"x"
    client.licence()
    assert client.fetch("/export/r1?key=loss", "export").startswith(b"\xef\xbb\xbfstep,value")
    assert cookies == [""]
    assert fake.asked[-1] == "GET /export/r1"


def test_signed_address_is_never_told(client: SwanLab) -> None:
    with pytest.raises(UnreachableError) as caught:
        client.fetch("http://127.0.0.1:1/b/o?X-Amz-Signature=hunter2", "file o")
    assert "hunter2" not in f"{caught.value.subject} {caught.value}"
    assert caught.value.subject == "SwanLab file o at 127.0.0.1:1"


def _broken(path: str, answer: tuple[int, bytes]) -> Callable[[FakeSwanLab], None]:
    return lambda fake: fake.answers.update({path: answer})


def _no_csv(fake: FakeSwanLab) -> None:
    fake.answers["/api/experiment/r1/column/csv"] = (200, b'{"data": []}')


READS: list[tuple[Callable[[FakeSwanLab], None], Callable[[SwanLab], object], type[Exception]]] = [
    (_no_csv, lambda c: c.series(TARGET, "loss"), UnreachableError),
    (_broken("/export/r1", (200, b"")), lambda c: c.series(TARGET, "loss"), UnreachableError),
    (_broken("/export/r1", (200, b"<html>")), lambda c: c.series(TARGET, "loss"), UnreachableError),
    (_broken("/export/r1", (200, b"step,value\n0.5,x\n")), lambda c: c.series(TARGET, "loss"), UnreachableError),
    (_broken("/export/r1", (403, b"")), lambda c: c.series(TARGET, "loss"), RefusedError),
    (_broken("/api/experiment/r1/column/csv", (500, b"")), lambda c: c.series(TARGET, "loss"), UnreachableError),
    (_broken("/api/experiment/r1/column", (200, b"[]")), lambda c: c.columns(TARGET), UnreachableError),
    (_broken("/api/experiment/r1/column", (200, b"{}")), lambda c: c.columns(TARGET), UnreachableError),
    (_broken("/api/house/metrics/f_media", (200, b"{}")), lambda c: c.media(TARGET, "image"), UnreachableError),
    (_broken("/api/house/metrics/f_media", (200, b'[{"key":"image","metrics":[{"data":["x"]}]}]')),
     lambda c: c.media(TARGET, "image"), UnreachableError),
    (_broken("/api/resources/presigned/get", (200, b'{"urls":[]}')),
     lambda c: c.media_bytes(TARGET, "x"), UnreachableError),
    (_broken("/api/resources/presigned/get", (404, b"")), lambda c: c.media_bytes(TARGET, "x"), RefusedError),
    (_broken("/api/house/metrics/log", (200, b'{"logs":[{"message":"x"}]}')),
     lambda c: c.log_lines(TARGET), UnreachableError),
    (_broken("/api/self_hosted/info", (200, b"OK")), lambda c: c.licence(), UnreachableError),
    (_broken("/api/login/api_key", (200, b"{}")), lambda c: c.licence(), UnreachableError),
]  # fmt: skip  # one case a line


@pytest.mark.parametrize("number", range(len(READS)))
def test_failed_read_is_an_error_and_never_empty(client: SwanLab, fake: FakeSwanLab, number: int) -> None:
    damage, read, error = READS[number]
    damage(fake)
    with pytest.raises(error):
        read(client)


def test_deleting_what_is_gone_is_fine(client: SwanLab, fake: FakeSwanLab) -> None:
    client.delete_run(TARGET)
    client.delete_run(TARGET)
    assert fake.runs == {}
    assert client.project("alice/none") is None


def test_stranger_sees_what_a_stranger_sees(client: SwanLab, fake: FakeSwanLab) -> None:
    client.licence()
    assert client.stranger("/api") == (200, "OK")
    assert client.stranger("/api/internal")[0] == 403
    assert client.stranger("/api/self_hosted/info")[0] == 401
    fake.answers["/api"] = (302, b"")
    assert client.stranger("/api")[0] == 302


def test_captions_belong_to_their_file_or_to_none() -> None:
    fake = FakeSwanLab()
    metric = b'[{"key":"i","metrics":[{"index":3,"data":["a","b"],"more":[{"caption":"c"}]}]}]'
    fake.answers["/api/house/metrics/f_media"] = (200, metric)
    fake.runs["r1"] = Run("r1", "n", "")
    with served(fake) as address:
        found = SwanLab("SwanLab", lambda: address, lambda: None, key=lambda: KEY).media(TARGET, "i")
    assert [(item.step, item.path, item.caption) for item in found] == [(3, "a", ""), (3, "b", "")]


def test_object_is_written_listed_read_and_deleted() -> None:
    store = FakeStore()
    with served(store) as address:
        client = Objects("store", lambda: address, lambda: None, Key("access", "secret"))
        client.put("bucket", "plumbline-sentinel/ä b", b"data")
        assert client.get("bucket", "plumbline-sentinel/ä b") == b"data"
        assert client.names("bucket", "plumbline-sentinel/") == ["plumbline-sentinel/ä b"]
        client.delete("bucket", "plumbline-sentinel/ä b")
        with pytest.raises(RefusedError) as caught:
            client.get("bucket", "plumbline-sentinel/ä b")
        assert (caught.value.status, caught.value.subject) == (404, "store bucket/plumbline-sentinel/ä b")
        with pytest.raises(RefusedError, match="InvalidAccessKeyId"):
            client.as_(Key("other", "secret")).put("bucket", "o", b"")
        with pytest.raises(RefusedError, match="AccessDenied"):
            client.as_(None).names("bucket")
        client.close()


def test_store_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CONNECT", 0.2)
    told: list[str] = []
    client = Objects("store", lambda: "http://127.0.0.1:1", lambda: told.append("broken"), None)
    with pytest.raises(UnreachableError):
        client.get("bucket", "o")
    assert told == ["broken"]


@pytest.mark.parametrize("status", [500, 503])
def test_store_in_trouble_is_asked_again_later(status: int) -> None:
    class Trouble:
        def answer(self, _: object) -> tuple[int, bytes]:
            return status, b"<Error><Code>InternalError</Code></Error>"

    with served(Trouble()) as address, pytest.raises(UnreachableError):
        Objects("store", lambda: address, lambda: None, None).get("bucket", "o")


def test_store_that_speaks_of_something_else() -> None:
    class Page:
        def answer(self, _: object) -> tuple[int, bytes]:
            return 200, b"<html><body>welcome<br></body>"

    with served(Page()) as address, pytest.raises(UnreachableError):
        Objects("store", lambda: address, lambda: None, None).names("bucket")


def test_key_is_hidden_in_prints_and_reports() -> None:
    assert repr(Key("access", "hunter2")) == "Key(hidden)"
    remember("hunter2hunter2")
    assert redact("it said hunter2hunter2, and: hunter2hunter2!") == f"it said {MASK}, and: {MASK}!"
    remember("a")
    assert redact("a word") == "a word"


@pytest.mark.parametrize(("size", "piece"), [(2, 1), (2, 9), (3, 2), (9, 4), (10, 3), (200_000, 65_536)])
def test_large_body_is_blanks_around_an_empty_object(size: int, piece: int) -> None:
    body, found = Blanks(size), b""
    assert len(body) == size
    while part := body.read(piece):
        found += part
    assert (len(found), found.lstrip()) == (size, b"{}")
    assert Blanks(size).read() == found == b"".join(Blanks(size))


def test_large_body_tells_its_length_and_is_that_of_a_session(client: SwanLab, fake: FakeSwanLab) -> None:
    asked: list[Request] = []
    answer = fake.answer
    fake.answer = lambda request: (asked.append(request), answer(request))[1]  # type: ignore[method-assign,func-returns-value]  # it listens
    assert client.body("/api/house/metrics", 300_000) == 400
    last = asked[-1]
    assert (len(last.body), last.headers["content-length"]) == (300_000, "300000")
    assert "transfer-encoding" not in last.headers
    fake.sessions.clear()
    assert [client.body("/api/house/metrics", 9), client.body("/api/house/metrics", 9)] == [401, 400]
    fake.largest = 10
    assert client.body("/api/house/metrics", 11) == 413


class _Host:
    def __init__(self, code: int, stdout: str, stderr: str = "") -> None:
        self.rc, self.stdout, self.stderr = code, stdout, stderr

    def run(self, _: str) -> _Host:
        return self


@pytest.mark.parametrize("store", ["postgres", "redis", "clickhouse"])
def test_data_directory_of_a_store(store: str) -> None:
    host: Any = _Host(0, "at /var/lib/data\nend\n")
    assert directory(host, store) == "/var/lib/data"


def _told(script: str, fake: Path) -> str:
    """What a script prints where /proc is a directory of the test's."""
    text = script.replace("/proc/", f"{fake}/")
    return subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=True).stdout


def test_directories_are_those_of_the_running_programs(tmp_path: Path) -> None:
    data, proc = tmp_path / "data", tmp_path / "proc"
    for number, program in enumerate(("sh", "redis-server", "postgres", "clickhouse-server"), 1):
        (own := data / program).mkdir(parents=True)
        (fd := proc / str(number) / "fd").mkdir(parents=True)
        (fd.parent / "comm").write_text(f"{program}\n")
        (fd.parent / "cwd").symlink_to(own)
        (own / "status").touch()
        (fd / "3").symlink_to(own / "status")
    assert {_told(script, proc) for script in (POSTGRES, CLICKHOUSE)} == {"end\n"}
    (data / "postgres" / "PG_VERSION").touch()
    (data / "clickhouse-server" / "metadata").mkdir()
    assert _told(POSTGRES, proc) == f"at {data}/postgres\nend\n"
    assert _told(REDIS, proc) == f"at {data}/redis-server\nend\n"
    assert _told(CLICKHOUSE, proc) == f"at {data}/clickhouse-server\nend\n"


@pytest.mark.parametrize(
    ("host", "error"),
    [
        (_Host(0, "end\n"), UnreachableError),
        (_Host(0, "at /var/lib"), UnreachableError),
        (_Host(1, "", "pod is gone"), UnreachableError),
        (_Host(1, "", 'exec: "/bin/sh": executable file not found'), NoShellError),
    ],
)
def test_data_directory_that_is_not_told(host: Any, error: type[Exception]) -> None:  # noqa: ANN401  # as testinfra's
    with pytest.raises(error):
        directory(host, "redis")
