"""Judges where signals go: addresses, and headers that may not stand in a ConfigMap."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.otel_collector.args import Backend, OtelCollectorArgs

_SECRET_HEADER: Final = re.compile(r"auth|cookie|token|secret|passw|credential|key$", re.IGNORECASE)
_HEADER: Final = re.compile(r"[A-Za-z0-9][-A-Za-z0-9_]{0,62}")
_HOST_AND_PORT: Final = re.compile(r"(?:[A-Za-z0-9](?:[-.A-Za-z0-9]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]):\d{1,5}")


def backends(args: OtelCollectorArgs) -> Iterator[str]:
    """What is wrong with the backends, each as `signal: what; what is accepted`."""
    for signal, backend in args.backends.items():
        yield from (f"{signal}: {what}" for what in (*_address(backend), *_headers(backend)))


def _address(backend: Backend) -> Iterator[str]:
    """Never quotes an address that holds a login."""
    if backend.protocol == "grpc":
        if not _HOST_AND_PORT.fullmatch(backend.endpoint):
            yield "endpoint: accepted is `host:port` with the protocol grpc"
    elif backend.protocol == "http":
        yield from _url(backend)
    else:
        yield f"protocol: `{backend.protocol}`; accepted is http or grpc"


def _url(backend: Backend) -> Iterator[str]:
    scheme = "https" if backend.tls else "http"
    try:
        parts = urlsplit(backend.endpoint)
        host, login = parts.hostname, parts.username or parts.password
    except ValueError as error:
        yield f"endpoint: cannot be parsed ({error}); accepted is {scheme}://host/path"
        return
    if parts.scheme != scheme or not host:
        yield f"endpoint: accepted is {scheme}://host/path with tls {str(backend.tls).lower()}"
    if login:
        yield "endpoint: holds a login, and would stand in a ConfigMap; accepted is a header from headers_secret"


def _headers(backend: Backend) -> Iterator[str]:
    if backend.headers_secret is not None and not backend.headers_keys:
        yield f"headers_secret: of `{backend.headers_secret}` no key is named, so no header is sent; name its keys"
    if backend.headers_secret is None and backend.headers_keys:
        yield "headers_keys: named without a Secret; accepted is headers_secret beside them"
    for name in (*backend.headers, *backend.headers_keys):
        if not _HEADER.fullmatch(name):
            yield f"header `{name}`: accepted are letters, digits, `-` and `_`"
    lowered = [name.lower() for name in (*backend.headers, *backend.headers_keys)]
    for name in sorted({name for name in lowered if lowered.count(name) > 1}):
        yield f"header `{name}`: given more than once; accepted is one value"
    for name in backend.headers:
        if _SECRET_HEADER.search(name):
            yield f"header `{name}`: would stand in a ConfigMap; put it into a Secret and name that by headers_secret"
