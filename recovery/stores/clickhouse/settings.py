"""What the program must know of a ClickHouse server."""

from __future__ import annotations

from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from recovery.model import Record

_SCHEMES = frozenset({"http", "https"})
_OF_THE_SERVER = frozenset({"system", "information_schema", "INFORMATION_SCHEMA"})


class Settings(Record):
    """One database of one server.

    url: of the HTTP interface, `http(s)://host:port`. username_file, password_file: each holds one line. restore_as:
    database of the copy beside. replaced_as: database under which `promote` keeps what it replaced. seconds: longest
    time for one statement. quiet: seconds without a write that `promote` asks for. memory_bytes: what a statement that
    reads may use on the server, 0 = what the server allows. ca_file: certificates that an https server is checked by.
    """

    kind: Literal["clickhouse"] = "clickhouse"
    name: str
    url: str
    database: str = Field(min_length=1)
    username_file: str
    password_file: str
    restore_as: str = ""
    replaced_as: str = ""
    seconds: int = Field(default=3600, ge=1)
    quiet: int = Field(default=15, ge=0)
    memory_bytes: int = Field(default=0, ge=0)
    ca_file: str | None = None

    @field_validator("url")
    @classmethod
    def _address(cls, url: str) -> str:
        parts = urlsplit(url)
        extra = parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc
        if parts.scheme not in _SCHEMES or not parts.hostname or parts.port is None or extra:
            raise ValueError("accepted is http(s)://host:port, without user, password, path or parameters")
        return url.rstrip("/")

    @model_validator(mode="before")
    @classmethod
    def _names(cls, given: object) -> object:
        if not isinstance(given, dict) or not isinstance(given.get("database"), str):
            return given
        database = given["database"]
        return {
            **given,
            "restore_as": given.get("restore_as") or f"{database}__restored",
            "replaced_as": given.get("replaced_as") or f"{database}__replaced",
        }

    @model_validator(mode="after")
    def _apart(self) -> Self:
        names = {self.database, self.restore_as, self.replaced_as}
        if len(names) != 3 or names & _OF_THE_SERVER:  # noqa: PLR2004  # as many as are listed in the line above
            raise ValueError("database, restore_as and replaced_as must be three names, none of the server's own")
        return self
