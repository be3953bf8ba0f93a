"""The two HTTP servers: metrics, healthz and livez on one port, readyz and the metrics about itself on the other."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlsplit

from sandbox.workloads.kube_state_metrics import store, telemetry
from sandbox.workloads.kube_state_metrics.api import Api, ApiError
from sandbox.workloads.kube_state_metrics.text import TEXT, is_open_metrics, negotiate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.workloads.kube_state_metrics.reflector import Reflector
    from sandbox.workloads.kube_state_metrics.store import Store
    from sandbox.workloads.kube_state_metrics.telemetry import Counters

_log = logging.getLogger(__name__)
_ALL_ADDRESSES: Final = "::"
_READ_TIMEOUT: Final = 60.0


@dataclass(frozen=True)
class Page:
    """An answer."""

    body: str
    status: HTTPStatus = HTTPStatus.OK
    content_type: str = "text/plain; charset=utf-8"


Routes = Mapping[str, Callable[[Mapping[str, list[str]], str], Page]]
"""Path → function of the query and the Accept header."""
_DOWN: Final = Page("Service Unavailable", HTTPStatus.SERVICE_UNAVAILABLE)
_UP: Final = Page("OK")


def metrics_routes(stores: Mapping[str, Sequence[Store]], api: Api) -> Routes:
    """The main port. stores: resource → its stores, one per namespace that is watched."""

    def metrics(query: Mapping[str, list[str]], accept: str) -> Page:
        content_type = negotiate(accept)
        wanted = [name for name in sorted(stores) if _is_asked(name, query)]
        body = "".join(store.exposition(stores[name]) for name in wanted)
        return Page(body + ("# EOF\n" if is_open_metrics(content_type) else ""), content_type=content_type)

    def livez(_query: Mapping[str, list[str]], _accept: str) -> Page:
        try:
            api.probe("/livez")
        except ApiError as error:
            _log.warning("the API server does not say that it lives: %s", error)
            return _DOWN
        return _UP

    return {"/metrics": metrics, "/healthz": lambda _query, _accept: _UP, "/livez": livez}


def telemetry_routes(reflectors: Sequence[Reflector], counters: Counters) -> Routes:
    """The port about the program itself. It is ready once every resource was listed."""

    def metrics(_query: Mapping[str, list[str]], _accept: str) -> Page:
        return Page(telemetry.exposition(counters, telemetry.read_process()), content_type=TEXT)

    def readyz(_query: Mapping[str, list[str]], _accept: str) -> Page:
        return _UP if all(reflector.listed for reflector in reflectors) else _DOWN

    return {"/metrics": metrics, "/readyz": readyz}


def _is_asked(name: str, query: Mapping[str, list[str]]) -> bool:
    """Upstream's `resources` and `exclude_resources` parameters of a scrape."""
    asked, refused = (_names(query.get(key)) for key in ("resources", "exclude_resources"))
    return (asked is None or name in asked) and (refused is None or name not in refused)


def _names(values: list[str] | None) -> set[str] | None:
    return None if values is None else {word.strip() for value in values for word in value.split(",")}


class Server(ThreadingHTTPServer):
    """Serves routes on one port; `::` is every address of both families, as in Go."""

    daemon_threads = True

    def __init__(self, host: str, port: int, routes: Routes) -> None:
        """Listen. Raises OSError when the port is taken."""
        dual = host == _ALL_ADDRESSES and socket.has_dualstack_ipv6()
        self.routes = routes
        self._dual = dual
        self.address_family = socket.AF_INET6 if dual or (":" in host and host != _ALL_ADDRESSES) else socket.AF_INET
        super().__init__(("" if host == _ALL_ADDRESSES else host, port), _Handler)

    def server_bind(self) -> None:
        """Accept IPv4 on an IPv6 socket, whatever the system's default is; ask no name server, as HTTPServer would."""
        if self._dual:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    timeout = _READ_TIMEOUT

    def do_GET(self) -> None:
        """Answer from the routes of the server."""
        url = urlsplit(self.path)
        route = self.server.routes.get(url.path)
        page = (
            route(parse_qs(url.query, keep_blank_values=True), self.headers.get("Accept", ""))
            if route
            else Page(f"no page here; pages are {', '.join(self.server.routes)}\n", HTTPStatus.NOT_FOUND)
        )
        body = page.body.encode()
        self.send_response(page.status)
        self.send_header("Content-Type", page.content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not logged: a scrape every few seconds would drown what matters."""
        _log.debug(format, *args)
