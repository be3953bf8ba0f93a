"""Pages: an alert is routed to the receiver of its severity and to no other, arrives there, and resolves."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from signals.rules.model import Severity
from smoke.model import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from signals.alertmanager_config import Receiver
    from smoke.access.exposition import Sample
    from stacks.contract import Endpoint

Json = dict[str, Any]
Mailboxes = dict[str, set[str]]

SEVERITIES: tuple[str, ...] = tuple(severity.value for severity in Severity)
PUSHED = ("job", "instance")
SENT = "alertmanager_notifications_total"
FAILED = "alertmanager_notifications_failed_total"


def mailboxes(receivers: Iterable[Receiver], sink: Endpoint, *, resolved: bool = False) -> Mailboxes:
    """Receiver → names under which the sink keeps what is sent to it. resolved: only of those told of ends as well.

    A receiver is missing if none of its addresses leads to the sink, or if they are in a Secret.
    """
    found: Mailboxes = {}
    for receiver in receivers:
        for webhook in receiver.webhooks:
            parts = urlsplit(webhook.url or "")
            host = (parts.hostname or "").split(".")[0]
            if (host, parts.port or 80) == (sink.service, sink.port) and (webhook.send_resolved or not resolved):
                found.setdefault(receiver.name, set()).add(parts.path.rstrip("/").rpartition("/")[2])
    return found


def pushed(series: list[Json], times: list[Json], job: str, instance: str, cluster: str) -> list[Problem]:
    """Every pushed series is stored under the job and instance that pushed it. times: its `push_time_seconds`."""
    subject = f"series pushed by job {job}"
    if len(series) != len(SEVERITIES):
        return [Problem(subject, f"{len(series)} stored", f"{len(SEVERITIES)}")]
    problems = []
    if len(times) != 1:
        problems.append(Problem(f"push_time_seconds of job {job}", f"{len(times)} series", "one"))
    wanted = {"job": job, "instance": instance, "cluster": cluster}
    for labels in (one["metric"] for one in [*series, *times]):
        seen = {name: labels.get(name, "(none)") for name in wanted}
        moved = sorted(name for name in labels if name.startswith("exported_"))
        if seen != wanted or moved:
            told = ", ".join([f"{name} {value}" for name, value in seen.items()] + moved)
            right = ", ".join(f"{name} {value}" for name, value in wanted.items())
            problems.append(Problem(f"{labels.get('__name__', subject)}", told, f"{right}, none exported_"))
    return problems


def routed(alerts: list[Json]) -> list[Problem]:
    """Alertmanager holds one active alert per severity, for the receiver of its severity and no other."""
    by_severity: dict[str, list[Json]] = {severity: [] for severity in SEVERITIES}
    for alert in alerts:
        by_severity.setdefault(alert["labels"].get("severity", ""), []).append(alert)
    problems = []
    for severity, found in by_severity.items():
        subject = f"alert of severity {severity or '(none)'}"
        if severity not in SEVERITIES or len(found) != 1:
            problems.append(Problem(subject, f"{len(found)} at Alertmanager", f"one for each of {SEVERITIES}"))
            continue
        state = found[0]["status"]["state"]
        if state != "active":
            problems.append(Problem(subject, f"{state} at Alertmanager", "active: neither silenced nor inhibited"))
        receivers = sorted(receiver["name"] for receiver in found[0]["receivers"])
        if receivers != [severity]:
            problems.append(Problem(subject, f"routed to {', '.join(receivers)}", f"routed to {severity} alone"))
    return problems


def arrived(notifications: list[Json], proof: str, status: str, expected: Mailboxes, known: Mailboxes) -> list[Problem]:
    """One notification of this status per severity is in each of its mailboxes, and in none of another receiver.

    status: `firing` or `resolved`. expected: those that are told of this status. known: all that there are.
    """
    seen: Counter[tuple[str, str]] = Counter()
    for received in notifications:
        for alert in _of(received, proof, status):
            seen[(alert["labels"].get("severity", ""), received["receiver"])] += 1
    problems = []
    for severity in SEVERITIES:
        for box in sorted(expected.get(severity, ())):
            number = seen[(severity, box)]
            if number != 1:
                told = f"{number} notifications {status}"
                problems.append(Problem(f"page of severity {severity} at receiver {box}", told, "one"))
    for (severity, box), number in sorted(seen.items()):
        if box not in known.get(severity, ()):
            told = f"{number} notifications {status}"
            problems.append(Problem(f"page of severity {severity} at receiver {box}", told, "none: it is another's"))
    return problems


def complete(notifications: list[Json], proof: str) -> list[Problem]:
    """Who is woken is told what happened and what to do: a summary, a severity and a runbook."""
    problems = []
    for received in notifications:
        for alert in _of(received, proof, "firing"):
            own = f"page at receiver {received['receiver']}"
            parts = {"summary": alert["annotations"], "runbook_url": alert["annotations"], "severity": alert["labels"]}
            problems += [
                Problem(own, f"no {name}", f"a {name}") for name, where in parts.items() if not where.get(name)
            ]
    return problems


def runbooks(notifications: list[Json], proof: str) -> set[str]:
    """Addresses of the runbooks that the firing pages name."""
    found = (alert["annotations"].get("runbook_url", "") for r in notifications for alert in _of(r, proof, "firing"))
    return set(found)


def counters(samples: list[Sample], name: str) -> dict[str, float]:
    """Receiver → value of one of Alertmanager's own counters, over all reasons and integrations."""
    found: dict[str, float] = {}
    for sample in samples:
        if sample.name == name:
            receiver = sample.labels.get("receiver_name", "")
            found[receiver] = found.get(receiver, 0.0) + sample.value
    return found


def sent(before: list[Sample], after: list[Sample], receivers: Iterable[str]) -> list[Problem]:
    """Alertmanager has notified each of these receivers between two readings of its own metrics, without a failure.

    Without the label `receiver_name`, which is a feature that may be off, all of them are judged together.
    """
    sums = {name: (counters(before, name), counters(after, name)) for name in (SENT, FAILED)}
    named = any(sums[SENT][1].keys() - {""})
    problems = []
    for receiver in receivers if named else [""]:
        subject = f"receiver {receiver}" if receiver else "receivers"
        more, failed = (sums[name][1].get(receiver, 0.0) - sums[name][0].get(receiver, 0.0) for name in (SENT, FAILED))
        if not more > 0:
            problems.append(Problem(subject, "no notification sent", "at least one"))
        if failed > 0:
            problems.append(Problem(subject, f"{failed:.0f} notifications failed", "none"))
    return problems


def watchdog(notifications: list[Json], boxes: set[str], within: float) -> list[Problem]:
    """The dead man's switch was told that alerting works. notifications: of the last `within` seconds."""
    seen = {received["receiver"] for received in notifications if received["payload"].get("status") == "firing"}
    return [
        Problem(f"receiver {box}", f"no Watchdog within {within:.0f} s", "one every few minutes")
        for box in sorted(boxes - seen)
    ]


def _of(received: Json, proof: str, status: str) -> list[Json]:
    alerts: list[Json] = received["payload"].get("alerts") or []
    return [alert for alert in alerts if alert["labels"].get("proof") == proof and alert["status"] == status]
