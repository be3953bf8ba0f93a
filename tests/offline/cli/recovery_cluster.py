"""kubectl of a cluster with one CronJob, whose Jobs get their verdict as those of Kubernetes do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sandbox.process import ProgramError

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]
PLACE = {"namespace": "plumbline-recovery", "name": "recovery-verify"}
CRON_JOB: Json = {
    "metadata": {
        "name": "recovery-verify",
        "namespace": "plumbline-recovery",
        "uid": "0b9d4f6e-1111-4222-8333-444455556666",
        "labels": {"a": "cron"},
    },
    "spec": {
        "schedule": "20 * * * *",
        "jobTemplate": {
            "metadata": {"labels": {"a": "job"}},
            "spec": {
                "backoffLimit": 2,
                "template": {
                    "spec": {
                        "restartPolicy": "OnFailure",
                        "initContainers": [{"name": "postgres", "args": ["-c", "x"]}],
                        "containers": [
                            {
                                "name": "recovery",
                                "args": ["--config", "/etc/recovery/config.json", "verify", "--latest"],
                            }
                        ],
                    }
                },
            },
        },
    },
    "status": {"lastSuccessfulTime": "2026-11-30T08:08:50Z"},
}
WAITING: Json = {"waiting": {"reason": "PodInitializing"}}
RUNNING: Json = {"running": {}}
BEFORE, COMPLETED = "2026-11-30T08:08:50Z", "2026-11-30T11:12:45Z"
"""When the CronJob last saw a success before the run, and when the run is complete."""


def ended(code: int, reason: str = "") -> Json:
    """State of a container that has ended."""
    return {"terminated": {"exitCode": code, "reason": reason or ("Error" if code else "Completed")}}


class Cluster:
    """states: of the container, one after another at each look. The pod lives on after it, since stores beside it end.

    ending: looks at the Job after which its pod has ended, and the Job has its verdict. A pod that is deleted before is
    a failed one, whatever its program said. counting: looks at the CronJob after which it has counted a success.
    job: called at each look at a Job whose program has ended.
    failing: beginnings of words of kubectl → how often they fail.
    """

    def __init__(self, *states: Json, ending: int = 3, counting: int = 2) -> None:
        self.states = list(states)
        self.ending, self.counting = ending, counting
        self.made: Json = {}
        self.calls: list[tuple[str, ...]] = []
        self.said = ""
        self.logs: Callable[[], int] = lambda: 0
        self.job: Callable[[], None] = lambda: None
        self.failing: dict[tuple[str, ...], int] = {}
        self.verdict = ""
        self.pod, self.gone = True, False
        self.followed = False
        self.seen = 0

    def __call__(self, *arguments: str, stdin: str | None = None) -> str:
        self.calls.append(arguments)
        assert arguments[:2] == ("-n", "plumbline-recovery")
        words = arguments[2:]
        for begin, times in self.failing.items():
            if words[: len(begin)] == begin and times:
                self.failing[begin] = times - 1
                raise ProgramError(["kubectl"], "exited with 1", "the connection was refused")
        if words[0] == "create":
            self.made = json.loads(stdin or "")
            return ""
        if words[0] == "delete":
            self._deleted(words[1])
            return ""
        return self.said if words[0] == "logs" else self._got(words[1])

    def attached(self, *arguments: str) -> int:
        self.calls.append(arguments)
        self.followed = True
        return self.logs()

    def deletes(self, kind: str) -> int:
        """How often something of this kind was deleted."""
        return sum(call[2:4] == ("delete", kind) for call in self.calls)

    def _deleted(self, kind: str) -> None:
        if kind == "pod":
            self.pod, self.verdict = False, self.verdict or "Failed"
        else:
            self.gone, self.pod = True, False

    def _got(self, kind: str) -> str:
        if kind == "cronjob":
            return json.dumps(self._cron_job())
        if kind == "job":
            return self._job()
        if not self.pod:
            return json.dumps({"items": []}) if kind == "pods" else ""
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        statuses = [{"name": "postgres", "state": {}}, {"name": "recovery", "state": state}]
        pod = {"metadata": {"name": "pod-1"}, "status": {"containerStatuses": statuses}}
        return json.dumps({"items": [pod]} if kind == "pods" else pod)

    def _job(self) -> str:
        if self.gone:
            return ""
        state = self.states[0]
        if self.followed and "terminated" in state:
            self.job()
            self.ending -= 1
            if self.ending < 0:
                self.verdict = self.verdict or ("Failed" if state["terminated"]["exitCode"] else "Complete")
        status: Json = {"conditions": [{"type": "SuccessCriteriaMet", "status": "True"}]}
        if self.verdict:
            found = {"type": self.verdict, "status": "True"}
            if self.verdict == "Failed":
                found |= {"reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit"}
            status["conditions"].append(found)
        if self.verdict == "Complete":
            status["completionTime"] = COMPLETED
        return "" if self.gone else json.dumps({**self.made, "status": status})

    def _cron_job(self) -> Json:
        if self.verdict == "Complete":
            self.seen += 1
        owned = "ownerReferences" in self.made.get("metadata", {})
        moment = COMPLETED if owned and self.seen > self.counting else BEFORE
        return {**CRON_JOB, "status": {"lastSuccessfulTime": moment}}
