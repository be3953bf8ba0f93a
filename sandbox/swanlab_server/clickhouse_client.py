"""ClickHouse over HTTP: statements, rows in, rows out. A connection for each call, so any thread may call."""

from __future__ import annotations

import gzip
import http.client
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sandbox.swanlab_server.settings import ClickHouse

PATIENCE: Final = 30.0
"""Seconds that a statement may take."""
_BAD_ROWS: Final = frozenset(
    # CANNOT_PARSE_* and CANNOT_READ_*, TYPE_MISMATCH, INCORRECT_DATA, values out of range, NULL where none may be:
    # numbers of src/Common/ErrorCodes.cpp. Anything else says nothing about the rows.
    {6, 25, 26, 27, 33, 38, 41, 53, 69, 70, 72, 117, 130, 131, 321, 349, 376, 407, 441, 467, 675, 676}
)
_READ: Final = {"output_format_json_quote_64bit_integers": "0", "output_format_json_quote_denormals": "1"}
_WRITE: Final = {
    "precise_float_parsing": "1",  # what is read back must be the very float64 that was sent
    "async_insert": "0",  # an answer means that the rows are in a part
}


class Unavailable(OSError):  # what it says
    """ClickHouse does not answer, or not with what it should; nobody knows whether the statement was run."""


class ClickHouseError(OSError):
    """ClickHouse refused. code: its number, 0 = none given. bad_rows: it could not read at least one of the rows."""

    def __init__(self, status: int, code: int, text: str) -> None:
        """text: as ClickHouse answered."""
        super().__init__(f"ClickHouse answered {status}: {text.strip()[:500]}")
        self.status = status
        self.code = code
        self.bad_rows = code in _BAD_ROWS


@dataclass(frozen=True)
class Client:
    """One user of one server. Every method raises Unavailable or ClickHouseError."""

    settings: ClickHouse

    def execute(self, statement: str, parameters: Mapping[str, object] | None = None) -> None:
        """Run a statement that returns nothing. parameters: as in `select`."""
        self._post(_given(parameters), statement.encode())

    def select(self, statement: str, parameters: Mapping[str, object] | None = None) -> list[list[Any]]:
        """Rows of a SELECT, NaN and infinities as the texts `nan`, `inf`, `-inf`.

        parameters: values of `{name:Type}` in the statement; lists become arrays of texts.
        """
        settings = {**_READ, **_given(parameters), "default_format": "JSONCompactEachRow"}
        answer = self._post(settings, statement.encode())
        return [json.loads(line) for line in answer.splitlines() if line]

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[bytes]) -> None:
        """Insert rows, each a JSON array on one line. All of them or, when one cannot be read, none."""
        statement = f"INSERT INTO {table} ({', '.join(columns)}) FORMAT JSONCompactEachRow"
        body = gzip.compress(b"\n".join(rows), compresslevel=1)
        self._post({**_WRITE, "query": statement}, body, {"Content-Encoding": "gzip"})

    def _post(self, parameters: Mapping[str, str], body: bytes, headers: Mapping[str, str] | None = None) -> str:
        query = urlencode({"database": self.settings.database, **parameters})
        own = {"X-ClickHouse-User": self.settings.user, "X-ClickHouse-Key": self.settings.password}
        answer = post(f"{self.settings.url}/?{query}", body, {**own, **(headers or {})}, PATIENCE)
        text = answer.body.decode(errors="replace")
        if answer.status != http.HTTPStatus.OK:
            code = answer.headers.get("x-clickhouse-exception-code", "0")
            raise ClickHouseError(answer.status, int(code) if code.isdigit() else 0, text)
        return text


@dataclass(frozen=True)
class Answer:
    """headers: by lower-case name."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def post(url: str, body: bytes, headers: Mapping[str, str], patience: float) -> Answer:
    """POST over a connection of its own. patience: seconds for each step. Raises Unavailable."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=patience)
    try:
        connection.request("POST", f"{parts.path or '/'}?{parts.query}", body, dict(headers))
        answer = connection.getresponse()
        return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
    except (OSError, http.client.HTTPException) as error:
        raise Unavailable(f"{parts.scheme}://{parts.netloc} does not answer: {error!r}") from error
    finally:
        connection.close()


def _given(parameters: Mapping[str, object] | None) -> dict[str, str]:
    return {f"param_{name}": _parameter(value) for name, value in (parameters or {}).items()}


def _parameter(value: object) -> str:
    # Values travel as ClickHouse's escaped text; inside an array, texts are quoted besides.
    if isinstance(value, list | tuple):
        return "[" + ",".join("'" + _escaped(str(item)).replace("'", "\\'") + "'" for item in value) + "]"
    return _escaped(str(value))


def _escaped(text: str) -> str:
    return (
        text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r").replace("\0", "\\0")
    )
