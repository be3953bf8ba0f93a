"""What the object store tells of itself: all parts of SeaweedFS in one process, on one page."""

from __future__ import annotations

from signals.catalogue.model import Budget, Described, Drop, Producer
from signals.catalogue.process import PROCESS_METRICS

_SOURCE = "github.com/seaweedfs/seaweedfs 4.48 weed/stats/metrics.go"
_STORED = "the first object of a bucket"
_DESCRIBED = Described("SeaweedFS_", _SOURCE)
_counter, _gauge = _DESCRIBED.counter, _DESCRIBED.gauge

_REQUESTS = (
    _counter(
        "s3_request_total",
        "Requests to S3; one without a key that is known belongs to no bucket.",
        ("type", "code"),
        optional=("bucket",),
        event="the first request of that kind",
    ),
    _counter(
        "s3_bucket_traffic_received_bytes_total",
        "Bytes that were written to a bucket.",
        ("bucket",),
        unit="bytes",
        event="the first object that is written",
    ),
    _counter(
        "s3_bucket_traffic_sent_bytes_total",
        "Bytes that were read from a bucket.",
        ("bucket",),
        unit="bytes",
        event="the first object that is read",
    ),
)

_STATE = (
    _gauge("build_info", "Always 1; the version is in the labels.", ("version", "commit"), low=1.0, high=1.0),
    _gauge("master_is_leader", "1 if the master leads; nothing is written without one.", high=1.0),
    _counter("master_pick_for_write_error", "Times that the master had no volume to write to."),
    _gauge("volumeServer_max_volumes", "Volumes that may be made on the claim.", low=1.0),
    _gauge("volumeServer_volumes", "Volumes on the claim.", ("collection", "type"), event=_STORED),
    _gauge(
        "volumeServer_read_only_volumes",
        "Volumes that nothing is written to, by reason: `isDiskSpaceLow` is a claim that is full.",
        ("collection", "type"),
        event=_STORED,
    ),
    _gauge(
        "volumeServer_total_disk_size",
        "Bytes of objects in a bucket, `normal` or not yet cleaned away.",
        ("collection", "type"),
        unit="bytes",
        event=_STORED,
    ),
    _gauge(
        "volumeServer_resource",
        "Bytes of the file system under the claim: `all`, `used`, `free`, `avail`.",
        ("name", "type"),
        unit="bytes",
    ),
    _gauge("volumeServer_disk_error_status", "1 if the directory cannot be read.", ("name", "type"), high=1.0),
    _counter("volumeServer_file_read_failures", "Objects that could not be read from disk."),
    _counter("volumeServer_file_write_failures", "Objects that could not be written to disk."),
    _counter("volumeServer_storage_io_error_total", "Errors of the disk itself."),
)

PRODUCER = Producer(
    job="object-store",
    title="Object store",
    versions="SeaweedFS 4.48",
    target_labels=("cluster", "environment"),
    per_node=False,
    metrics=(*_STATE, *_REQUESTS, *PROCESS_METRICS),
    drops=(
        Drop(
            metric="SeaweedFS_(filer|filerStore|master|volumeServer|s3_lifecycle_dispatch).*_bucket",
            why="Latencies between the parts of one process. Sums and counts stay; those of S3 stay whole.",
        ),
    ),
    # Counted: 300 series at rest; each bucket adds 30, and 30 more for each kind of answer to its requests.
    budget=Budget(per_target=3000),
)
