"""`debug-logs`: what one workload logs below the lowest level is kept until a time, which then passes by itself.

The window stands in a ConfigMap beside the agents, and their own configuration compares it with the clock. So nothing
has to be taken back, and `make up` leaves it alone.
"""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from cli import clients, debug_file, deploy
from cli.debug_file import Change
from cli.engine import engine_for
from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.home import Home
    from sandbox.progress import Progress

Json = dict[str, Any]
LIST: Final = "list"
LONGEST: Final = 24 * 3600
_SPAN: Final = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")


def debug_logs(home: Home, stack: str, progress: Progress, workload: str, span: str) -> int:
    """Open, end or list windows. workload: `namespace/name`, or `list`. span: `30m`; 0 ends. 0 if it is done.

    Raises SandboxError and ProgramError.
    """
    change = asked(workload, span)
    engine = engine_for(home, stack)
    deploy.require_running(engine)
    contract = deploy.write_contract(engine, deploy.out_directory(engine))
    kubectl = clients.kubectl_of(engine, contract)
    where = debug_file.agents(stack, json.loads(contract.read_text(encoding="utf-8")))
    windows = debug_file.read(kubectl, where) if change is None else debug_file.put(kubectl, where, change, progress)
    print("\n".join(shown(windows, time.time())))
    return 0


def asked(workload: str, span: str) -> Change | None:
    """What the words mean, None for a list. Raises SandboxError for words that mean nothing."""
    if workload == LIST:
        return None
    namespace, _, name = workload.partition("/")
    if not namespace or not name or "/" in name:
        raise SandboxError(
            f"WORKLOAD is {workload!r}; accepted are namespace/name of a Deployment, StatefulSet, DaemonSet, Job, "
            "CronJob or pod, and list",
            "make debug-logs WORKLOAD=team-a/trainer FOR=30m",
        )
    return Change(namespace, name, seconds_of(span))


def seconds_of(span: str) -> int:
    """Seconds of `30m`, `2h`, `1h30m`, `90s`; 0 for `0`. Raises SandboxError for others and for more than a day."""
    found = _SPAN.fullmatch(span)
    if span != "0" and (found is None or not span):
        raise SandboxError(
            f"FOR is {span!r}; accepted are hours, minutes and seconds as in 2h, 30m, 1h30m or 90s, and 0 to end it",
            "make debug-logs WORKLOAD=namespace/name FOR=30m",
        )
    hours, minutes, seconds = (int(part or 0) for part in found.groups()) if found else (0, 0, 0)
    total = hours * 3600 + minutes * 60 + seconds
    if total > LONGEST:
        raise SandboxError(
            f"FOR is {span}, more than 24h: a lower level that nobody ends costs room for as long",
            "name 24h or less; the same words again, later, open it anew",
        )
    return total


def shown(windows: Sequence[Json], now: float) -> list[str]:
    """One line per window, after a head. now: seconds since 1970."""
    if not windows:
        return ["no debug window is open"]
    names = [f"{one['namespace']}/{one['workload']}" for one in windows]
    width = max(len(name) for name in names)
    lines = ["debug windows that are open:"]
    for name, one in zip(names, windows, strict=True):
        until = datetime.fromtimestamp(one["until"], UTC)
        lines.append(f"  {name:<{width}}  until {until:%Y-%m-%d %H:%M:%S} UTC, {_left(one['until'] - now)} from now")
    return lines


def _left(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes else f"{max(0, round(seconds))} s"
