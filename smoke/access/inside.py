"""Facts from inside a container with a shell, in one `kubectl exec`."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from smoke.access.errors import CommandError, NoShellError, UnreachableError
from smoke.facts import Inside

if TYPE_CHECKING:
    from testinfra.host import Host

# In the words of runc, of crun, and of the runtimes that pass them on.
NO_SHELL = re.compile(r"""exec.*/bin/sh.*(executable file not found|no such file or directory)""", re.DOTALL)
CREDENTIAL = "/var/run/secrets/kubernetes.io/serviceaccount/token"  # a path
# `test -w` asks the kernel with the identity that `kubectl exec` gives, which is the container's own.
SCRIPT = """
sed 's/^/status /' /proc/1/status
sed 's/^/mount /' /proc/mounts
awk '{{print "root " $4 " " $5}}' /proc/self/mountinfo
[ -e {token} ] && echo "token $(stat -L -c %a {token})"
for p in {points}; do
  [ -w "$p" ] && echo "writable $p"
  newest="$p/wal/$(cd "$p/wal" 2>/dev/null && ls -td [0-9]* checkpoint.* 2>/dev/null | head -n 1)"
  [ "$newest" != "$p/wal/" ] && echo "log $(($(date +%s) - $(stat -c %Y "$newest"))) $p"
  echo "free $(df -Pk "$p" | tail -n 1 | awk '{{print $4}}') $p"
done
echo "end -"
"""


def look(host: Host, points: list[str]) -> Inside:
    """Facts about the first process, the mounts, the token, and the mount points `points`.

    Raises NoShellError without a shell, UnreachableError when the command could not be carried through, CommandError
    when it did not end.
    """
    script = SCRIPT.format(token=CREDENTIAL, points=" ".join(map(shlex.quote, points)))
    done = host.run(script)
    lines = [line.partition(" ") for line in done.stdout.splitlines()]
    if done.rc != 0 and NO_SHELL.search(done.stderr):
        raise NoShellError("container", "has no /bin/sh")
    if done.rc != 0 or not lines or lines[-1][0] != "end":
        raise UnreachableError("container", f"exec ended with {done.rc}: {done.stderr.strip()[:300]}")
    return _parse([(kind, rest) for kind, _, rest in lines])


def _parse(lines: list[tuple[str, str]]) -> Inside:
    status: dict[str, str] = {}
    mounts: dict[str, frozenset[str]] = {}
    free: dict[str, int] = {}
    # Of several mounts on one point the last is the one that is seen.
    pairs = {kind: dict(_swapped(rest) for k, rest in lines if k == kind) for kind in ("root", "log")}
    for kind, rest in lines:
        if kind == "status":
            name, _, value = rest.partition(":")
            status[name] = value.strip()
        elif kind == "mount":
            _, point, _, options, *_ = rest.split()
            mounts[point] = frozenset(options.split(","))
        elif kind == "free":
            number, _, point = rest.partition(" ")
            if not number.isdigit():
                raise CommandError("df", f"no number of free blocks for {point}: {number!r}")
            free[point] = int(number) * 1024
    return Inside(
        status=status,
        mounts=mounts,
        token_mode=next((rest for kind, rest in lines if kind == "token"), ""),
        writable=frozenset(rest for kind, rest in lines if kind == "writable"),
        space=free,
        roots=pairs["root"],
        log_ages={point: int(age) for point, age in pairs["log"].items()},
    )


def _swapped(rest: str) -> tuple[str, str]:
    value, _, point = rest.partition(" ")
    return point, value
