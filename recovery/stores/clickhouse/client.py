"""ClickHouse's HTTP interface: statements, and streams that either end well or raise.

Contract: ClickHouse's documentation, "HTTP Interface". User and password travel in headers, never in an address.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

import requests

from recovery import secret_files
from recovery.errors import RecoveryError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from recovery.stores.clickhouse.settings import Settings

PIECE: Final = 1024**2
"""Bytes that are taken from a stream at once."""
_PATIENCE: Final = 30
"""Seconds for a connection, and more than the server's own deadline, so that its word comes first."""
_LONGEST_TEXT: Final = 500
_FULL: Final = ("No space left on device", "NOT_ENOUGH_SPACE", "Cannot reserve")
_EXCEPTION: Final = re.compile(rb"Code: \d+\. DB::Exception: [^\x00]{0,400}")
_EXACT: Final = {
    # Whatever the account's profile says, a result is whole or an error.
    "max_result_rows": "0",
    "max_result_bytes": "0",
    "result_overflow_mode": "throw",
    "max_rows_to_read": "0",
    "max_bytes_to_read": "0",
    "read_overflow_mode": "throw",
    "sort_overflow_mode": "throw",
    "group_by_overflow_mode": "throw",
    "timeout_overflow_mode": "throw",
    "limit": "0",
    "offset": "0",
    "extremes": "0",
    "use_query_cache": "0",
    "http_write_exception_in_output_format": "0",  # an error breaks the stream, it does not become a part of it
}
_TEXT: Final = {
    "default_format": "JSONCompactEachRow",
    "output_format_json_quote_64bit_integers": "0",
    "wait_end_of_query": "1",
}


class RefusedError(RecoveryError):
    """The server answered with an error. code: ClickHouse's number, 0 = none given."""

    def __init__(self, message: str, code: int) -> None:
        """message: where, and the server's words."""
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Client:
    """One account of one server. A connection for each call. settings: sent with every statement."""

    store: str
    url: str
    seconds: int
    user: bytes = field(repr=False)
    password: bytes = field(repr=False)
    ca_file: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def having(self, **settings: str) -> Client:
        """The same with more settings."""
        return replace(self, settings={**self.settings, **settings})

    def rows(self, statement: str, **parameters: str) -> list[list[Any]]:
        """Rows of a small result. parameters: values of `{name:Type}`. Raises RecoveryError."""
        with self._asked({**_EXACT, **_TEXT, **_given(parameters)}, statement.encode()) as answer:
            return [json.loads(line) for line in answer.content.splitlines() if line]

    def execute(self, statement: str, **parameters: str) -> None:
        """Run a statement without a result. Raises RecoveryError."""
        with self._asked({"wait_end_of_query": "1", **_given(parameters)}, statement.encode()) as answer:
            answer.content  # noqa: B018  # read to its end: an error may come late

    def stream(self, statement: str, **parameters: str) -> Iterator[bytes]:
        """A result of any length. Raises RecoveryError when it breaks off, or when nobody could see that it does."""
        last = b""
        try:
            with self._asked({**_EXACT, **_given(parameters)}, statement.encode(), stream=True) as answer:
                self._ends_visibly(answer)
                for piece in answer.iter_content(PIECE):
                    last = piece
                    yield piece
        except RecoveryError as failure:
            found = _EXCEPTION.search(last)
            told = f"; its last words: {found[0].decode(errors='replace').strip()}" if found else ""
            if isinstance(failure, RefusedError) or not told:
                raise
            raise RecoveryError(f"{failure}{told}") from failure

    def insert(self, statement: str, pieces: Iterable[bytes]) -> None:
        """Insert a stream of rows. Raises RecoveryError; what `pieces` raises passes through."""
        with self._asked({"wait_end_of_query": "1", "query": statement}, pieces) as answer:
            answer.content  # noqa: B018  # read to its end: an error may come late

    @contextmanager
    def _asked(
        self, parameters: Mapping[str, str], body: bytes | Iterable[bytes], *, stream: bool = False
    ) -> Iterator[requests.Response]:
        query = urlencode({"max_execution_time": str(self.seconds), **self.settings, **parameters})
        headers = {
            "X-ClickHouse-User": self.user,
            "X-ClickHouse-Key": self.password,
            "Accept-Encoding": b"identity",
        }
        with requests.Session() as session:
            session.trust_env = False  # neither a proxy nor .netrc: the one reads along, the other replaces the account
            try:
                with session.post(
                    f"{self.url}/?{query}",
                    data=body,
                    headers=headers,
                    stream=stream,
                    allow_redirects=False,
                    timeout=(_PATIENCE, self.seconds + _PATIENCE),
                    verify=self.ca_file or True,
                ) as answer:
                    self._check(answer)
                    yield answer
            except (requests.RequestException, OSError) as failure:
                raise RecoveryError(
                    f"{self.store}: the connection to {self.url} broke ({type(failure).__name__}) before its answer "
                    "was whole; nothing of it is used. Look at the server's log: did it restart? Then run again"
                ) from None

    def _ends_visibly(self, answer: requests.Response) -> None:
        if "chunked" in answer.headers.get("Transfer-Encoding", "") or answer.headers.get("Content-Length"):
            return
        raise RecoveryError(
            f"{self.store}: {self.url} answers without chunks and without a length, so an end that comes too early "
            "could not be seen; look for a proxy of HTTP/1.0 in between and go around it"
        )

    def _check(self, answer: requests.Response) -> None:
        told = answer.headers.get("X-ClickHouse-Exception-Code", "")
        if answer.status_code == requests.codes.ok and not told:
            return
        text = answer.content.decode(errors="replace").strip()
        if len(text) > _LONGEST_TEXT:  # the error's name stands at its end
            text = f"{text[: _LONGEST_TEXT // 2]} … {text[-_LONGEST_TEXT // 2 :]}"
        code = int(told) if told.isdigit() else 0
        remedy = (
            "; the server's volume is full: enlarge it or delete what is not needed, then run again"
            if any(word in text for word in _FULL)
            else ""
        )
        raise RefusedError(
            f"{self.store}: {self.url} answered {answer.status_code}: {text or 'without a word'}{remedy}", code
        )


def connect(settings: Settings) -> Client:
    """The client of a store. Raises RecoveryError when the account's files cannot be used."""
    limit = {"max_memory_usage": str(settings.memory_bytes)} if settings.memory_bytes else {}
    return Client(
        store=settings.name,
        url=settings.url,
        seconds=settings.seconds,
        user=_header(Path(settings.username_file), f"the user of store {settings.name}"),
        password=_header(Path(settings.password_file), f"the password of store {settings.name}"),
        ca_file=settings.ca_file,
        settings=limit,
    )


def _header(file: Path, what: str) -> bytes:
    """Any bytes that can stand in a header, none as well: the server's first account has no password."""
    value = secret_files.read_bytes(file, what).rstrip(b"\r\n")
    # What cannot stand in a header would be quoted in the error of whoever sends it.
    if any(byte < 32 for byte in value) or value != value.strip():  # noqa: PLR2004  # the first printable character
        raise secret_files.refused(file, "holds more than one line, or white space at an end", what)
    return value


def _given(parameters: Mapping[str, str]) -> dict[str, str]:
    # Values travel as ClickHouse's escaped text.
    pairs = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"), ("\0", "\\0"))
    given = {}
    for name, value in parameters.items():
        escaped = value
        for plain, code in pairs:
            escaped = escaped.replace(plain, code)
        given[f"param_{name}"] = escaped
    return given
