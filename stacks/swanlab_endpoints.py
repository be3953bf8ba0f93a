"""Asks stores that run elsewhere whether they answer, as what they should be, before anything relies on them.

It is asked from the machine that runs the engine. A name that only pods can resolve is not asked, and that is said.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import requests

from components.swanlab.args import ExternalClickHouse, ExternalPostgres, ExternalRedis, ExternalS3

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.swanlab.args import Bucket, SwanlabArgs

_SECONDS: Final = 5.0
_IN_CLUSTER: Final = (".svc", ".cluster.local")
_SSL_REQUEST: Final = bytes((0, 0, 0, 8, 4, 210, 22, 47))
"""What a client of PostgreSQL sends first: protocol 1234.5679, "may I use TLS". The answer is one letter."""
_NOT_FOUND: Final = 404


@dataclass(frozen=True, kw_only=True)
class Answers:
    """faults: stores that are not there or are something else. unasked: what could not be judged from here."""

    faults: tuple[str, ...]
    unasked: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Wrong:
    text: str


@dataclass(frozen=True, kw_only=True)
class _Unknown:
    text: str


def ask(args: SwanlabArgs) -> Answers:
    """Ask every store that the chart does not run, but the stack's own object store, which may not be there yet."""
    found = list(_all(args))
    return Answers(
        faults=tuple(answer.text for answer in found if isinstance(answer, _Wrong)),
        unasked=tuple(answer.text for answer in found if isinstance(answer, _Unknown)),
    )


def _all(args: SwanlabArgs) -> Iterator[_Wrong | _Unknown]:
    if isinstance(args.postgres, ExternalPostgres):
        yield from _postgres(args.postgres)
    if isinstance(args.redis, ExternalRedis):
        yield from _redis(args.redis)
    if isinstance(args.clickhouse, ExternalClickHouse):
        yield from _clickhouse(args.clickhouse)
    if isinstance(args.s3, ExternalS3) and isinstance(args.s3.credentials, str):
        yield from _bucket("private", args.s3.private)
        yield from _bucket("public", args.s3.public)


def in_cluster(host: str) -> bool:
    """Whether only pods can resolve a name: one of Kubernetes' own, or one without a dot, relative to a namespace."""
    return host.endswith(_IN_CLUSTER) or ("." not in host and host != "localhost")


def _postgres(store: ExternalPostgres) -> Iterator[_Wrong | _Unknown]:
    place = f"PostgreSQL {store.host}:{store.port} (plumbline:swanlab.stores.postgres)"
    answer = _exchange(store.host, store.port, _SSL_REQUEST, place)
    if isinstance(answer, _Wrong | _Unknown):
        yield answer
    elif answer[:1] not in (b"S", b"N", b"E"):
        yield _Wrong(
            text=f"{place} does not answer as a PostgreSQL does; accepted: its host and port; fix: correct them"
        )


def _redis(store: ExternalRedis) -> Iterator[_Wrong | _Unknown]:
    place = f"Redis {store.host}:{store.port} (plumbline:swanlab.stores.redis)"
    answer = _exchange(store.host, store.port, b"PING\r\n", place)
    if isinstance(answer, _Wrong | _Unknown):
        yield answer
    elif not answer:
        yield _Unknown(
            text=f"{place} takes connections, and does not answer an unencrypted PING: is it a Redis with TLS?"
        )
    elif answer[:1] not in (b"+", b"-"):
        yield _Wrong(text=f"{place} does not answer as a Redis does; accepted: its host and port; fix: correct them")


def _clickhouse(store: ExternalClickHouse) -> Iterator[_Wrong | _Unknown]:
    place = f"ClickHouse {store.host}:{store.http_port} (plumbline:swanlab.stores.clickhouse)"
    answer = _http(store.host, f"http://{store.host}:{store.http_port}/ping", place)
    if not isinstance(answer, requests.Response):
        yield answer
    elif answer.content.strip() != b"Ok.":
        yield _Wrong(
            text=f"{place} answers /ping with HTTP status {answer.status_code}, not `Ok.`; accepted: the port of its "
            "HTTP interface; fix: correct http_port"
        )


def _bucket(side: str, wanted: Bucket) -> Iterator[_Wrong | _Unknown]:
    """Without a key a bucket that is there is refused or listed, and one that is not there is told apart by 404."""
    place = f"S3 {wanted.endpoint}:{wanted.port} (plumbline:swanlab.stores.s3.{side})"
    scheme = "https" if wanted.ssl else "http"
    host = wanted.endpoint if wanted.path_style else f"{wanted.bucket}.{wanted.endpoint}"
    url = f"{scheme}://{host}:{wanted.port}/{wanted.bucket if wanted.path_style else ''}"
    answer = _http(wanted.endpoint, url, place)
    if not isinstance(answer, requests.Response):
        yield answer
    elif answer.status_code == _NOT_FOUND:
        yield _Wrong(
            text=f"{place} has no bucket {wanted.bucket}; accepted: one that is there; fix: make it, or name that one"
        )
    elif answer.status_code >= requests.codes.server_error:
        yield _Wrong(text=f"{place} answers with HTTP status {answer.status_code}; fix: its endpoint, port or ssl")


def _unasked(place: str, why: str) -> _Unknown:
    return _Unknown(text=f"{place} was not asked whether it answers: {why}")


def _exchange(host: str, port: int, question: bytes, place: str) -> bytes | _Wrong | _Unknown:
    """The first bytes of an answer; none where the other side is silent or hangs up."""
    if in_cluster(host):
        return _unasked(place, "only pods can resolve its name")
    try:
        with socket.create_connection((host, port), timeout=_SECONDS) as connection:
            connection.sendall(question)
            return _first(connection)
    except OSError as error:
        return _Wrong(text=f"{place} cannot be reached from here: {error}; fix: its host and port, or the way to it")


def _first(connection: socket.socket) -> bytes:
    try:
        return connection.recv(64)
    except (TimeoutError, ConnectionResetError):
        return b""


def _http(host: str, url: str, place: str) -> requests.Response | _Wrong | _Unknown:
    """Without the proxies of this machine: pods do not have them."""
    if in_cluster(host):
        return _unasked(place, "only pods can resolve its name")
    with requests.Session() as session:
        session.trust_env = False
        try:
            return session.get(url, timeout=_SECONDS, allow_redirects=False)
        except requests.RequestException as error:
            return _Wrong(text=f"{place} cannot be reached from here: {_reason(error)}; fix: its address, port or ssl")


def _reason(error: requests.RequestException) -> str:
    return str(error).rsplit(": ", maxsplit=1)[-1].rstrip(")'")
