"""What needs no tool but HTTP: `python -m tests.bench.recovery.raw ORDER`, a program of its own, so that it is measured
as the others are. ORDER is a file, because addresses are signed and statements need an account."""

from __future__ import annotations

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

import urllib3

from tests.bench.recovery import content

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PIECE: Final = 1024**2
_TIMEOUT: Final = urllib3.Timeout(connect=30, read=3600)
_OK: Final = 200


class RefusedError(Exception):
    """A server did not answer with 200."""


def statement(order: Mapping[str, Any]) -> int:
    """Run a statement of ClickHouse → bytes of its answer, which go to the file `out`, or nowhere.

    data: file that is sent as its rows.
    """
    headers = {"X-ClickHouse-User": order["user"], "X-ClickHouse-Key": order["password"]}
    data = Path(order["data"]).open("rb") if order.get("data") else nullcontext(order["statement"].encode())  # noqa: SIM115  # the block below closes it
    fields = {"query": order["statement"]} if order.get("data") else None
    with data as sent, Path(order.get("out") or "/dev/null").open("wb") as out:
        answer = _pool(1).request(
            "POST", order["url"] + _query(fields), body=sent, headers=headers, preload_content=False, retries=False
        )
        if answer.status != _OK or answer.headers.get("X-ClickHouse-Exception-Code"):
            raise RefusedError(f"HTTP {answer.status}: {answer.read(2000).decode(errors='replace')}")
        return sum(out.write(piece) for piece in _pieces(answer))


def get(order: Mapping[str, Any]) -> int:
    """GET every address, as a mirror does → bytes. Raises RefusedError where one has not its size."""
    pool = _pool(order["threads"])

    def one(row: tuple[int, str]) -> int:
        number, url = row
        answer = pool.request("GET", url, preload_content=False, retries=False)
        found = sum(len(piece) for piece in _pieces(answer))
        answer.release_conn()
        if answer.status != _OK or found != content.size(number):
            raise RefusedError(f"object {number}: HTTP {answer.status}, {found} bytes")
        return found

    return _side_by_side(order, one)


def put(order: Mapping[str, Any]) -> int:
    """PUT every object to its address; nothing is hashed on the way → bytes."""
    pool = _pool(order["threads"])

    def one(row: tuple[int, str]) -> int:
        number, url = row
        body = content.body(number)
        answer = pool.request("PUT", url, body=body, retries=False)
        if answer.status != _OK:
            raise RefusedError(f"object {number}: HTTP {answer.status}: {answer.data[:300]!r}")
        return len(body)

    return _side_by_side(order, one)


def _side_by_side(order: Mapping[str, Any], one: Any) -> int:  # noqa: ANN401  # a function of a row
    stopped = threading.Event()

    def unless_stopped(row: tuple[int, str]) -> int:
        if stopped.is_set():
            return 0
        try:
            return int(one(row))
        except BaseException:
            stopped.set()
            raise

    with ThreadPoolExecutor(order["threads"]) as pool:
        return sum(pool.map(unless_stopped, order["addresses"]))


def _pool(threads: int) -> urllib3.PoolManager:
    return urllib3.PoolManager(maxsize=threads, timeout=_TIMEOUT, block=True)


def _pieces(answer: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    while piece := answer.read(_PIECE, decode_content=False):
        yield piece


def _query(fields: Mapping[str, str] | None) -> str:
    return f"/?{urlencode(fields)}" if fields else "/"


WORDS: Final = {"statement": statement, "get": get, "put": put}


def main(path: Path) -> int:
    """Do what the order says and print how many bytes it moved; 1 with the server's words when it cannot be done."""
    order = json.loads(path.read_text(encoding="utf-8"))
    try:
        print(WORDS[order["do"]](order))
    except (RefusedError, urllib3.exceptions.HTTPError, OSError) as error:
        print(f"error: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
