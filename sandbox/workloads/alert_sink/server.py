"""HTTP around the pages of the sink."""

from __future__ import annotations

import logging
import socket
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, unquote, urlsplit

from sandbox.workloads.alert_sink.pages import Answer, Request, RequestError, answer, refused

if TYPE_CHECKING:
    from sandbox.workloads.alert_sink.inbox import Inbox

_log = logging.getLogger(__name__)

LARGEST_BODY: Final = 1_000_000
"""Bytes of a body that are still read."""
_READ_TIMEOUT: Final = 30.0


class Server(ThreadingHTTPServer):
    """Listens on one port, by default on every address of both families."""

    daemon_threads = True

    def __init__(self, host: str, port: int, inbox: Inbox) -> None:
        """Listen. Raises OSError when the port is taken or the host is no address of this machine."""
        super().__init__((host, port), _Handler, bind_and_activate=False)
        self.inbox = inbox
        self.socket.close()
        self.socket = _listen(host, port)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = host, int(self.server_address[1])


def _listen(host: str, port: int) -> socket.socket:
    if not host and socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    timeout = _READ_TIMEOUT

    def do_GET(self) -> None:
        """Notifications, metrics, health."""
        self._answer()

    def do_POST(self) -> None:
        """A notification, or an order to fail."""
        self._answer()

    def do_DELETE(self) -> None:
        """Forget notifications."""
        self._answer()

    def _answer(self) -> None:
        url = urlsplit(self.path)
        try:
            body = self._body()
        except RequestError as error:
            self.close_connection = True  # what of the body was not read would be taken for the next request
            self.server.inbox.refuse("size")
            self._send(refused(error))
            return
        request = Request(
            method=self.command,
            path=unquote(url.path),
            query=parse_qs(url.query, keep_blank_values=True),
            body=body,
            at=datetime.now(UTC),
        )
        self._send(answer(self.server.inbox, request))

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "0" if self.command != "POST" else "")
        if not (length.isascii() and length.isdigit()):
            raise RequestError(HTTPStatus.LENGTH_REQUIRED, "Content-Length is missing; send the length of the body")
        if int(length) > LARGEST_BODY:
            raise RequestError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"the body has {length} bytes; accepted are up to {LARGEST_BODY}: set max_alerts in webhook_config",
            )
        return self.rfile.read(int(length))

    def _send(self, found: Answer) -> None:
        content = found.body.encode()
        self.send_response(found.status)
        self.send_header("Content-Type", found.content_type)
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)
        if self.command == "POST":
            _log.info("%s %s: %s %s", self.command, self.path, int(found.status), found.body.strip())

    def log_message(self, format: str, *args: object) -> None:
        """Probes and scrapes are not logged: they would drown the notifications."""
        _log.debug(format, *args)
