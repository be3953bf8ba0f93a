"""VictoriaLogs' command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.logs.names import DATA_PATH, PORT

if TYPE_CHECKING:
    from components.logs.args import LogsArgs

CACHE_PERCENT: Final = 60
"""Share of the container's memory that caches may take; the default is the same share of what the program sees."""
KEPT_FREE_PERCENT: Final = 5
"""Share of the volume below which nothing more is taken. What is refused waits in the gateway's queue, while a volume
that is full to the last byte can be neither merged nor cleaned."""
FLUSH_SECONDS: Final = 1
"""How often what is in memory is written to disk; the default is five. A killed pod loses what was answered for in the
last moments: with this value files had each record within 4 seconds."""


def flags(args: LogsArgs) -> dict[str, str]:
    """Flag → value, spelt as `/flags` and the metric `flag` report them."""
    return {
        "storageDataPath": DATA_PATH,
        "httpListenAddr": f":{PORT}",
        "retentionPeriod": args.retention,
        "retention.maxDiskSpaceUsageBytes": str(args.retention_bytes),
        "storage.minFreeDiskSpaceBytes": str(args.volume_bytes * KEPT_FREE_PERCENT // 100),
        "memory.allowedBytes": str(args.memory_bytes * CACHE_PERCENT // 100),
        "inmemoryDataFlushInterval": f"{FLUSH_SECONDS}s",
        "loggerFormat": "json",
    }


def arguments(args: LogsArgs) -> list[str]:
    """The flags as a command line."""
    return [f"-{name}={value}" for name, value in flags(args).items()]
