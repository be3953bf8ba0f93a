"""One run of the program in the cluster, from the Job that was made to the verdict that stays with it.

The Job is what others read later: the CronJob counts its success, and an alert its failure. So it is left alone until
it has its verdict. A pod that is deleted before counts as a failed one, however well its program ended.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from sandbox.errors import SandboxError
from sandbox.process import ProgramError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cli.clients import Kubectl

Json = dict[str, Any]
CONTAINER: Final = "recovery"
GOOD, BAD, WRONG, FAILED = 0, 1, 2, 3
"""Exit codes of the program: done and good; the verdict is bad; a wrong command line; it could not be done."""
CODES: Final = (GOOD, BAD, WRONG, FAILED)
_START_SECONDS: Final = 300.0
_ENDED_SECONDS: Final = 60.0
_SETTLED_SECONDS: Final = 180.0
"""Stores beside the program have 30 s to end, as the pod says; node and controller of Jobs then write it down."""
_COUNTED_SECONDS: Final = 30.0
_TOLD_SECONDS: Final = 15.0
_PAUSE_SECONDS: Final = 1.0
COMPLETE: Final = "Complete"


@dataclass(frozen=True)
class Ended:
    """How a container ended. reason: as the node gives it, such as Completed, Error, OOMKilled."""

    code: int
    reason: str = ""


@dataclass(frozen=True)
class Run:
    """A Job that was made. owner: the CronJob whose success it may be, empty if it must not count as one."""

    kubectl: Kubectl
    namespace: str
    job: str
    owner: str = ""

    def begun(self) -> str:
        """Its pod, once the container has begun. Raises SandboxError with what holds it up."""
        seen = "no pod was made"
        for _ in _looks(_START_SECONDS):
            try:
                pods, job = self._pods(), self._get("job", self.job)
            except ProgramError as error:  # an API server that is away for a moment has ended no run
                seen = str(error)
                continue
            for pod in pods:
                states = [one for one in pod["status"].get("containerStatuses") or [] if one["name"] == CONTAINER]
                if any(not {"running", "terminated"}.isdisjoint(one["state"]) for one in states):
                    return str(pod["metadata"]["name"])
                seen = json.dumps([one["state"] for one in states] or pod["status"].get("conditions") or [])
            verdict = _verdict(job)
            if job is None or verdict is not None:
                why = _said(verdict) if verdict is not None else "it is gone"
                raise SandboxError(
                    f"job {self.namespace}/{self.job} ended, and nobody saw its program begin: {why}; {seen}",
                    f"look why, kubectl -n {self.namespace} get events, and run it again",
                )
        raise SandboxError(
            f"job {self.namespace}/{self.job} did not start within {_START_SECONDS:.0f} s: {seen}",
            f"look at it: kubectl -n {self.namespace} describe job {self.job}, and its pods",
        )

    def ended(self, pod: str) -> Ended:
        """How its container ended, which has or is about to: logs end when it does. Raises SandboxError if unknown."""
        why = running = "still runs, and its log has ended"
        for _ in _looks(_ENDED_SECONDS):
            try:
                found = self._get("pod", pod)
            except ProgramError as error:  # as above
                why = f"cannot be asked about: {error}"
                continue
            if found is None:
                raise SandboxError(
                    f"pod {self.namespace}/{pod} is gone, its outcome unknown",
                    "see how things are, make recovery RUN=status, and run it again",
                )
            why = running
            for status in found["status"].get("containerStatuses") or []:
                if status["name"] == CONTAINER and "terminated" in status["state"]:
                    state = status["state"]["terminated"]
                    return Ended(int(state["exitCode"]), state.get("reason") or "")
        raise SandboxError(
            f"pod {self.namespace}/{pod} {why}", f"follow it: kubectl -n {self.namespace} logs -f {pod} -c {CONTAINER}"
        )

    def settle(self, pod: str, ended: Ended) -> int:
        """Wait until the Job has its verdict, and give its pod back; the exit code, which is one of the program's own.

        Raises SandboxError for a program that was killed, and for one that ended well in a Job that failed yet.
        """
        try:
            verdict = self._settled(ended)
            if verdict is not None:
                self._give_back(pod)
            if verdict is not None and verdict["type"] == COMPLETE and self.owner:
                self._counted()
        except KeyboardInterrupt:
            _tell(f"interrupted: the program had ended with {ended.code}, and job {self.job} goes on to end by itself")
            raise
        if ended.code not in CODES:
            raise SandboxError(
                f"the program in pod {self.namespace}/{pod} was ended from outside ({ended.reason or 'no reason'}, "
                f"exit code {ended.code}), and came to no verdict",
                "look at what it said last, see how things are, make recovery RUN=status, and run it again",
            )
        if ended.code == GOOD and verdict is not None and verdict["type"] != COMPLETE:
            raise SandboxError(
                f"the program ended well, and its job {self.namespace}/{self.job} failed yet: {_said(verdict)}; what "
                "it did stays, and nothing counts it",
                "run it again",
            )
        return ended.code

    def _settled(self, ended: Ended) -> Json | None:
        """The condition that ends the Job. None if the Job is gone, or has none in time: both are told."""
        seen, told = "no condition", time.monotonic()
        for _ in _looks(_SETTLED_SECONDS):
            try:
                job = self._get("job", self.job)
            except ProgramError as error:
                seen = str(error)
                continue
            if job is None:
                _tell(f"note: job {self.namespace}/{self.job} is gone before anybody saw its verdict")
                return None
            if (verdict := _verdict(job)) is not None:
                return verdict
            seen = json.dumps(job.get("status") or {})
            if time.monotonic() - told > _TOLD_SECONDS:
                told = time.monotonic()
                _tell(f"the program has ended with {ended.code}; waiting until job {self.job} has, too")
        _tell(
            f"note: job {self.namespace}/{self.job} has no verdict {_SETTLED_SECONDS:.0f} s after its program ended "
            f"with {ended.code}: {seen}. Its pod is left, since the job would fail without it; look at it: kubectl -n "
            f"{self.namespace} describe job {self.job}, and its pods"
        )
        return None

    def _give_back(self, pod: str) -> None:
        """Delete a pod whose Job has its verdict.

        Volumes that were made for it go with it alone, and take up a quota until then; and one that failed is a fault
        of its namespace for whoever looks at that.
        """
        try:
            self.kubectl("-n", self.namespace, "delete", "pod", pod, "--wait=false", "--ignore-not-found")
        except ProgramError as error:  # the verdict stands, and the pod goes with its Job
            _tell(f"note: pod {self.namespace}/{pod} stays until its job goes: {error}")

    def _counted(self) -> None:
        """Wait until the CronJob has taken the Job for its last success; told if it does not.

        An upgrade asks for that moment, and whoever was told of a good verification may ask for one at once.
        """
        seen = "never"
        for _ in _looks(_COUNTED_SECONDS):
            try:
                job, owner = self._get("job", self.job), self._get("cronjob", self.owner)
            except ProgramError as error:
                seen = str(error)
                continue
            if job is None or owner is None:
                return
            seen = (owner.get("status") or {}).get("lastSuccessfulTime") or "never"
            if seen != "never" and _moment(seen) >= _moment(job["status"]["completionTime"]):
                return
        _tell(
            f"note: cronjob {self.namespace}/{self.owner} does not count job {self.job} as its last success ({seen}), "
            "so that an upgrade of SwanLab will not either; look at its events, and whether its controller runs"
        )

    def _pods(self) -> list[Json]:
        selector = f"job-name={self.job}"
        return list(
            json.loads(self.kubectl("-n", self.namespace, "get", "pods", "-l", selector, "-o", "json"))["items"]
        )

    def _get(self, kind: str, name: str) -> Json | None:
        """An object; None if there is none. Raises ProgramError if nobody could be asked."""
        printed = self.kubectl("-n", self.namespace, "get", kind, name, "--ignore-not-found", "-o", "json")
        return dict(json.loads(printed)) if printed.strip() else None


def _looks(seconds: float) -> Iterator[None]:
    """One turn after another, with a pause between two, until so many seconds are over; one in any case."""
    deadline = time.monotonic() + seconds
    while True:
        yield
        if time.monotonic() >= deadline:
            return
        time.sleep(_PAUSE_SECONDS)


def _verdict(job: Json | None) -> Json | None:
    """The condition that ends a Job. `SuccessCriteriaMet` and `FailureTarget` only announce it: pods still end."""
    conditions = ((job or {}).get("status") or {}).get("conditions") or []
    ends = (one for one in conditions if one["type"] in (COMPLETE, "Failed") and one["status"] == "True")
    return next(ends, None)


def _said(condition: Json) -> str:
    return ": ".join(str(condition[part]) for part in ("reason", "message") if condition.get(part)) or condition["type"]


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
