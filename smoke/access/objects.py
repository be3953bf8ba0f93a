"""An object store over S3, with a key or without."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit
from xml.etree.ElementTree import ParseError

import urllib3
from minio import Minio
from minio.error import InvalidResponseError, MinioException, S3Error, ServerError
from minio.objectlockconfig import YEARS

from smoke import limits
from smoke.access.errors import RefusedError, UnreachableError
from smoke.facts import Lock

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = TypeVar("Answer")

# Signed for, and ignored by stores that have none; asking the store for it would need a right of its own.
REGION = "us-east-1"
REFUSED = 400
SERVER_ERROR = 500
SLOW_DOWN = 429
NOT_FOUND = 404
DAYS_OF_A_YEAR = 365


@dataclass(frozen=True)
class Key:
    """An access key. It is hidden in prints."""

    access: str
    secret: str

    def __repr__(self) -> str:
        return "Key(hidden)"


class Objects:
    """Requests to one store.

    name: how errors call it. locate: gives the base address at each call, because a port-forward may have moved.
    broken: told when a connection failed. key: None asks as a stranger does. region: which signatures name. Raises
    UnreachableError (no answer, 429, 5xx) and RefusedError, with the store's own code in its words, from every method.
    """

    def __init__(
        self,
        name: str,
        locate: Callable[[], str],
        broken: Callable[[], None],
        key: Key | None,
        region: str = REGION,
    ) -> None:
        self.name = name
        self._locate = locate
        self._broken = broken
        self._key = key
        self._region = region
        # Attempts are counted by the poller, which keeps the last error. Certificates come from the machine's trust.
        self._pool = urllib3.PoolManager(
            timeout=urllib3.Timeout(connect=limits.CONNECT, read=limits.REQUEST), retries=urllib3.Retry(0)
        )

    def as_(self, key: Key | None) -> Objects:
        """The same store, asked with another key or with none."""
        return Objects(self.name, self._locate, self._broken, key, self._region)

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()

    def put(self, bucket: str, name: str, data: bytes) -> str | None:
        """Write one object. Gives the version that was made, None in a bucket without versions."""

        def write(client: Minio) -> str | None:
            return client.put_object(bucket, name, BytesIO(data), len(data)).version_id

        return self._ask(bucket, name, write)

    def get(self, bucket: str, name: str) -> bytes:
        """The bytes of one object."""

        def read(client: Minio) -> bytes:
            answer = client.get_object(bucket, name)
            try:
                return bytes(answer.data)
            finally:
                answer.close()

        return self._ask(bucket, name, read)

    def delete(self, bucket: str, name: str, version: str | None = None) -> None:
        """Remove one object, or one version of it; one that does not exist is fine."""
        self._ask(bucket, name, lambda client: client.remove_object(bucket, name, version))

    def names(self, bucket: str, prefix: str = "") -> list[str]:
        """Names of all objects of a bucket that begin like this."""

        def listed(client: Minio) -> list[str]:
            return [str(found.object_name) for found in client.list_objects(bucket, prefix=prefix, recursive=True)]

        return self._ask(bucket, prefix, listed)

    def written(self, bucket: str, prefix: str) -> dict[str, float]:
        """Name → Unix time of the store when it was written, of all objects of a bucket that begin like this."""

        def listed(client: Minio) -> dict[str, float]:
            found = client.list_objects(bucket, prefix=prefix, recursive=True)
            return {str(one.object_name): one.last_modified.timestamp() for one in found if one.last_modified}

        return self._ask(bucket, prefix, listed)

    def lock(self, bucket: str) -> Lock:
        """Default retention of a bucket. That a bucket has no lock is an answer; that there is no bucket as well."""

        def read(client: Minio) -> Lock:
            try:
                found = client.get_object_lock_config(bucket)
            except S3Error as error:
                if _status(error) != NOT_FOUND:
                    raise
                return Lock(None, 0, f"({error.code})")
            except ValueError as error:
                return Lock(None, 0, f"that can be read ({error})")
            days = (found.duration or 0) * (DAYS_OF_A_YEAR if found.duration_unit == YEARS else 1)
            return Lock(found.mode, days)

        return self._ask(bucket, "?object-lock", read)

    def _client(self) -> Minio:
        parts = urlsplit(self._locate())
        return Minio(
            parts.netloc,
            access_key=self._key.access if self._key else None,
            secret_key=self._key.secret if self._key else None,
            secure=parts.scheme == "https",
            region=self._region,
            http_client=self._pool,
        )

    def _ask(self, bucket: str, name: str, question: Callable[[Minio], Answer]) -> Answer:
        subject = f"{self.name} {bucket}/{name}"
        try:
            return question(self._client())
        except (S3Error, InvalidResponseError, ServerError) as error:
            status = _status(error)
            message = f"HTTP {status}: {error}"
            if not REFUSED <= status < SERVER_ERROR or status == SLOW_DOWN:
                raise UnreachableError(subject, message) from error
            raise RefusedError(subject, message, status) from error
        except (MinioException, urllib3.exceptions.HTTPError, OSError, ParseError) as error:
            self._broken()
            raise UnreachableError(subject, f"{type(error).__name__}: {error}") from error


def _status(error: MinioException) -> int:
    """HTTP status of an answer that says no, with the store's own words or without; 0 if it is not known."""
    response = getattr(error, "response", None)
    if response is not None:
        return int(response.status)
    # The client keeps it under these names where the answer is not the store's own, as that of a proxy in between.
    return int(getattr(error, "status_code", None) or getattr(error, "_code", None) or 0)
