"""Web addresses whose path is itself a secret: whoever knows it may send, so it is kept and shown as a password is."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

_SERVICES: Final = (
    (re.compile(r"hooks\.slack(-gov)?\.com"), re.compile(r"/(services|workflows|triggers)/.")),
    (re.compile(r"api\.telegram\.org"), re.compile(r"/(file/)?bot[^/]")),
    (re.compile(r"(\w+\.)?discord(app)?\.com"), re.compile(r"/api/(v\d+/)?webhooks/.")),
    (re.compile(r".+\.webhook\.office\.com|outlook\.office(365)?\.com"), re.compile(r"/webhook(b2)?/.")),
    (re.compile(r"(.+\.)?(hc-ping\.com|nosnch\.in)"), re.compile(r"/.")),
    (re.compile(r"events\.(eu\.)?pagerduty\.com"), re.compile(r"/integration/.")),
    (re.compile(r"open\.(feishu\.cn|larksuite\.com)"), re.compile(r"/open-apis/bot/.")),
)
"""Host and beginning of the path of services that document the rest of the path as the credential."""

_BOT: Final = re.compile(r"bot\d+:[\w-]+")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_RUN: Final = re.compile(r"[A-Za-z0-9]+")
_ALTERNATION: Final = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])|(?<=[a-z])(?=[A-Z])")
_MIN_RANDOM: Final = 16
_MIN_ALTERNATIONS: Final = 0.25
"""Per character. Random letters and digits change kind at every second or third; words in camel case at every fifth."""

_ADDRESS: Final = re.compile(r"https?://[^\s\"'<>`\\|]+", re.IGNORECASE)
_PUNCTUATION: Final = ".,;:!?)}"


def secret_path(address: str) -> bool:
    """Whether the path of an address holds a token: it is of a service known for it, or a segment looks random.

    A secret made of plain words or of small letters alone cannot be told from a name. Raises ValueError for what is no
    address.
    """
    parts = urlsplit(address)
    return _of_a_service(parts) is not None or any(_random(segment) for segment in parts.path.split("/"))


def masked(text: str, mask: str) -> str:
    """The text with tokens in the paths of its web addresses masked; masking twice changes nothing."""
    return _ADDRESS.sub(lambda found: _masked(found[0], mask), text)


def _masked(address: str, mask: str) -> str:
    kept = address.rstrip(_PUNCTUATION)
    try:
        parts = urlsplit(kept)
        service = _of_a_service(parts)
    except ValueError:
        return address
    if service is not None:
        path = parts.path[:service] + mask
    else:
        path = "/".join(mask if _random(segment) else segment for segment in parts.path.split("/"))
    return address if path == parts.path else urlunsplit(parts._replace(path=path)) + address[len(kept) :]


def _of_a_service(parts: SplitResult) -> int | None:
    """Where in the path the credential of such a service begins."""
    for host, path in _SERVICES:
        begin = path.match(parts.path)
        if begin and host.fullmatch((parts.hostname or "").lower()):
            return begin.end() - 1
    return None


def _random(segment: str) -> bool:
    plain = unquote(segment)
    return bool(_BOT.fullmatch(plain) or _UUID.search(plain)) or any(_mixed(run) for run in _RUN.findall(plain))


def _mixed(run: str) -> bool:
    """Whether letters and digits alternate as only chance makes them."""
    return len(run) >= _MIN_RANDOM and len(_ALTERNATION.findall(run)) >= _MIN_ALTERNATIONS * len(run)
