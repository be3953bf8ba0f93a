"""Reads of the ClickHouse copy over HTTP: results as lines, taken while the server makes them."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, Final

import requests

from recovery import secret_files
from recovery.crosscheck.model import Row
from recovery.errors import RecoveryError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from recovery.crosscheck.model import ClickHouseCopy, Query

_PIECE: Final = 1024**2
_TIMEOUTS: Final = (10.0, 3600.0)
"""Seconds for the connection, and between two pieces: the first one comes after whatever must be sorted."""
_SPILL: Final = str(256 * 1024**2)
_SETTINGS: Final = {
    "default_format": "JSONEachRow",
    "output_format_json_quote_64bit_integers": "0",
    "readonly": "2",
    # A result waits while the other store is read.
    "http_send_timeout": "3600",
    "max_execution_time": "0",
    # Sorting and grouping go to the disk before the server runs out of memory.
    "max_bytes_before_external_sort": _SPILL,
    "max_bytes_before_external_group_by": _SPILL,
    "optimize_aggregation_in_order": "1",
}


class ClickHouse:
    """A copy. Methods raise RecoveryError when it does not answer, a statement fails, or a result breaks off."""

    def __init__(self, copy: ClickHouseCopy) -> None:
        """Nothing need be reachable yet. Raises RecoveryError if a file of the account cannot be read."""
        self._copy = copy
        self._where = f"ClickHouse copy {copy.database} at {copy.url}"
        self._session = requests.Session()
        self._session.trust_env = False  # the copy is beside this process: no proxy, and no account of a netrc
        user = secret_files.read(copy.user_file, f"the user of {self._where}")
        password = secret_files.read(copy.password_file, f"the password of {self._where}")
        # As bytes: text that is not ASCII would be sent as latin-1.
        self._session.headers.update({"X-ClickHouse-User": user.encode(), "X-ClickHouse-Key": password.encode()})

    def tables(self) -> dict[str, frozenset[str]]:
        """Table → its columns."""
        text = "SELECT table, name FROM system.columns WHERE database = currentDatabase() ORDER BY table, name"
        found: dict[str, set[str]] = {}
        for line in self._lines(text):
            found.setdefault(line["table"], set()).add(line["name"])
        return {name: frozenset(columns) for name, columns in found.items()}

    def number(self, sql: str) -> int:
        """The one number that a statement gives."""
        lines = list(self._lines(sql))
        if len(lines) != 1 or len(lines[0]) != 1:
            raise RecoveryError(f"{self._where}: {len(lines)} rows where one number was asked for")
        return int(next(iter(lines[0].values())))

    def rows(self, query: Query) -> Generator[Row]:
        """The result, a line at a time."""
        for fields in self._lines(query.sql):
            try:
                key = tuple(fields[name] for name in query.key)
            except KeyError as error:
                raise RecoveryError(f"{self._where}: a row of another shape: {str(fields)[:300]}") from error
            yield Row(key, fields)

    def _lines(self, sql: str) -> Iterator[dict[str, Any]]:
        query = {"database": self._copy.database, **_SETTINGS}
        with self._errors(), contextlib.closing(self._post(sql, query)) as answer:
            for line in answer.iter_lines(_PIECE, delimiter=b"\n"):
                if line:
                    yield self._parsed(line)

    def _post(self, sql: str, query: Mapping[str, str]) -> requests.Response:
        answer = self._session.post(
            self._copy.url, params=query, data=sql.encode(), timeout=_TIMEOUTS, stream=True, allow_redirects=False
        )
        if answer.status_code != requests.codes.ok:
            with contextlib.closing(answer):
                text = next(answer.iter_content(500), b"").decode(errors="replace").strip()
            raise RecoveryError(f"{self._where} answered {answer.status_code}: {text}")
        return answer

    def _parsed(self, line: bytes) -> dict[str, Any]:
        # An error in the middle of a result is written behind it, as text or as a row of its own.
        try:
            fields = json.loads(line)
        except ValueError as error:
            text = line[:300].decode(errors="replace")
            raise RecoveryError(f"{self._where}: the result broke off: {text}") from error
        if not isinstance(fields, dict) or "exception" in fields:
            raise RecoveryError(f"{self._where}: the result broke off: {str(fields)[:300]}")
        return fields

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except requests.RequestException as error:
            raise RecoveryError(f"{self._where} does not answer: {error}; is its server running?") from error
