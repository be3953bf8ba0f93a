"""Media and files in S3. Raises minio's and urllib3's errors while the store is away."""

from __future__ import annotations

import io
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import urllib3
from minio import Minio
from minio.datatypes import Part
from minio.error import S3Error

from sandbox.swanlab_server import bodies

if TYPE_CHECKING:
    from sandbox.swanlab_server.settings import Bucket

LIFE: Final = timedelta(hours=6)
"""How long a signed address works: an upload may wait for hours in an SDK that cannot reach the store."""
_PATIENCE: Final = urllib3.Timeout(connect=3.0, read=10.0)
_LONGEST: Final = 900
"""Characters of a path; S3 takes keys of 1024 bytes, of which a part are the project's and the run's."""


@dataclass(frozen=True)
class Etag:
    """A part of a multipart upload as the store acknowledged it. number: from 1."""

    number: int
    etag: str


class Storage:
    """The private bucket. Addresses are signed without any request to the store."""

    def __init__(self, bucket: Bucket) -> None:
        """Nothing need be reachable yet."""
        self._bucket = bucket
        pool = urllib3.PoolManager(
            timeout=_PATIENCE,
            # Not after a timeout: a store that hangs would be waited for twice, and the caller gives up meanwhile.
            retries=urllib3.Retry(total=1, read=0, backoff_factor=0.2, status_forcelist=(500, 502, 503, 504)),
            maxsize=16,
        )
        self._client = self._connect(bucket.endpoint, pool)

    def upload_url(self, key: str, origin: str) -> str:
        """Where to PUT an object. Only the host is signed: neither Content-Type nor Content-MD5."""
        return self._outside(origin).presigned_put_object(self._bucket.private, key, expires=LIFE)

    def download_url(self, key: str, origin: str) -> str:
        """Where to GET an object."""
        return self._outside(origin).presigned_get_object(self._bucket.private, key, expires=LIFE)

    def put(self, key: str, content: bytes, content_type: str) -> None:
        """Store an object of our own."""
        self._client.put_object(self._bucket.private, key, io.BytesIO(content), len(content), content_type=content_type)

    def size(self, key: str) -> int | None:
        """Bytes of an object, None if there is none."""
        try:
            return self._client.stat_object(self._bucket.private, key).size
        except S3Error as error:
            if error.code in {"NoSuchKey", "NotFound"}:
                return None
            raise

    def begin(self, key: str, content_type: str) -> str:
        """Begin a multipart upload; its id."""
        # minio offers multipart uploads as a whole only, and here the SDK sends the parts itself.
        return self._client._create_multipart_upload(self._bucket.private, key, {"Content-Type": content_type})

    def part_url(self, key: str, upload: str, part: int, origin: str) -> str:
        """Where to PUT one part."""
        query: dict[str, str | list[str] | tuple[str]] = {"partNumber": str(part), "uploadId": upload}
        return self._outside(origin).get_presigned_url(
            "PUT", self._bucket.private, key, expires=LIFE, extra_query_params=query
        )

    def complete(self, key: str, upload: str, parts: list[Etag]) -> None:
        """Make one object of all parts."""
        ordered = [Part(item.number, item.etag.strip('"')) for item in sorted(parts, key=lambda item: item.number)]
        self._client._complete_multipart_upload(self._bucket.private, key, upload, ordered)

    def remove(self, prefix: str) -> None:
        """Delete all objects whose key begins so."""
        found = list(self._client.list_objects(self._bucket.private, prefix, recursive=True))
        for item in found:
            self._client.remove_object(self._bucket.private, str(item.object_name))

    def _outside(self, origin: str) -> Minio:
        return self._connect(self._bucket.public_url or origin)

    def _connect(self, address: str, pool: urllib3.PoolManager | None = None) -> Minio:
        parts = urlsplit(address)
        return Minio(
            parts.netloc,
            access_key=self._bucket.access_key,
            secret_key=self._bucket.secret_key,
            secure=parts.scheme == "https",
            region=self._bucket.region,  # without it, signing would ask the store
            http_client=pool,
        )


def checked(path: str) -> str:
    """A path below a run's prefix. Raises Refusal for what would leave it."""
    parts = path.split("/")
    if not 0 < len(path) <= _LONGEST or any(part in {"", ".", ".."} for part in parts) or "\0" in path:
        raise bodies.wrong("a path", f"up to {_LONGEST} characters, relative, without empty parts, `.` and `..`")
    return path


def export_key(run_prefix: str, name: str) -> str:
    """Where an export of a run is kept. run_prefix: `<project>/<run>/`, so that it is deleted with the run."""
    return f"{run_prefix}exports/{name}"
