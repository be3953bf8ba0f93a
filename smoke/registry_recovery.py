"""Checks of restore points; a part of the page in registry.py."""

from __future__ import annotations

from smoke.model import Check, Impact

COMPONENT = "recovery"
NEEDS = ("recovery",)


def recovery() -> tuple[Check, ...]:
    """Who makes restore points, how old the points are, and where they lie."""
    return (
        Check(
            id="recovery.jobs",
            requirement="B4",
            claim="The jobs that make, verify and prune restore points are as promised, with no privilege that they do "
            "not need; they run when they must, end well and leave nothing behind",
            remedy="read the log of the pod that is named; once the cause is gone, run it again with `kubectl create "
            "job --from` its CronJob, and delete the Job that failed",
            needs=NEEDS,
            component=COMPONENT,
        ),
        Check(
            id="recovery.points",
            requirement="B4",
            claim="The newest restore point is as young as promised, and so is the newest that was restored and "
            "compared, and the bucket holds both; on a stack that is younger, none is due yet",
            remedy="see what `recovery.jobs` says; make a point at once with `kubectl create job --from` the CronJob, "
            "and verify it in the same way",
            needs=(*NEEDS, "metrics"),
            component=COMPONENT,
        ),
        Check(
            id="recovery.target",
            requirement="B4",
            claim="The bucket of restore points locks what is written, for as long as promised, and who reads it "
            "cannot write",
            remedy="give the bucket its default retention in mode COMPLIANCE, and its reader the rights to read and "
            "list alone; a bucket without object lock must be made anew with it",
            impact=Impact.SENTINEL,
            needs=NEEDS,
            component=COMPONENT,
        ),
    )
