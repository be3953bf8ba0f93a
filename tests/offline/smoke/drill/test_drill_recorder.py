"""What counts as an acknowledgement, and what does not although it looks like one."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from smoke.access.errors import AccessError, RefusedError, UnreachableError
from smoke.access.swanlab import Target
from smoke.drill import timed
from smoke.drill.journal import Writer
from smoke.drill.journal_reader import read
from smoke.drill.recorder import Recorder
from tests.offline.serving import serving
from tests.offline.smoke.drill.made import BEGIN, T
from tests.offline.smoke.drill.written import METRICS, WrittenSwanLab
from tests.offline.smoke.fake_swanlab import KEY, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TARGET = Target("alice/plumbline-drill", "p1", "t1")


@contextmanager
def _answering(code: int, headers: dict[str, str], body: bytes) -> Iterator[str]:
    """A server that lets everybody in and answers every request of points the same."""

    class Handler(BaseHTTPRequestHandler):
        def _any(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            mine = self.path == METRICS
            login = b'{"sid": "s", "userInfo": {"username": "alice"}}'
            self.send_response(code if mine else 200)
            for name, value in headers.items() if mine else ():
                self.send_header(name, value)
            data = body if mine else login
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = _any  # names that the base class calls

        def log_message(self, *_: object) -> None:
            """Quiet."""

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as address:
        yield address


def _recorder(address: str) -> Recorder:
    return Recorder("SwanLab", lambda: address, lambda: None, key=lambda: KEY)


def test_an_answer_of_the_server_is_an_acknowledgement() -> None:
    with _answering(200, {"Content-Type": "application/json"}, b"{}") as address:
        _recorder(address).log(TARGET, 0, {"drill/a": 1.0})


@pytest.mark.parametrize(
    ("code", "headers", "kind"),
    [
        (200, {"Content-Type": "text/html; charset=utf-8"}, UnreachableError),  # the page of a proxy, or of the pages
        (302, {"Location": "/api"}, UnreachableError),  # to something that answers 200
        (304, {}, UnreachableError),
        (400, {}, RefusedError),
        (413, {}, RefusedError),
        (429, {}, UnreachableError),
        (500, {}, UnreachableError),
        (503, {}, UnreachableError),
    ],
)
def test_anything_else_is_none(code: int, headers: dict[str, str], kind: type[AccessError]) -> None:
    with _answering(code, headers, b""[:0]) as address, pytest.raises(kind):
        _recorder(address).log(TARGET, 0, {"drill/a": 1.0})


@pytest.fixture
def fake() -> Iterator[WrittenSwanLab]:
    """A SwanLab that is written to."""
    state = WrittenSwanLab()
    with served(state) as address:
        state.base = address
        yield state


def test_an_image_whose_bytes_were_refused_is_not_logged(fake: WrittenSwanLab) -> None:
    recorder = _recorder(fake.base)
    target = recorder.start("plumbline-drill", "drill-1", ("a",), ("i",))
    path = f"/swanlab-private/p1/{target.run_id}/media/image/x.png"
    fake.refused_files.add(path)
    with pytest.raises(UnreachableError) as raised:
        recorder.image(target, "i", 0, "media/image/x.png", b"x")
    assert fake.runs[target.run_id].files == {"i": []}
    # A signed address is a key.
    assert "X-Amz" not in f"{raised.value.subject} {raised.value}"


def test_a_session_that_ends_is_begun_again_and_costs_nothing(fake: WrittenSwanLab) -> None:
    recorder = _recorder(fake.base)
    target = recorder.start("plumbline-drill", "drill-1", ("a",), ("i",))
    fake.sessions.clear()
    recorder.log(target, 0, {"a": 1.5})
    assert fake.runs[target.run_id].points == {"a": [(0, "1.5")]}


def test_a_step_without_an_answer_is_journaled_as_such_and_the_next_one_follows(
    fake: WrittenSwanLab, tmp_path: Path
) -> None:
    """The server goes away and comes back, as in a disaster."""
    recorder = _recorder(fake.base)
    target = recorder.start("plumbline-drill", "drill-1", ("drill/a", "drill/b"), ("drill/image",))
    writer = Writer(tmp_path / "journal")
    writer.begin(BEGIN, T)
    fake.refuses = {3: (503, b"away"), 4: (502, b"away")}
    stop = threading.Event()
    fake.after = {6: stop.set}
    run = timed.Timed(recorder, target, writer, "seed", period=0.0)
    run.run(stop)
    writer.close()
    found = read(tmp_path / "journal").sent
    assert [(sent.step, sent.acked is not None) for sent in found] == [
        *[(0, True), (0, True), (1, False), (2, False), (3, True), (4, True)]
    ]
    assert run.acknowledged == 4
    failed = [line for line in (tmp_path / "journal" / "journal.jsonl").read_text().splitlines() if '"failed"' in line]
    assert ["HTTP 503: away" in failed[0], "HTTP 502: away" in failed[1]] == [True, True]


def test_values_differ_from_step_to_step_and_key_to_key(fake: WrittenSwanLab, tmp_path: Path) -> None:
    """A restore that mixes up steps or keys must be seen."""
    recorder = _recorder(fake.base)
    target = recorder.start("plumbline-drill", "drill-1", ("drill/a", "drill/b"), ("drill/image",))
    writer = Writer(tmp_path / "journal")
    writer.begin(BEGIN, T)
    stop = threading.Event()
    fake.after = {40: stop.set}
    timed.Timed(recorder, target, writer, "seed", period=0.0).run(stop)
    writer.close()
    sent = read(tmp_path / "journal").sent
    values = [text for one in sent for text in (*one.values.values(), *one.files.values())]
    assert len(values) == len(set(values)) > 70
