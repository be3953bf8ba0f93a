"""Make the two buckets of the store inside the release; those that are there stay as they are.

Who may use them without a key is in the store's identities, since SeaweedFS lets no bucket policy allow an anonymous
write.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from minio import Minio
from minio.credentials.providers import StaticProvider
from minio.error import S3Error

if TYPE_CHECKING:
    from collections.abc import Mapping

THERE = ("BucketAlreadyOwnedByYou", "BucketAlreadyExists")


def main(environment: Mapping[str, str]) -> int:
    """0 = both are there. Raises the client's errors: the Job then tries again."""
    endpoint = urlsplit(environment["S3_ENDPOINT"])
    keys = StaticProvider(environment["S3_ACCESS_KEY"], environment["S3_SECRET_KEY"])
    secure = endpoint.scheme == "https"
    client = Minio(endpoint.netloc, credentials=keys, secure=secure, region=environment["S3_REGION"])
    for bucket in (environment["S3_PRIVATE_BUCKET"], environment["S3_PUBLIC_BUCKET"]):
        try:
            client.make_bucket(bucket)
        except S3Error as error:
            if error.code not in THERE:
                raise
        print(f"bucket {bucket} is there")
    return 0


if __name__ == "__main__":
    sys.exit(main(os.environ))
