"""The API server of a test on a port, and the program in front of it."""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from recovery.kube import Cluster
from recovery.quiet import Quiesce, Settings
from tests.offline.serving import serving
from tests.offline.stacks.api_server import kubeconfig

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.offline.recovery.quiet_cluster import FakeCluster

ORDER = ("gateway", "server", "auth", "house")
RUNNING = {"gateway": 2, "server": 3, "auth": 1, "house": 2}
STOPPED = dict.fromkeys(RUNNING, 0)
PACE = 0.001


@dataclass(frozen=True)
class Site:
    """Where the server is. config: a kubeconfig that leads to it."""

    url: str
    config: Path

    def api(self) -> Cluster:
        return Cluster(self.config, "kind-kind")

    def settings(self, *, seconds: float = 30, settle: float = 0.01, **more: object) -> Settings:
        document = {
            "namespace": "lab",
            "order": ORDER,
            "buffer": "vector",
            "buffer_metrics": (f"{self.url}/metrics",),
            "seconds": seconds,
            "settle_seconds": settle,
            **more,
        }
        return Settings.model_validate(document)


@contextmanager
def served(found: FakeCluster, directory: Path) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_GET(self) -> None:
            self._serve()

        def do_PATCH(self) -> None:
            self._serve()

        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else {}
            status, answer = found.answer(self.command, self.path, body)
            content = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except OSError:
                # Whoever asked was killed by the test.
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Keep the test's output quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    with serving(server) as url:
        yield Site(url, kubeconfig(directory / "kubeconfig", url))


def sites(directory: Path) -> Iterator[Callable[[FakeCluster], Site]]:
    """What serves clusters until the test ends."""
    with ExitStack() as stack:
        yield lambda found: stack.enter_context(served(found, directory))


def quiet(site: Site, tell: Callable[[str], None] = lambda _line: None, **how: object) -> AbstractContextManager[None]:
    """The block in which the stack is quiet. how: see Site.settings."""
    return Quiesce(site.settings(**how), site.api(), pace=PACE)(tell)  # type: ignore[arg-type]  # any of the settings


def as_before(found: FakeCluster) -> None:
    assert found.replicas() == RUNNING
    assert found.annotated() == {}
