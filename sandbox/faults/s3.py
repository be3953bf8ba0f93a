"""What a request asks of an object store: names of operations as in the API reference of Amazon S3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

OTHER: Final = "Other"
"""A signed request for anything else, as the policy of a bucket."""
_SIGNATURES: Final = frozenset({"X-Amz-Signature", "Signature"})
_SCHEMES: Final = ("AWS4-HMAC-SHA256", "AWS ")
_UPLOAD, _PART, _UPLOADS, _LIST = "uploadId", "partNumber", "uploads", "list-type"
_OPTIONS: Final = frozenset({_UPLOAD, _PART, _LIST})
"""Parameters that choose between the operations below; a lone word, as `policy`, chooses a sub-resource."""


@dataclass(frozen=True)
class Wish:
    """verb: the operation, as `PutObject`; empty for a request that is not signed. key: `bucket/key`, decoded."""

    verb: str = ""
    key: str = ""


def wish(method: str, target: str, headers: Mapping[str, str]) -> Wish:
    """What a request asks for, path-style. target: path and query. headers: with names in lower case.

    Only signed requests are one: nothing else tells the path of an object from any other.
    """
    parts = urlsplit(target)
    query = parse_qs(parts.query, keep_blank_values=True)
    signed = bool(_SIGNATURES & query.keys()) or headers.get("authorization", "").startswith(_SCHEMES)
    if not signed:
        return Wish()
    key = unquote(parts.path).lstrip("/")
    bucket, _, name = key.partition("/")
    flags = {word for word, values in query.items() if values == [""] or word in _OPTIONS}
    copy = "x-amz-copy-source" in headers
    if name:
        return Wish(_of_object(method, flags, copy=copy), key)
    return Wish(_of_bucket(method, flags) if bucket else _of_service(method), key)


def _of_object(method: str, flags: set[str], *, copy: bool) -> str:
    if flags - _OPTIONS - {_UPLOADS}:
        return OTHER
    part, upload, begin = _PART in flags, _UPLOAD in flags, _UPLOADS in flags
    if method == "PUT":
        return {(True, True): "UploadPartCopy", (True, False): "UploadPart"}.get(
            (part and upload, copy), "CopyObject" if copy else "PutObject"
        )
    if method == "POST":
        return "CreateMultipartUpload" if begin else "CompleteMultipartUpload" if upload else OTHER
    plain = {"GET": "GetObject", "HEAD": "HeadObject", "DELETE": "DeleteObject"}
    of_upload = {"GET": "ListParts", "DELETE": "AbortMultipartUpload"}
    return (of_upload if upload and not part else plain).get(method, OTHER)


def _of_bucket(method: str, flags: set[str]) -> str:
    if method == "POST" and flags == {"delete"}:
        return "DeleteObjects"
    if method == "GET" and flags == {_UPLOADS}:
        return "ListMultipartUploads"
    if flags - {_LIST, "prefix", "delimiter", "marker", "start-after", "continuation-token"}:
        return OTHER
    listing = "ListObjectsV2" if _LIST in flags else "ListObjects"
    return {"GET": listing, "HEAD": "HeadBucket", "PUT": "CreateBucket", "DELETE": "DeleteBucket"}.get(method, OTHER)


def _of_service(method: str) -> str:
    return "ListBuckets" if method == "GET" else OTHER
