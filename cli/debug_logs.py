"""`debug-logs`: what one workload logs below the lowest level is kept until a time, which then passes by itself.

The window stands in a ConfigMap beside the agents, and their own configuration compares it with the clock. So nothing
has to be taken back, and `make up` leaves it alone.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from cli import deploy, recovery
from cli.engine import ROOT, engine_for
from sandbox.cluster.layout import direct
from sandbox.errors import SandboxError
from sandbox.process import ProgramError, run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cli.recovery import Kubectl
    from sandbox.home import Home
    from sandbox.progress import Progress

Json = dict[str, Any]
LIST: Final = "list"
LONGEST: Final = 24 * 3600
CONFIG_MAP: Final = "otel-debug-"
"""Begin of the name of the agents' second ConfigMap; behind it, the lowest level that is kept."""
WORKLOAD_LABEL: Final = "plumbline.dev/workload"
_KINDS: Final = "deployments,statefulsets,daemonsets,jobs,cronjobs,pods"
_PROGRAM: Final = "components.otel_collector.debug_words"
_PROGRAM_SECONDS: Final = 60.0
_RESTART_SECONDS: Final = 900
_TRIES: Final = 3
_SPAN: Final = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")


@dataclass(frozen=True)
class Agents:
    """DaemonSet whose pods have the windows. namespace, name: its own, and that of the ConfigMap's."""

    namespace: str
    name: str


@dataclass(frozen=True)
class Change:
    """Lower levels of one workload for so many seconds from now; 0 ends them."""

    namespace: str
    workload: str
    seconds: int


def debug_logs(home: Home, stack: str, progress: Progress, workload: str, span: str) -> int:
    """Open, end or list windows. workload: `namespace/name`, or `list`. span: `30m`; 0 ends. 0 if it is done.

    Raises SandboxError and ProgramError.
    """
    change = asked(workload, span)
    engine = engine_for(home, stack)
    deploy.require_running(engine)
    contract = deploy.write_contract(engine, deploy.out_directory(engine))
    kubectl = recovery.kubectl_of(engine, contract)
    where = agents(stack, json.loads(contract.read_text(encoding="utf-8")))
    if change is None:
        _, windows = _written(kubectl, where, None)
    else:
        windows = put(kubectl, where, change, progress)
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


def agents(stack: str, contract: Json) -> Agents:
    """Whom the contract promises. Raises SandboxError where a lower level would change nothing."""
    promised = contract.get("telemetry") or {}
    agent = promised.get("agent")
    if agent is None:
        raise SandboxError(
            f"stack {stack} has no agents that read logs", "set plumbline:otel_collector.mode to managed, run make up"
        )
    if "logs" not in promised.get("signals", ()):
        raise SandboxError(
            f"stack {stack} keeps no logs", "set plumbline:logs.mode to managed or external, run make up"
        )
    return Agents(agent["namespace"], agent["name"])


def put(kubectl: Kubectl, where: Agents, change: Change, progress: Progress) -> list[Json]:
    """Write the change, and wait until every agent has started with it; the windows that are open then."""
    changed, windows = _written(kubectl, where, change)
    name = f"{change.namespace}/{change.workload}"
    if not changed:
        print(f"no window of {name} was open; nothing was changed")
        return windows
    restart = ("-n", where.namespace, "rollout")
    agent = f"daemonset/{where.name}"
    with progress.step("agents start again with it, some at a time; what they had queued stays"):
        kubectl(*restart, "restart", agent)
        code = kubectl.attached(*restart, "status", agent, f"--timeout={_RESTART_SECONDS}s")
    if code != 0:
        raise SandboxError(
            f"not every agent has started again within {_RESTART_SECONDS} s; what is asked for is written, and each "
            "agent has it once it has started",
            f"follow it: kubectl -n {where.namespace} rollout status {agent}",
        )
    print(f"the window of {name} is closed" if change.seconds == 0 else f"what {name} logs is kept at every level")
    return windows


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


