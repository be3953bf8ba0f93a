"""An API server that knows what a test gives it, and a kubeconfig that leads to it."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING
from urllib.parse import unquote

import yaml

from stacks.cluster import Access, KubeReader
from tests.offline.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Server:
    """An API server that knows a few objects; `answers` maps a path to status and body."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, object]] = {}
        self.asked: list[str] = []
        self.authorizations: list[str | None] = []
        answers, asked, authorizations = self.answers, self.asked, self.authorizations

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(unquote(self.path))
                authorizations.append(self.headers["Authorization"])
                status, body = answers.get(self.path.partition("?")[0], (404, {}))
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            def log_message(self, *_: object) -> None:
                """Keep the test's output quiet."""

        self.http = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"


def serve() -> Iterator[Server]:
    """A server that runs until the test ends."""
    found = Server()
    with serving(found.http):
        yield found


def kubeconfig(path: Path, url: str) -> Path:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "other",
        "clusters": [
            {"name": "right", "cluster": {"server": url}},
            {"name": "wrong", "cluster": {"server": "http://127.0.0.1:1"}},
        ],
        "contexts": [
            {"name": "kind-kind", "context": {"cluster": "right", "user": "me"}},
            {"name": "other", "context": {"cluster": "wrong", "user": "me"}},
        ],
        "users": [{"name": "me", "user": {"token": "t"}}],
    }
    path.write_text(yaml.safe_dump(document))
    return path


def reader(tmp_path: Path, url: str, context: str = "kind-kind") -> KubeReader:
    return KubeReader(Access(kubeconfig=kubeconfig(tmp_path / "config", url), context=context))
