"""One bucket over S3: lists, reads, writes, deletes. Every failure is a RecoveryError that names bucket and key."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

import certifi
import urllib3
from minio import Minio
from minio.deleteobjects import DeleteObject
from minio.error import MinioException, S3Error
from urllib3.exceptions import HTTPError

from recovery import secret_files
from recovery.errors import RecoveryError
from recovery.model import CHUNK_BYTES, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from recovery.stores.objects.settings import Settings

THREADS: Final = 8
_PIECE: Final = 2**20
_PARTS: Final = 10_000
"""Parts of an upload that S3 accepts."""
_SERVED: Final = ("cache-control", "content-disposition", "content-encoding", "content-language")
_USER: Final = "x-amz-meta-"
_FAILURES: Final = (MinioException, HTTPError, OSError, ValueError)


class MissingError(RecoveryError):
    """There is no such object."""


class BrokenError(RecoveryError):
    """An object ended early or late: reading it again may help."""


class Meta(Record):
    """What an object is served with. headers: lower-case names, user metadata with its prefix among them."""

    key: str
    type: str
    headers: dict[str, str]


@dataclass(frozen=True)
class Listed:
    """A line of a listing. size: bytes."""

    key: str
    size: int
    etag: str


@dataclass(frozen=True)
class Opened:
    """An object that is being read. size: bytes that the server announced. pieces: its content as it is stored."""

    size: int
    etag: str
    meta: Meta
    server: str
    pieces: Iterator[bytes]


class Bucket:
    """The bucket of the settings. Safe to use from several threads."""

    def __init__(self, settings: Settings) -> None:
        self.where = f"bucket {settings.bucket} at {settings.endpoint}"
        self._name = settings.bucket
        self._client = Minio(
            settings.endpoint.partition("://")[2].rstrip("/"),
            secret_files.read(Path(settings.access_key_file), f"the access key of {self.where}", blanks=True),
            secret_files.read(Path(settings.secret_key_file), f"the secret key of {self.where}", blanks=True),
            secure=settings.endpoint.startswith("https://"),
            region=settings.region,
            http_client=_pool(settings.ca_file),
        )

    def listed(self, prefix: str = "", *, old: bool = False) -> Iterator[Listed]:
        """Everything below a prefix, page by page. old: with version 1 of the listing, which pages by key."""
        with self._said("cannot be listed", f"{prefix or 'all'}"):
            for found in self._client.list_objects(self._name, prefix, recursive=True, use_api_v1=old):
                if found.object_name is None or found.size is None:
                    raise RecoveryError(f"{self.where}: a line of the listing has no key or no size: it is not S3")
                yield Listed(found.object_name, found.size, (found.etag or "").strip('"'))

    @contextmanager
    def opened(self, key: str) -> Iterator[Opened]:
        """Read an object. Raises MissingError; BrokenError, also from the pieces."""
        response = None
        try:
            with self._said("cannot be read", key):
                response = self._client.get_object(self._name, key)
            yield _opened(key, response, f"{self.where}, object {key!r}")
        finally:
            if response is not None:
                response.close()
                response.release_conn()

    def etag(self, key: str) -> str | None:
        """Tag of an object's content, None if there is no such object."""
        try:
            with self._said("cannot be looked at", key):
                return (self._client.stat_object(self._name, key).etag or "").strip('"')
        except MissingError:
            return None

    def put(self, key: str, size: int, meta: Meta, pieces: Iterable[bytes]) -> None:
        """Write an object. size: its bytes, -1 if nobody knows. What `pieces` raises passes through."""
        source = Source(pieces)
        part = CHUNK_BYTES if size <= CHUNK_BYTES * _PARTS else 0
        with self._said("cannot be written", key):
            self._client.put_object(
                self._name,
                key,
                source,  # type: ignore[arg-type]  # it asks for BinaryIO and calls nothing but read
                size,
                content_type=meta.type,
                metadata={**meta.headers},
                part_size=part,
                num_parallel_uploads=1,
            )
        source.finish(key)

    def delete(self, keys: Iterable[str]) -> int:
        """Delete objects; those that are not there do not matter. Returns how many were named."""
        count = 0

        def named() -> Iterator[DeleteObject]:
            nonlocal count
            for key in keys:
                count += 1
                yield DeleteObject(key)

        with self._said("objects cannot be deleted", "several"):
            for error in self._client.remove_objects(self._name, named()):
                raise RecoveryError(f"{self.where}: {error.name!r} cannot be deleted: {error.code}; allow DeleteObject")
        return count

    @contextmanager
    def _said(self, what: str, key: str) -> Iterator[None]:
        try:
            yield
        except S3Error as error:
            self._refused(error, what, key)
        except _FAILURES as error:
            text = f"{self.where}: {key!r} {what}: {type(error).__name__}: {error}; the store must be reachable"
            raise RecoveryError(text) from error

    def _refused(self, error: S3Error, what: str, key: str) -> NoReturn:
        if error.code in ("NoSuchKey", "NoSuchObject"):
            raise MissingError(f"{self.where}: there is no object {key!r}") from None
        raise RecoveryError(
            f"{self.where}: {key!r} {what}: {error.code}; the bucket must exist and the access key needs ListBucket, "
            "GetObject, and for a restore PutObject and DeleteObject"
        ) from None