def _written(kubectl: Kubectl, where: Agents, change: Change | None) -> tuple[bool, list[Json]]:
    """Whether the ConfigMap was changed, and the windows that are open now.

    It is written only if it is still what was read: of two who open windows at once, neither undoes the other's.
    """
    config_map, level = _config_map(kubectl, where)
    wanted = _wanted(kubectl, change) if change else None
    for attempt in range(_TRIES):
        found = json.loads(kubectl("-n", where.namespace, "get", "configmap", config_map, "-o", "json"))
        file, text = _file(found)
        told = _program({"level": level, "text": text, "now": time.time(), "change": wanted})
        if told["text"] == text or change is None:
            return False, told["windows"]
        patch = {"metadata": {"resourceVersion": found["metadata"]["resourceVersion"]}, "data": {file: told["text"]}}
        try:
            kubectl(
                *("-n", where.namespace, "patch", "configmap", config_map, "--type=merge"),
                "--patch-file=/dev/stdin",
                stdin=json.dumps(patch),
            )
        except ProgramError as error:
            if attempt + 1 < _TRIES and ("Conflict" in error.output or "has been modified" in error.output):
                continue
            raise
        return True, told["windows"]
    raise AssertionError  # the last try returns or raises


def _config_map(kubectl: Kubectl, where: Agents) -> tuple[str, str]:
    """Name of the ConfigMap that the agents mount, and the lowest level that they keep."""
    daemon_set = json.loads(kubectl("-n", where.namespace, "get", "daemonset", where.name, "-o", "json"))
    volumes = daemon_set["spec"]["template"]["spec"].get("volumes") or []
    names = [volume["configMap"]["name"] for volume in volumes if "configMap" in volume]
    found = [name for name in names if name.startswith(CONFIG_MAP)]
    if len(found) != 1:
        raise SandboxError(
            f"daemonset {where.namespace}/{where.name} mounts {len(found)} ConfigMaps {CONFIG_MAP}…, and not one",
            "run make up: the agents are of another release",
        )
    return found[0], found[0].removeprefix(CONFIG_MAP).upper()


def _file(config_map: Json) -> tuple[str, str]:
    files: list[tuple[str, str]] = list((config_map.get("data") or {}).items())
    if len(files) != 1:
        meta = config_map["metadata"]
        raise SandboxError(
            f"ConfigMap {meta['namespace']}/{meta['name']} has {len(files)} files, and not one",
            "delete it, then run make up, which writes it anew, without windows",
        )
    return files[0]


def _wanted(kubectl: Kubectl, change: Change) -> Json:
    """The change, with what is there that its workload can be."""
    listed = json.loads(kubectl("-n", change.namespace, "get", _KINDS, "-o", "json"))["items"]
    pods = [one["metadata"]["name"] for one in listed if one["kind"] == "Pod"]
    known = {one["metadata"]["name"] for one in listed if one["kind"] != "Pod"}
    labels = [one["metadata"].get("labels") or {} for one in listed]
    known |= {found[WORKLOAD_LABEL] for found in labels if WORKLOAD_LABEL in found}
    return {
        "namespace": change.namespace,
        "workload": change.workload,
        "seconds": change.seconds,
        "pods": pods,
        "known": sorted(known),
    }


def _program(question: Json) -> Json:
    """The answer of the program that knows the file. Raises SandboxError with what it complains about."""
    environment = direct(os.environ) | {"PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-m", _PROGRAM]
    done = run(argv, timeout=_PROGRAM_SECONDS, env=environment, cwd=ROOT, stdin=json.dumps(question), check=False)
    try:
        told: Json = json.loads(done.stdout)
    except ValueError as error:
        raise ProgramError(argv, f"exited with {done.code}", done.stderr or done.stdout) from error
    if "error" in told:
        raise SandboxError(told["error"], "make debug-logs alone lists the windows that are open")
    return told
