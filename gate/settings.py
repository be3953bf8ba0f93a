"""The command line, parsed once. A wrong word ends the program with what is accepted."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import urlsplit

from gate.model import KINDS, Kind, Part

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_HOST_PORT: Final = re.compile(r"[^\s/:,]+:[0-9]{1,5}")
_WEB: Final = ("http", "body", "refused", "answers")
_LARGEST_PORT: Final = 65535


@dataclass(frozen=True, kw_only=True)
class Settings:
    """interval, licence_interval, timeout: seconds. licence_url: address of the server, None = no licence is asked.

    key_file: where the API key is, as soon as there is one.
    """

    port: int
    parts: tuple[Part, ...]
    interval: float
    timeout: float
    licence_url: str | None
    licence_interval: float
    key_file: Path | None


def parse(arguments: Sequence[str]) -> Settings:
    """The settings. Exits with code 2 and a sentence when a word is wrong."""
    parser = _parser()
    given = parser.parse_args(arguments)
    names = [part.name for part in given.part]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        parser.error(f"part {', '.join(twice)} is given more than once; each needs a name of its own")
    return Settings(
        port=given.port,
        parts=tuple(given.part),
        interval=given.interval,
        timeout=given.timeout,
        licence_url=given.licence_url,
        licence_interval=given.licence_interval,
        key_file=given.api_key_file,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gate", allow_abbrev=False, description="says whether SwanLab answers")
    parser.add_argument(
        "--part",
        action="append",
        required=True,
        type=part,
        metavar="NAME=KIND,ADDRESS[,TEXT]",
        help=f"what must answer; may be repeated. KIND: {', '.join(KINDS)}",
    )
    parser.add_argument("--port", type=_port, default=8080, help="port to listen on, 0 for any free one")
    parser.add_argument("--interval", type=_seconds, default=5.0, help="seconds between two questions to a part")
    parser.add_argument("--timeout", type=_seconds, default=3.0, help="seconds that an answer may take")
    parser.add_argument("--licence-url", type=_address, default=None, help="address of the server, for its licence")
    parser.add_argument("--licence-interval", type=_seconds, default=60.0, help="seconds between two looks at it")
    parser.add_argument("--api-key-file", type=Path, default=None, help="file with an API key; it may come later")
    return parser


def part(text: str) -> Part:
    """`NAME=KIND,ADDRESS[,TEXT]` → Part. Raises ArgumentTypeError with what is accepted."""
    name, _, rest = text.partition("=")
    kind, _, where = rest.partition(",")
    address, _, body = where.partition(",")
    if not _NAME.fullmatch(name):
        raise _wrong(text, "a name of lower-case letters, digits and inner `-` before `=`")
    if kind not in KINDS:
        raise _wrong(text, f"one of {', '.join(KINDS)} behind `=`")
    if (kind == "body") != bool(body):
        raise _wrong(text, "the text of the answer at the end, for kind `body` and no other")
    if kind in _WEB:
        _address(address)
    elif not _HOST_PORT.fullmatch(address) or not 0 < int(address.rpartition(":")[2]) <= _LARGEST_PORT:
        raise _wrong(text, f"`host:port` behind `{kind},`")
    return Part(name=name, kind=cast("Kind", kind), address=address, body=body)


def _address(text: str) -> str:
    try:
        parts = urlsplit(text)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        right = False
    if not right:
        raise _wrong(text, "http://host[:port][/path] or https://…")
    return text


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= _LARGEST_PORT):
        raise _wrong(text, f"0 to {_LARGEST_PORT}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= 3600:  # noqa: PLR2004  # an hour: more would never be meant, NaN and infinity neither
        raise _wrong(text, "seconds, more than 0 and at most 3600")
    return found


def _wrong(text: str, accepted: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"{text!r}; accepted: {accepted}")
