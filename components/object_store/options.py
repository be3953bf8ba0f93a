"""The command line of `weed server`, the script that makes the buckets, and what the settings must keep to.

Flags as `weed help server` of 4.48 explains them. Everything but S3 and the metrics listens on loopback: the master,
the volume server and the filer take orders from anybody who reaches them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from components.errors import DeployError
from components.object_store.names import (
    ADMIN,
    ANONYMOUS,
    CONFIG_FILE,
    CONFIG_PATH,
    DATA_PATH,
    METRICS_PORT,
    PORT,
)

if TYPE_CHECKING:
    from components.object_store.args import Bucket, ObjectStoreArgs

LOOPBACK: Final = "127.0.0.1"
MASTER_PORT: Final = 9333
FILER_PORT: Final = 8888

_MIB: Final = 2**20
_SHARE_OF_CLAIM: Final = 0.9
"""The rest is for the filer's index and for compaction, which writes a volume anew before it deletes the old one."""
_VOLUMES: Final = 128
_SMALLEST_MB: Final = 32
_LARGEST_MB: Final = 30_000
_GROWTH: Final = 7
"""Volumes that the master makes at once for a bucket that has no writable one (weed/topology/volume_growth.go)."""
_MIN_FREE_PERCENT: Final = 5
_BUCKETS_SECONDS: Final = 90


def volume_size_mb(volume_bytes: int) -> int:
    """Megabytes (2^20) after which a volume of SeaweedFS is full: small enough that every bucket gets its own."""
    return min(max(int(volume_bytes * _SHARE_OF_CLAIM) // (_VOLUMES * _MIB), _SMALLEST_MB), _LARGEST_MB)


def volume_count(volume_bytes: int) -> int:
    """Volumes that fit on the claim. Beyond them writes fail: a full claim would take the filer's index along."""
    return int(volume_bytes * _SHARE_OF_CLAIM) // (volume_size_mb(volume_bytes) * _MIB)


def validate(args: ObjectStoreArgs) -> None:
    """Raises DeployError with everything that cannot work."""
    found = [*_bucket_faults(args.buckets)]
    needed = (len(args.buckets) + 1) * _GROWTH
    if volume_count(args.volume_bytes) < needed:
        least = int(needed * _SMALLEST_MB / _SHARE_OF_CLAIM) + 1
        found.append(f"volume {args.volume} is too small for {len(args.buckets)} buckets; accepted: {least}Mi or more")
    if not args.network_policies:
        found.append(
            "its gRPC port, which asks for no password, is closed by a NetworkPolicy alone, and the setting "
            "network.policies is false; accepted: network.policies true, or an S3 of somebody else and mode `off`"
        )
    if found:
        raise DeployError(
            f"{args.name} cannot be deployed; nothing was changed:\n" + "\n".join(f"- {f}" for f in found)
        )


def _bucket_faults(buckets: tuple[Bucket, ...]) -> list[str]:
    names = [bucket.name for bucket in buckets]
    twice = sorted({name for name in names if names.count(name) > 1})
    found = [f"bucket {name} is listed more than once; keep one entry" for name in twice]
    found += [
        f"bucket {bucket.name} has the owner `{bucket.owner}`, a name of the store's own; accepted is any other"
        for bucket in buckets
        if bucket.owner in (ADMIN, ANONYMOUS) and not bucket.locked
    ]
    return found if buckets else ["no bucket is named; accepted is at least one in plumbline:object_store.buckets"]


def arguments(args: ObjectStoreArgs) -> list[str]:
    """Command line after `weed`."""
    return ["-logtostderr=true", "server", *(f"-{name}={value}" for name, value in _flags(args).items())]


def _flags(args: ObjectStoreArgs) -> dict[str, str]:
    return {
        "dir": DATA_PATH,
        # Part of the volume server's identity on the claim: the address of a pod would be another after each restart.
        "ip": LOOPBACK,
        "ip.bind": LOOPBACK,
        "master.telemetry": "false",
        # There is no other master to wait for, and until one is elected nothing can be read or written.
        "master.electionTimeout": "1s",
        "master.volumeSizeLimitMB": str(volume_size_mb(args.volume_bytes)),
        "volume.max": str(volume_count(args.volume_bytes)),
        "volume.minFreeSpace": str(_MIN_FREE_PERCENT),
        # There is no second volume server that clients could be sent to meanwhile.
        "volume.preStopSeconds": "1",
        "filer": "true",
        "s3": "true",
        "s3.ip.bind": "0.0.0.0",  # noqa: S104  # the pod's one open port besides metrics
        "s3.port": str(PORT),
        "s3.config": f"{CONFIG_PATH}/{CONFIG_FILE}",
        "s3.iam": "false",
        "s3.port.iceberg": "0",
        "s3.port.lance": "0",
        "s3.autoCreateBucket": "false",
        "s3.allowDeleteBucketNotEmpty": "false",
        "s3.allowedOrigins": "*",
        "metricsIp": "0.0.0.0",  # noqa: S104  # scraped from another pod
        "metricsPort": str(METRICS_PORT),
    }


def buckets_script(buckets: tuple[Bucket, ...], seconds: int = _BUCKETS_SECONDS) -> str:
    """Shell script that makes each bucket that is missing. It may run at every start: it deletes and changes nothing.

    seconds: attempts, one a second, until the store answers. Its errors end up in the pod's events.
    """
    shell = f"weed shell -master={LOOPBACK}:{MASTER_PORT} -filer={LOOPBACK}:{FILER_PORT}"
    wanted = " ".join(f"{bucket.name}={bucket.owner}{'=-withLock' if bucket.locked else ''}" for bucket in buckets)
    return f"""set -u
ask() {{ echo "$1" | timeout 20 {shell} 2>&1; }}
tries=0
until there=$(ask s3.bucket.list); do
  tries=$((tries + 1))
  if [ "$tries" -ge {seconds} ]; then echo "the store does not list its buckets: $there" >&2; exit 1; fi
  sleep 1
done
for pair in {wanted}; do
  name=${{pair%%=*}}
  if echo "$there" | awk '{{print $1}}' | grep -qxF "$name"; then continue; fi
  if ! made=$(ask "s3.bucket.create -name $name -owner $(echo "${{pair#*=}}" | tr = ' ')"); then
    echo "bucket $name cannot be made: $made" >&2; exit 1
  fi
done
"""


def revision(args: ObjectStoreArgs) -> str:
    """Identifies what is read at start only: with another one the pod is restarted. It holds nothing of a secret."""
    owned = {bucket.name: [bucket.owner, bucket.public_read] for bucket in args.buckets}
    granted = {grant.identity: [*grant.on_objects, *grant.on_bucket] for grant in args.grants}
    read = {"generation": args.generation, "buckets": owned} | ({"grants": granted} if granted else {})
    return json.dumps(read, sort_keys=True, separators=(",", ":"))
