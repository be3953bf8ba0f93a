"""A store that takes connections and then says nothing, as a frozen one does."""

from __future__ import annotations

import contextlib
import socket
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import urllib3

from sandbox.swanlab_server import storage, web
from sandbox.swanlab_server.settings import Bucket
from sandbox.swanlab_server.web import Answer, Call, Endpoint, Server
from tests.offline.sandbox.swanlab_server.server_driver import Client

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.swanlab_server.storage import Storage

_BUCKET = Bucket(
    endpoint="",
    region="local",
    private="private",
    public="public",
    access_key="key",
    secret_key="secret",  # noqa: S106  # nobody checks it
    public_url="",
)


@pytest.mark.parametrize(
    "use",
    [
        lambda store: store.size("p/r/a"),
        lambda store: store.put("p/r/a", b"a", "text/csv"),
        lambda store: store.remove("p/r/"),
        lambda store: store.begin("p/r/a", "text/csv"),
    ],
    ids=["size", "put", "remove", "begin"],
)
def test_a_frozen_store_is_asked_once_and_told_as_503(
    monkeypatch: pytest.MonkeyPatch, use: Callable[[Storage], object]
) -> None:
    monkeypatch.setattr(storage, "_PATIENCE", urllib3.Timeout(connect=3.0, read=0.05))
    with socket.create_server(("127.0.0.1", 0), backlog=8) as frozen:
        store = storage.Storage(replace(_BUCKET, endpoint=f"http://127.0.0.1:{frozen.getsockname()[1]}"))

        def handler(_context: None, _call: Call) -> Answer:
            use(store)
            return Answer()

        endpoint = Endpoint[None]("GET", "/use", handler, account=False)
        app = web.application(Server(context=None, identify=lambda _sid: None), (endpoint,))
        assert Client(app).ask("GET", "/use").status == 503
        asked = 0
        frozen.settimeout(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                frozen.accept()[0].close()
                asked += 1
    assert asked == 1, "a second wait would outlast the caller's patience"
