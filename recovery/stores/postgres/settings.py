"""Where a database is, who asks for it, and what the names beside it are."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path  # pydantic needs it when the model is made
from typing import Any, Final, Literal, Self

from pydantic import Field, model_validator

from recovery import secret_files
from recovery.model import Record

NAME_BYTES: Final = 63
"""Longest name that PostgreSQL keeps: it cuts longer ones, and two names could become one."""


class Settings(Record):
    """One database of one server.

    username_file, password_file: files that hold the value; one newline at their end is not part of it. The user owns
    `database`, may make databases, and is the one that the application uses: everything restored belongs to it.
    restore_as: name of the copy beside. replaced_as: name that the replaced database is kept under. exclude_tables:
    `table` (in `public`) or `schema.table`; their definition is dumped, their rows are not. bookkeeping_tables: rows in
    them do not count as data when a copy takes the place of the database: a server writes them when it first starts.
    """

    kind: Literal["postgres"]
    name: str = Field(min_length=1)
    host: str = Field(min_length=1)
    port: int = Field(default=5432, ge=1, le=65535)
    database: str = Field(min_length=1)
    username_file: Path = Field(strict=False)
    password_file: Path = Field(strict=False)
    restore_as: str = Field(min_length=1)
    replaced_as: str = Field(min_length=1)
    exclude_tables: tuple[str, ...] = Field(default=(), strict=False)
    bookkeeping_tables: tuple[str, ...] = Field(default=("public._prisma_migrations",), strict=False)

    @model_validator(mode="before")
    @classmethod
    def _names_beside(cls, given: Any) -> Any:  # noqa: ANN401  # what was given has no type yet
        if not isinstance(given, dict) or not isinstance(given.get("database"), str):
            return given
        name = given["database"]
        return {"restore_as": f"{name}__restored", "replaced_as": f"{name}__replaced", **given}

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = (self.database, self.restore_as, self.replaced_as)
        if len({*names}) < len(names):
            raise ValueError("database, restore_as and replaced_as must be three names")
        long = [name for name in names if len(name.encode()) > NAME_BYTES]
        if long:
            raise ValueError(
                f"{long[0]} is longer than {NAME_BYTES} bytes; set restore_as and replaced_as to shorter names"
            )
        return self


@dataclass(frozen=True)
class Login:
    """Whom to ask, and as whom."""

    host: str
    port: int
    username: str
    password: str = field(repr=False)


def login(settings: Settings) -> Login:
    """Read the files now: a password may have been changed since the program started. Raises RecoveryError."""
    username = secret_files.read(settings.username_file, f"the user of store {settings.name}")
    password = secret_files.read(settings.password_file, f"the password of store {settings.name}")
    return Login(settings.host, settings.port, username, password)
