"""Pods of the namespace: running, ready, and never restarted."""

from __future__ import annotations

from typing import Any

from smoke.model import Problem

Json = dict[str, Any]

# Reasons of a waiting container which do not pass without a change to its spec, image or configuration.
TERMINAL_REASONS = frozenset(
    {
        "CrashLoopBackOff",
        "CreateContainerConfigError",
        "ErrImageNeverPull",
        "ImagePullBackOff",
        "InvalidImageName",
    }
)


def running(pods: list[Json], namespace: str) -> list[Problem]:
    """Every pod is Running and Ready, or the finished pod of a Job. No pods at all is a problem."""
    if not pods:
        return [Problem(f"namespace {namespace}", "no pods", "at least one pod")]
    return [problem for pod in pods for problem in _pod_problems(pod)]


def not_restarted(pods: list[Json], namespace: str) -> list[Problem]:
    """No container, init container included, has been restarted in its pod."""
    if not pods:
        return [Problem(f"namespace {namespace}", "no pods", "at least one pod")]
    problems = []
    for pod in pods:
        statuses = container_statuses(pod)
        if not statuses:
            problems.append(Problem(_name(pod), "no container status", "a status with a restart count"))
        problems += [_restart(pod, status) for status in statuses if status.get("restartCount", 0) != 0]
    return problems


def container_statuses(pod: Json) -> list[Json]:
    """Statuses of init containers and containers."""
    status = pod.get("status", {})
    return [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]


def is_live(pod: Json) -> bool:
    """Whether the pod counts for its workload: neither being deleted nor finished."""
    finished = pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
    return "deletionTimestamp" not in pod["metadata"] and not finished


def is_ready(pod: Json) -> bool:
    """Whether the pod's own condition Ready is true."""
    conditions = pod.get("status", {}).get("conditions") or []
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def _pod_problems(pod: Json) -> list[Problem]:
    phase = pod.get("status", {}).get("phase", "Unknown")
    if phase == "Succeeded" and any(o.get("kind") == "Job" for o in pod["metadata"].get("ownerReferences") or []):
        return []
    waiting = [_waiting(pod, status) for status in container_statuses(pod)]
    problems = [problem for problem in waiting if problem]
    if problems:
        return problems
    if "deletionTimestamp" in pod["metadata"]:
        return [Problem(_name(pod), "being deleted", "Running and Ready")]
    if phase != "Running":
        return [Problem(_name(pod), f"{phase}{_why(pod)}", "Running and Ready")]
    if not is_ready(pod):
        return [Problem(_name(pod), f"Running, not Ready{_why(pod)}", "Running and Ready")]
    return []


def _waiting(pod: Json, status: Json) -> Problem | None:
    waiting = (status.get("state") or {}).get("waiting")
    if not waiting:
        return None
    reason = waiting.get("reason", "waiting")
    seen = f"{reason}: {waiting['message']}" if waiting.get("message") else reason
    return Problem(_container(pod, status), seen, "running", terminal=reason in TERMINAL_REASONS)


def _why(pod: Json) -> str:
    status = pod.get("status", {})
    told = [status.get("reason"), status.get("message")]
    told += [c.get("message") for c in status.get("conditions") or [] if c["status"] != "True"]
    words = [word for word in told if word]
    return f" ({'; '.join(words)})" if words else ""


def _restart(pod: Json, status: Json) -> Problem:
    last = (status.get("lastState") or {}).get("terminated") or {}
    ended = f", last ended with {last.get('reason', '?')}, exit code {last.get('exitCode', '?')}" if last else ""
    return Problem(_container(pod, status), f"{status['restartCount']} restarts{ended}", "0 restarts", terminal=True)


def _name(pod: Json) -> str:
    return f"pod {pod['metadata']['name']}"


def _container(pod: Json, status: Json) -> str:
    return f"{_name(pod)} container {status['name']}"
