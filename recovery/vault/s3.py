"""One bucket through the key of one account. Requests are signed by the `minio` package and sent here: it neither
sends `If-None-Match` nor tells the clock of the target."""

from __future__ import annotations

import base64
import hashlib
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode, urlsplit

import requests
from minio.signer import sign_v4_s3

from recovery.errors import DamagedError, RecoveryError, UnreadableError
from recovery.model import CHUNK_BYTES, utc
from recovery.vault import answers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from minio.credentials.credentials import Credentials

    from recovery.vault.answers import Head, Version
    from recovery.vault.settings import Account, Place

_TIMEOUT: Final = (10.0, 120.0)
"""Seconds until connected, and between two packets of an answer."""
_PAUSES: Final = (0.5, 2.0, 6.0)
"""Seconds before each new attempt."""
_LARGEST_PAGE: Final = 16 * 1024**2
_OK, _NO_CONTENT, _NOT_FOUND, _EXISTS = 200, 204, 404, 412
_OWN_FAULTS: Final = (429, *range(500, 600))
"""The target is busy, or cannot do what it should."""


@dataclass(frozen=True)
class Answer:
    """status: HTTP's. body: whole, of the length that the answer announced. tries: requests that were sent for it."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    tries: int

    @property
    def code(self) -> str:
        """Code of the error; empty if it is none."""
        return answers.error_code(self.status, self.body) if self.status >= 400 else ""  # noqa: PLR2004  # HTTP's own


@dataclass(frozen=True)
class Put:
    """new: false if there was an object already. version: of what was put. repeated: an earlier attempt of this very
    request may be what made the object."""

    new: bool
    version: str
    repeated: bool


class Bucket:
    """role: name of the account in messages. Every method raises RecoveryError if it does not get its answer, naming
    operation, bucket, key and S3's code, never a key of the account."""

    def __init__(
        self, target: Place, account: Account | None, role: str, pause: Callable[[float], None] = time.sleep
    ) -> None:
        if account is None:
            raise RecoveryError(f"target: it has no account `{role}`, which this needs; add its two key files")
        self.name, self.role = target.bucket, role
        self._endpoint, self._region, self._pause = target.endpoint, target.region, pause
        found = account.credentials()
        # Behind a function: as an attribute it would show its keys wherever this object is shown.
        self._credentials: Callable[[], Credentials] = lambda: found
        self._verify: str | bool = str(target.ca_file) if target.ca_file else True
        self._local = threading.local()
        self.clock: datetime | None = None
        """What the target's clock said in its last answer, in UTC; None before the first."""

    def _session(self) -> requests.Session:
        """One for each thread: a session is made for one alone."""
        found: requests.Session | None = getattr(self._local, "session", None)
        if found is None:
            found = self._local.session = requests.Session()
            # The environment could bring another key (netrc), or a proxy that reads what is sent.
            found.trust_env = False
            found.verify = self._verify
        return found

    def put(self, key: str, content: bytes, *, absent: bool = True) -> Put:
        """Store an object. absent: only if there is none. The target checks that what arrived is what was sent."""
        headers = {"x-amz-checksum-sha256": base64.b64encode(hashlib.sha256(content).digest()).decode()}
        if absent:
            headers["If-None-Match"] = "*"
        answer = self.ask("PUT", key, body=content, headers=headers)
        if absent and answer.status == _EXISTS:
            return Put(new=False, version="", repeated=answer.tries > 1)
        self._require(answer, "PutObject", key, _OK)
        return Put(new=True, version=answer.headers.get("x-amz-version-id", ""), repeated=False)

    def get(self, key: str, version: str | None = None, limit: int = CHUNK_BYTES) -> bytes | None:
        """An object's content, None if there is none. Raises DamagedError if it has more than `limit` bytes,
        UnreadableError if the target has a fault of its own each time it is asked."""
        answer = self.ask("GET", key, query=_version(version), limit=limit)
        if answer.status == _NOT_FOUND and answer.code in ("NoSuchKey", "NoSuchVersion"):
            return None
        permission = "GetObjectVersion" if version else "GetObject"
        if answer.status in _OWN_FAULTS:
            raise UnreadableError(self._refused(answer, permission, key))
        self._require(answer, permission, key, _OK)
        return answer.body

    def head(self, key: str, version: str | None = None) -> Head | None:
        """What is known of an object, None if there is none."""
        answer = self.ask("HEAD", key, query=_version(version), headers={"x-amz-checksum-mode": "ENABLED"})
        if answer.status == _NOT_FOUND:
            return None
        self._require(answer, "GetObject", key, _OK)
        try:
            return answers.head(answer.headers)
        except (KeyError, ValueError) as error:
            raise self._unusable("HeadObject", key) from error

    def versions(self, prefix: str, page_size: int = 1000) -> Iterator[Version]:
        """Every version of every object below a prefix: keys in order, of each key the newest version first.

        An account that may not list gets an error, never an empty list.
        """
        after: dict[str, str] | None = {}
        while after is not None:
            query = {"versions": "", "prefix": prefix, "max-keys": str(page_size), **after}
            answer = self.ask("GET", "", query=query, limit=_LARGEST_PAGE)
            self._require(answer, "ListBucketVersions", prefix, _OK)
            page = answers.parse(answer.body)
            try:
                if page is None or not page.tag.endswith("ListVersionsResult"):
                    raise ValueError("not a list of versions")  # noqa: TRY301  # one error for all that is no such list
                found, following = answers.versions(page), answers.next_page(page)
            except ValueError as error:
                raise self._unusable("ListObjectVersions", prefix) from error
            if following is not None and following == after:
                raise self._unusable("ListObjectVersions", prefix)
            yield from found
            after = following

    def delete(self, key: str, version: str | None = None) -> None:
        """Delete a version for good; without one, hide the object behind a marker, which keeps its versions."""
        answer = self.ask("DELETE", key, query=_version(version))
        self._require(answer, "DeleteObjectVersion" if version else "DeleteObject", key, _OK, _NO_CONTENT)

    def retention(self, key: str, version: str) -> tuple[str, datetime] | None:
        """Mode and end of a version's lock, None if it has none."""
        answer = self.ask("GET", key, query={"retention": "", **_version(version)})
        if answer.status == _NOT_FOUND:
            return None
        self._require(answer, "GetObjectRetention", key, _OK)
        try:
            return answers.retention(answer.body)
        except ValueError as error:
            raise self._unusable("GetObjectRetention", key) from error

    def extend(self, key: str, version: str, until: datetime) -> bool:
        """Lock a version until then, in mode COMPLIANCE; no lock can be shortened. False: the account may not."""
        body = (
            '<Retention xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Mode>COMPLIANCE</Mode>'
            f"<RetainUntilDate>{until.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}</RetainUntilDate></Retention>"
        ).encode()
        # S3 asks for a checksum of a configuration, and MD5 is the one that every store knows.
        checked = base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()
        query = {"retention": "", **_version(version)}
        answer = self.ask("PUT", key, query=query, body=body, headers={"Content-MD5": checked})
        if answer.code == "AccessDenied":
            return False
        self._require(answer, "PutObjectRetention", key, _OK)
        return True

    def ask(
        self,
        method: str,
        key: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        limit: int = _LARGEST_PAGE,
    ) -> Answer:
        """One request; again if the target cannot be reached or is busy. Any other error is an answer like the rest."""
        what = f"{method} of {self.name}/{key}"
        why = ""
        for tries, pause in enumerate((*_PAUSES, None), 1):
            try:
                answer = self._once(method, key, query or {}, body, headers or {}, limit, tries)
                if answer.status not in _OWN_FAULTS and answer.code != "ConditionalRequestConflict":
                    return answer
                if pause is None or answer.code == "NotImplemented":
                    return answer
            except requests.exceptions.SSLError as error:
                raise RecoveryError(
                    f"{what}: the certificate of {self._endpoint} is not signed by an accepted authority; give its "
                    "authority as ca_file"
                ) from error
            except requests.RequestException as error:
                why = type(error).__name__
            if pause is not None:
                self._pause(pause)
        raise UnreadableError(
            f"{what}: {self._endpoint} cannot be reached or breaks off ({why}, {len(_PAUSES) + 1} attempts); check the "
            "endpoint and the network between here and the target, then run again"
        )

    def _once(
        self,
        method: str,
        key: str,
        query: Mapping[str, str],
        body: bytes,
        headers: Mapping[str, str],
        limit: int,
        tries: int,
    ) -> Answer:
        path = f"/{self.name}" + (f"/{quote(key, safe='/-_.~')}" if key else "")
        url = urlsplit(
            self._endpoint + path + (f"?{urlencode(sorted(query.items()), quote_via=quote)}" if query else "")
        )
        now, digest = datetime.now(UTC), hashlib.sha256(body).hexdigest()
        own = {"Host": url.netloc, "x-amz-content-sha256": digest, "x-amz-date": utc(now), **headers}
        signed = sign_v4_s3(
            method=method,
            url=url,
            region=self._region,
            headers=dict(own),
            credentials=self._credentials(),
            content_sha256=digest,
            date=now,
        )
        plain = {name: str(value) for name, value in signed.items()} | {"Accept-Encoding": "identity"}
        sent = self._session().request(
            method, url.geturl(), data=body, headers=plain, timeout=_TIMEOUT, allow_redirects=False, stream=True
        )
        with sent as answer:
            if "Date" in answer.headers:
                self.clock = parsedate_to_datetime(answer.headers["Date"]).astimezone(UTC)
            content = b"" if method == "HEAD" else self._whole(answer, key, limit)
            return Answer(answer.status_code, answer.headers, content, tries)

    def _whole(self, answer: requests.Response, key: str, limit: int) -> bytes:
        """The body. One that is shorter than announced is a broken connection to `requests`, as one of no end is."""
        announced = answer.headers.get("Content-Length")
        if announced is not None and int(announced) > limit and answer.status_code == _OK:
            raise DamagedError(f"{self.name}/{key} has {announced} bytes; at most {limit} were ever stored there")
        content = bytearray()
        for piece in answer.iter_content(1024**2):
            content += piece
            if len(content) > limit + _LARGEST_PAGE:
                raise DamagedError(f"{self.name}/{key} does not end after {len(content)} bytes; accepted are {limit}")
        return bytes(content)

    def _require(self, answer: Answer, permission: str, key: str, *accepted: int) -> None:
        if answer.status not in accepted:
            raise RecoveryError(self._refused(answer, permission, key))

    def _refused(self, answer: Answer, permission: str, key: str) -> str:
        code = answer.code or f"HTTP {answer.status}"
        return (
            f"{permission} of {self.name}/{key} as {self.role}: {self._endpoint} answers {code} ({answer.status}); "
            + answers.remedy(code, f"s3:{permission}")
        )

    def _unusable(self, operation: str, key: str) -> RecoveryError:
        return RecoveryError(
            f"{operation} of {self.name}/{key}: the answer of {self._endpoint} is not what S3 describes; check that "
            "the endpoint is an S3 server and nothing between here and it rewrites answers"
        )


def _version(version: str | None) -> dict[str, str]:
    return {"versionId": version} if version else {}
