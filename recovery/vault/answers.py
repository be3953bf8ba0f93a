"""What an S3 server answers, as records; and what its error codes mean for whoever runs the program."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Mapping

_REMEDIES: Final = {
    "AccessDenied": "the account lacks {permission}, a lock has not ended, or the bucket is not there; put that right",
    "NoSuchBucket": "make the bucket with object lock, or correct its name in the settings",
    "InvalidAccessKeyId": "the target does not know this access key; correct the account's access key file",
    "SignatureDoesNotMatch": "the target knows another secret key; correct the account's secret key file",
    "RequestTimeTooSkewed": "the clocks of this machine and of the target differ; set them right",
    "BadDigest": "what arrived is not what was sent; look at the network between here and the target, then run again",
    "NotImplemented": "the target cannot do this; accepted is a store with conditional writes and object lock",
}
_LATER: Final = (
    "look at the target's own log and free space, then run again; whether what it holds can be read, `verify` says"
)


_FOREVER: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Version:
    """One version of an object. marker: it holds nothing and hides those before it. size: bytes, of a marker 0."""

    key: str
    id: str
    size: int
    modified: datetime
    latest: bool
    marker: bool


@dataclass(frozen=True)
class Head:
    """What is known of an object without its content. sha256: as its writer gave it, hex, None if the target keeps
    none. mode, locked_until: of its retention, None if it has none or it may not be seen. A legal hold never ends."""

    size: int
    modified: datetime
    sha256: str | None
    mode: str | None
    locked_until: datetime | None


def remedy(code: str, permission: str) -> str:
    """What to do about an error code of S3. permission: the one that the request asks for."""
    return _REMEDIES.get(code, _LATER).format(permission=permission)


def error_code(status: int, body: bytes) -> str:
    """The code of an error, or `HTTP <status>` if the answer has none: an answer to HEAD has no body."""
    found = parse(body)
    code = found.findtext("{*}Code") if found is not None else None
    return code or ("AccessDenied" if status == 403 and not body else f"HTTP {status}")  # noqa: PLR2004  # HTTP's own


def parse(body: bytes) -> ET.Element | None:
    """An answer's XML, None if it is none."""
    try:
        return ET.fromstring(body)  # noqa: S314  # expat since 2.4 bounds what entities grow to, and a page is bounded
    except ET.ParseError:
        return None


def versions(page: ET.Element) -> list[Version]:
    """Versions of a page of ListObjectVersions, in its order. Raises ValueError if one is not as S3 describes it."""
    found = []
    for element in page:
        name = element.tag.rpartition("}")[2]
        if name in ("Version", "DeleteMarker"):
            marker = name == "DeleteMarker"
            found.append(
                Version(
                    key=_text(element, "Key"),
                    id=_text(element, "VersionId"),
                    size=0 if marker else int(_text(element, "Size")),
                    modified=_iso(_text(element, "LastModified")),
                    latest=_text(element, "IsLatest") == "true",
                    marker=marker,
                )
            )
    return found


def next_page(page: ET.Element) -> dict[str, str] | None:
    """Parameters that ask for the next page, None on the last. Raises ValueError if a page does not say."""
    if _text(page, "IsTruncated") != "true":
        return None
    return {"key-marker": _text(page, "NextKeyMarker"), "version-id-marker": _text(page, "NextVersionIdMarker")}


def head(headers: Mapping[str, str]) -> Head:
    """Raises ValueError or KeyError if the answer lacks what S3 always gives."""
    until = headers.get("x-amz-object-lock-retain-until-date")
    held = headers.get("x-amz-object-lock-legal-hold") == "ON"
    return Head(
        size=int(headers["Content-Length"]),
        modified=parsedate_to_datetime(headers["Last-Modified"]),
        sha256=_hex(headers.get("x-amz-checksum-sha256")),
        mode=headers.get("x-amz-object-lock-mode"),
        locked_until=_FOREVER if held else _iso(until) if until else None,
    )


def retention(body: bytes) -> tuple[str, datetime]:
    """Mode and end of an answer to GetObjectRetention. Raises ValueError if it has none."""
    found = parse(body)
    if found is None:
        raise ValueError("no XML")
    return _text(found, "Mode"), _iso(_text(found, "RetainUntilDate"))


def _text(element: ET.Element, name: str) -> str:
    found = element.findtext(f"{{*}}{name}")
    if found is None:
        raise ValueError(f"<{element.tag}> without <{name}>")
    return found


def _iso(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _hex(encoded: str | None) -> str | None:
    # Of an object in several parts the checksum is one of checksums and ends in `-<parts>`.
    if not encoded or "-" in encoded:
        return None
    try:
        return base64.b64decode(encoded, validate=True).hex()
    except binascii.Error:
        return None
