"""A page proven: a pushed value makes one alert per severity fire; each arrives where it must, and resolves."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from signals.catalogue.pushgateway import PAGE_PROOF
from smoke.access import runbooks
from smoke.judge import paging
from smoke.model import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from smoke.access.exposition import Sample
    from smoke.stack import Stack

Json = dict[str, Any]

JOB = "plumbline-page-proof"


class PageProof:
    """The proof, in stages: pushed and stored; routed, arrived, told enough; deleted; resolved.

    Those about delivery are left out unless `begin` asked for it, because they tell people: without, what is pushed
    is 0, and no alert fires.
    """

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._word = secrets.token_hex(6)
        self._deliver = False
        self._asked = False
        self._pushed: int | None = None
        self._deleted = False
        self._before: list[Sample] | None = None
        self._passed: set[str] = set()
        self.subject = f"group {JOB}/{self._word} of the Pushgateway"

    @property
    def told(self) -> str:
        """What was seen, once every stage is passed."""
        boxes, unread = self._mailboxes(), self._unread()
        lines = [f"{severity}: fired, arrived once at {', '.join(sorted(boxes[severity]))}" for severity in boxes]
        lines += [f"{', '.join(unread)}: fired and sent; arrival itself was not read back"] if unread else []
        return "\n".join([*lines, "every page had a summary and a runbook that exists, and has resolved"])

    def begin(self, *, deliver: bool = False) -> None:
        """Delete groups of earlier runs, then push. deliver: prove the way of the alerts as well."""
        self._deliver = self._deliver or deliver
        if self._deliver and self._before is None:
            self._before = self._stack.alertmanager.own_metrics()
        value = int(self._deliver)
        if self._pushed == value:
            return
        for group in self._stack.pushgateway.groups():
            if group.get("job") == JOB:
                self._stack.pushgateway.delete(JOB, group.get("instance", ""))
        lines = (f'{PAGE_PROOF}{{severity="{s}",proof="{self._word}"}} {value}\n' for s in paging.SEVERITIES)
        self._asked = True  # before the answer, which an interrupt may keep away
        self._stack.pushgateway.push(JOB, self._word, f"# TYPE {PAGE_PROOF} gauge\n{''.join(lines)}")
        self._pushed = value

    def advance(self) -> list[Problem]:
        """One attempt at the stage that is due, and at those behind it that pass at once."""
        if self._pushed is None or (self._deliver and self._before is None):
            return [Problem(self.subject, "not pushed", "pushed")]
        for name, stage in self._stages().items():
            if name in self._passed:
                continue
            problems = stage()
            if problems:
                return problems
            self._passed.add(name)
        return []

    def stored(self) -> list[Problem]:
        """The first stage alone: the pushed series are stored under the labels that they were pushed with."""
        if "stored" in self._passed:
            return []
        problems = self.advance()
        return [] if "stored" in self._passed else problems

    def end(self) -> None:
        """Delete the group if it is there."""
        if self._asked and not self._deleted:
            self._stack.pushgateway.delete(JOB, self._word)
            self._deleted = True

    def watchdog(self, since: float, within: float) -> list[Problem]:
        """The dead man's switch has been told since a Unix time, which is `within` seconds ago."""
        boxes = self._mailboxes("watchdog").get("watchdog", set())
        if boxes:
            return paging.watchdog(self._stack.sink.notifications(since, "Watchdog"), boxes, within)
        names = {
            r["name"] for alert in self._stack.alertmanager.alerts('alertname="Watchdog"') for r in alert["receivers"]
        }
        return [] if "watchdog" in names else [Problem("Watchdog at Alertmanager", f"receivers {names}", "watchdog")]

    def _stages(self) -> dict[str, Callable[[], list[Problem]]]:
        delivery = {"routed": self._routed, "arrived": self._arrived, "told": self._told_enough}
        end = {"resolved": self._resolved}
        return {
            "stored": self._stored,
            **(delivery if self._deliver else {}),
            "deleted": self._delete,
            **(end if self._deliver else {}),
        }

    def _stored(self) -> list[Problem]:
        series = self._stack.prometheus.query(f'{PAGE_PROOF}{{proof="{self._word}"}}')
        times = self._stack.prometheus.query(f'push_time_seconds{{instance="{self._word}"}}')
        return paging.pushed(series, times, JOB, self._word, self._stack.contract.cluster.name)

    def _routed(self) -> list[Problem]:
        return paging.routed(self._alerts())

    def _arrived(self) -> list[Problem]:
        boxes = self._mailboxes()
        problems = paging.arrived(self._notifications(), self._word, "firing", boxes, boxes) if boxes else []
        unread = self._unread()
        if unread and self._before is not None:
            problems += paging.sent(self._before, self._stack.alertmanager.own_metrics(), unread)
        return problems

    def _told_enough(self) -> list[Problem]:
        # What nobody can read back is taken from Alertmanager, which holds the same annotations.
        held = [
            {"receiver": "of Alertmanager", "payload": {"alerts": [{**a, "status": "firing"} for a in self._alerts()]}}
        ]
        notifications = self._notifications() if not self._unread() else held
        missing = ((url, runbooks.missing(url)) for url in sorted(paging.runbooks(notifications, self._word)))
        return [
            *paging.complete(notifications, self._word),
            *(Problem(f"runbook {url or '(none)'}", why, "one that exists") for url, why in missing if why),
        ]

    def _delete(self) -> list[Problem]:
        self.end()
        return []

    def _resolved(self) -> list[Problem]:
        alerts = self._alerts()
        if alerts:
            return [Problem("alerts of the proof", f"{len(alerts)} still at Alertmanager", "none: their cause is gone")]
        boxes = self._mailboxes()
        if not boxes:
            return []
        told = self._mailboxes(resolved=True)
        return paging.arrived(self._notifications(), self._word, "resolved", told, boxes)

    def _alerts(self) -> list[Json]:
        return self._stack.alertmanager.alerts(f'proof="{self._word}"')

    def _notifications(self) -> list[Json]:
        return self._stack.sink.notifications()

    def _unread(self) -> list[str]:
        boxes = self._mailboxes()
        return [severity for severity in paging.SEVERITIES if severity not in boxes]

    def _mailboxes(self, *names: str, resolved: bool = False) -> paging.Mailboxes:
        """Of the receivers of these names, by default those of severities, where the sink keeps what they are sent."""
        if not self._stack.claims("alert-sink"):
            return {}
        sink = self._stack.component("alertmanager").endpoints["sink"]
        found = paging.mailboxes(self._stack.contract.receivers, sink, resolved=resolved)
        return {name: boxes for name, boxes in found.items() if name in (names or paging.SEVERITIES)}
