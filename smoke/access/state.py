"""Where a program keeps its state, asked from inside its container."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from smoke.access.errors import NoShellError, UnreachableError
from smoke.access.inside import NO_SHELL, look

if TYPE_CHECKING:
    from testinfra.host import Host

# Every process of PostgreSQL has the data directory as its working directory, whatever variables or flags say.
POSTGRES: Final = """
for p in /proc/[0-9]*; do
  d=$(readlink "$p/cwd" 2>/dev/null) && [ -f "$d/PG_VERSION" ] && echo "at $d" && break
done
echo "end"
"""
# Redis changes into its directory, and CONFIG GET dir tells the working directory; this way needs no password.
REDIS: Final = """
for p in /proc/[0-9]*; do
  case "$(cat "$p/comm" 2>/dev/null)" in redis-server | valkey-server) ;; *) continue ;; esac
  d=$(readlink "$p/cwd") && echo "at $d" && break
done
echo "end"
"""
# ClickHouse holds the file `status` of its path open and locked as long as it runs; system.disks wants a password.
CLICKHOUSE: Final = """
for f in /proc/[0-9]*/fd/*; do
  s=$(readlink "$f" 2>/dev/null) && d=${s%/status} && [ "$d" != "$s" ] && [ -d "$d/metadata" ] && echo "at $d" && break
done
echo "end"
"""
TELLING: Final = {"postgres": POSTGRES, "redis": REDIS, "clickhouse": CLICKHOUSE}
"""Store of the contract → script that prints `at` and the directory of the one that runs."""


def mount_points(host: Host) -> frozenset[str]:
    """Mount points that a container sees. Raises as `look`."""
    return frozenset(look(host, []).mounts)


def directory(host: Host, store: str) -> str:
    """The data directory of the store, one of TELLING, that runs in a container.

    Raises NoShellError without a shell, UnreachableError when none is found or the command could not be carried
    through, CommandError when it did not end.
    """
    done = host.run(TELLING[store])
    lines: list[str] = done.stdout.splitlines()
    if done.rc != 0 and NO_SHELL.search(done.stderr):
        raise NoShellError("container", "has no /bin/sh")
    if done.rc != 0 or lines[-1:] != ["end"]:
        raise UnreachableError("container", f"exec ended with {done.rc}: {done.stderr.strip()[:300]}")
    found = [line.removeprefix("at ") for line in lines if line.startswith("at ")]
    if not found:
        raise UnreachableError("container", f"no process of {store} shows where its data is")
    return found[0]
