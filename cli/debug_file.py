"""The file of debug windows beside the agents, and the agents that read it when they start.

It is written here and nowhere else. Beside it stands the revision of what was written last, and agents carry the one
that they were started for: so smoke can tell a file that somebody else wrote.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from cli.engine import ROOT
from sandbox.cluster.layout import direct
from sandbox.errors import SandboxError
from sandbox.process import ProgramError, run

if TYPE_CHECKING:
    from cli.clients import Kubectl
    from sandbox.progress import Progress

Json = dict[str, Any]
CONFIG_MAP: Final = "otel-debug-"
"""Begin of the name of the agents' second ConfigMap; behind it, the lowest level that is kept."""
WORKLOAD_LABEL: Final = "plumbline.dev/workload"
_WRITTEN: Final = "plumbline/config-revision"
_STARTED: Final = "plumbline/debug-revision"
_RESTARTED: Final = "kubectl.kubernetes.io/restartedAt"
_MEND: Final[Json] = {"mend": True}
_KINDS: Final = "deployments,statefulsets,daemonsets,jobs,cronjobs,pods"
_PROGRAM: Final = "components.otel_collector.debug_words"
_PROGRAM_SECONDS: Final = 60.0
_RESTART_SECONDS: Final = 900
_TRIES: Final = 3


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


@dataclass(frozen=True)
class _Found:
    """config_map: its name. revision: of its file. windows: that are open. changed: whether it was written now."""

    config_map: str
    revision: str
    windows: list[Json]
    changed: bool


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
    found = _written(kubectl, where, _wanted(kubectl, change))
    name = f"{change.namespace}/{change.workload}"
    if not found.changed:
        print(f"no window of {name} was open; nothing was changed")
        return found.windows
    _start_again(kubectl, where, found, progress)
    print(f"the window of {name} is closed" if change.seconds == 0 else f"what {name} logs is kept at every level")
    return found.windows


def read(kubectl: Kubectl, where: Agents) -> list[Json]:
    """The windows that are open. Raises SandboxError for a file that nobody here wrote."""
    return _written(kubectl, where, None).windows


def mend(kubectl: Kubectl, where: Agents, progress: Progress) -> bool:
    """Write the file anew, without windows, if somebody else wrote it, and see that agents were started for it.

    Whether anything had to be done.
    """
    found = _written(kubectl, where, _MEND)
    if found.changed:
        print(f"{found.config_map}: somebody else wrote the debug windows; agents start again with what is meant")
        _start_again(kubectl, where, found, progress)
    return found.changed


def _start_again(kubectl: Kubectl, where: Agents, found: _Found, progress: Progress) -> None:
    """Every agent, also one that has the revision already: nobody knows what it has read since."""
    annotations = {_STARTED: f"{found.config_map}-{found.revision}", _RESTARTED: datetime.now(UTC).isoformat()}
    patch = {"spec": {"template": {"metadata": {"annotations": annotations}}}}
    agent = f"daemonset/{where.name}"
    with progress.step("agents start again with it, some at a time; what they had queued stays"):
        kubectl("-n", where.namespace, "patch", "daemonset", where.name, "--type=merge", "-p", json.dumps(patch))
        code = kubectl.attached(*("-n", where.namespace, "rollout"), "status", agent, f"--timeout={_RESTART_SECONDS}s")
    if code != 0:
        raise SandboxError(
            f"not every agent has started again within {_RESTART_SECONDS} s; what is asked for is written, and each "
            "agent has it once it has started",
            f"follow it: kubectl -n {where.namespace} rollout status {agent}",
        )


def _written(kubectl: Kubectl, where: Agents, wanted: Json | None) -> _Found:
    """The ConfigMap after what is wanted, None to read it.

    It is written only if it is still what was read: of two who open windows at once, neither undoes the other's.
    """
    config_map, level, told_agents = _config_map(kubectl, where)
    for attempt in range(_TRIES):
        found = json.loads(kubectl("-n", where.namespace, "get", "configmap", config_map, "-o", "json"))
        file, text = _file(found)
        told = _program({"level": level, "file": file, "text": text, "now": time.time(), "change": wanted})
        result = _Found(config_map, told["revision"], told["windows"], changed=told["text"] != text)
        if wanted == _MEND:
            noted = (found["metadata"].get("annotations") or {}).get(_WRITTEN, told["first"])
            started = told_agents or told["first"]
            result = replace(result, changed=result.changed or {noted, started} != {told["revision"]})
        if not result.changed or wanted is None:
            return replace(result, changed=False)
        meta = {
            "resourceVersion": found["metadata"]["resourceVersion"],
            "annotations": {_WRITTEN: told["revision"]},
        }
        patch = {"metadata": meta, "data": {file: told["text"]}}
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
        return result
    raise AssertionError  # the last try returns or raises


def _config_map(kubectl: Kubectl, where: Agents) -> tuple[str, str, str]:
    """Name of the ConfigMap that the agents mount, the lowest level that they keep, and for which revision they start.

    The last is empty if nobody ever wrote into this ConfigMap.
    """
    daemon_set = json.loads(kubectl("-n", where.namespace, "get", "daemonset", where.name, "-o", "json"))
    template = daemon_set["spec"]["template"]
    volumes = template["spec"].get("volumes") or []
    names = [volume["configMap"]["name"] for volume in volumes if "configMap" in volume]
    found = [name for name in names if name.startswith(CONFIG_MAP)]
    if len(found) != 1:
        raise SandboxError(
            f"daemonset {where.namespace}/{where.name} mounts {len(found)} ConfigMaps {CONFIG_MAP}…, and not one",
            "run make up: the agents are of another release",
        )
    told = ((template.get("metadata") or {}).get("annotations") or {}).get(_STARTED, "")
    started = told.removeprefix(f"{found[0]}-") if told.startswith(f"{found[0]}-r") else ""
    return found[0], found[0].removeprefix(CONFIG_MAP).upper(), started


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
        raise SandboxError(told["error"], told.get("next", "make debug-logs alone lists the windows that are open"))
    return told
