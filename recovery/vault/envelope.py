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


def seal(name: str, record: Record, key: bytes) -> bytes:
    """`{"<name>": "<canonical JSON of the record>", "hmac": "<hex>"}`."""
    text = json.dumps(record.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return json.dumps({name: text, "hmac": _hmac(text, key)}, indent=1).encode()


def unseal(name: str, content: bytes, key: bytes, kind: type[_Kind], where: str) -> _Kind:
    """The record. where: the object, for messages. Raises DamagedError if it is cut off, altered, unsigned, signed
    with another key, or of a shape that this program does not know."""
    envelope = _envelope(content, where)
    text, signature = envelope.get(name), envelope.get("hmac")
    if not isinstance(text, str):
        raise DamagedError(f"{where}: it holds no {name}; {_ADVICE}")
    if not isinstance(signature, str):
        raise DamagedError(f"{where}: it is not signed; {_ADVICE}")
    if not hmac.compare_digest(_hmac(text, key).encode(), signature.encode()):
        raise DamagedError(
            f"{where}: its signature is not that of this signing key: it was altered, or signed with another key; "
            f"check that the signing key is the one it was made with; {_ADVICE}"
        )
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        field = ".".join(str(step) for step in first["loc"]) or "it"
        raise DamagedError(
            f"{where}: it is signed, but {field}: {first['msg']}; read it with the version of this program that made it"
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