class Source:
    """Pieces as something to read from; holds one piece and what is asked for."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._held = bytearray()

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes, fewer only at the end; all if it is negative."""
        while size < 0 or len(self._held) < size:
            piece = next(self._pieces, None)
            if piece is None:
                break
            self._held += piece
        taken = bytes(self._held if size < 0 else self._held[:size])
        del self._held[: len(taken)]
        return taken

    def finish(self, key: str) -> None:
        """Read to the end, where the whole is checked. Raises BrokenError if anything is left."""
        if self.read(1):
            raise BrokenError(f"object {key!r} is longer than it was said to be; run again")


def meta_of(key: str, headers: Mapping[str, str]) -> Meta:
    """What of an answer's headers belongs to the object."""
    lower = {name.lower(): value for name, value in headers.items()}
    kept = {name: value for name, value in lower.items() if name in _SERVED or name.startswith(_USER)}
    return Meta(key=key, type=lower.get("content-type", "application/octet-stream"), headers=dict(sorted(kept.items())))


def _opened(key: str, response: urllib3.BaseHTTPResponse, where: str) -> Opened:
    headers = response.headers
    size = int(headers.get("Content-Length", "-1"))
    if size < 0:
        raise RecoveryError(f"{where}: the server does not say how long it is, so it cannot be held against anything")
    return Opened(
        size=size,
        etag=headers.get("ETag", "").strip('"'),
        meta=meta_of(key, headers),
        server=headers.get("Server", ""),
        pieces=_pieces(response, size, where),
    )


def _pieces(response: urllib3.BaseHTTPResponse, size: int, where: str) -> Iterator[bytes]:
    total = 0
    try:
        # Not decoded: an object that says `Content-Encoding: gzip` is kept as it lies there.
        for piece in response.stream(_PIECE, decode_content=False):
            total += len(piece)
            yield piece
    except (HTTPError, OSError) as error:
        raise BrokenError(
            f"{where}: broke off after {total} of {size} bytes: {type(error).__name__}; run again"
        ) from None
    if total != size:
        raise BrokenError(f"{where}: {total} bytes came, {size} were announced; run again")


def again(attempts: int, step: Callable[[], None]) -> None:
    """Do a step until it does not break, at most so many times."""
    for left in range(attempts - 1, -1, -1):
        try:
            return step()
        except BrokenError:
            if not left:
                raise
    return None


def _pool(ca_file: str | None) -> urllib3.PoolManager:
    retries = urllib3.Retry(total=5, backoff_factor=0.2, status_forcelist=[500, 502, 503, 504])
    timeout = urllib3.Timeout(connect=10, read=120)
    return urllib3.PoolManager(
        maxsize=THREADS + 2,
        timeout=timeout,
        retries=retries,
        ca_certs=ca_file or certifi.where(),
        cert_reqs="CERT_REQUIRED",
    )
