"""Records that nobody can alter unseen: canonical JSON as text, and an HMAC-SHA256 of that text."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from recovery.errors import DamagedError
from recovery.model import Record

if TYPE_CHECKING:
    from collections.abc import Mapping

_Kind = TypeVar("_Kind", bound=Record)


class SignatureError(DamagedError):
    """A record is whole, and its signature is of another key: or somebody altered it."""


def seal(name: str, record: Record, key: bytes) -> bytes:
    """`{"<name>": "<canonical JSON of the record>", "hmac": "<hex>"}`."""
    text = json.dumps(record.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return json.dumps({name: text, "hmac": _hmac(text, key)}, indent=1).encode()


def unseal(name: str, content: bytes, key: bytes, kind: type[_Kind], where: str) -> _Kind:
    """The record. where: the object, for messages. Raises DamagedError if it is cut off, altered, unsigned, signed
    with another key, or of a shape that this program does not know."""
    envelope = _envelope(content, where)
    text, signature = _text(envelope, name, where), envelope.get("hmac")
    if not isinstance(signature, str):
        raise DamagedError(f"{where}: it is not signed; {_ADVICE}")
    if not hmac.compare_digest(_hmac(text, key).encode(), signature.encode()):
        raise SignatureError(
            f"{where}: its signature is not that of this signing key: it was altered, or signed with another key; "
            f"check that the signing key is the one it was made with; {_ADVICE}"
        )
    return _record(text, kind, f"{where}: it is signed, but")


def claimed(name: str, content: bytes, kind: type[_Kind], where: str) -> _Kind:
    """The record as it stands there, its signature NOT checked: for who looks for the key of that signature in it.

    Raises DamagedError if it is cut off, or of a shape that this program does not know.
    """
    return _record(_text(_envelope(content, where), name, where), kind, f"{where}: in what it holds,")


def _text(envelope: Mapping[str, object], name: str, where: str) -> str:
    text = envelope.get(name)
    if not isinstance(text, str):
        raise DamagedError(f"{where}: it holds no {name}; {_ADVICE}")
    return text


def _record(text: str, kind: type[_Kind], where: str) -> _Kind:
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        field = ".".join(str(step) for step in first["loc"]) or "it"
        raise DamagedError(
            f"{where} {field}: {first['msg']}; read it with the version of this program that made it"
        ) from None


_ADVICE = "do not restore from it; use another point and look for who writes to the target"


def _envelope(content: bytes, where: str) -> Mapping[str, object]:
    if not content:
        raise DamagedError(f"{where}: it is empty; {_ADVICE}")
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise DamagedError(f"{where}: it is cut off or no JSON ({len(content)} bytes); {_ADVICE}") from None
    if not isinstance(found, dict):
        raise DamagedError(f"{where}: it is JSON, but no object; {_ADVICE}")
    return found


def _hmac(text: str, key: bytes) -> str:
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
