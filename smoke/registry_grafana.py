"""Checks of Grafana itself, over its own API; a part of the page in registry.py."""

from __future__ import annotations

from smoke.model import Check

COMPONENT = "grafana"
NEEDS = ("grafana",)


def grafana() -> tuple[Check, ...]:
    """Of a Grafana that this stack deploys: nobody else's is given a password of ours."""
    return (
        _own(
            "grafana.health",
            "A4",
            "Grafana is the version of its image, and its database answers",
            "read the log of Grafana in the report; a database that is locked or full is named there",
        ),
        _own(
            "grafana.closed",
            "A8",
            "Nobody gets in without a password, and no password is accepted but that of the Secret",
            "run `make up`: the pod sets the password of the Secret when it starts; until then do not try by hand, "
            "for five wrong passwords lock an account for five minutes",
        ),
        _own(
            "grafana.datasources",
            "A4",
            "Grafana has every datasource under its own uid, type and address, and each of them answers",
            "run `make up`; a uid that was changed stops the rest of the file from being read: delete that datasource "
            "by hand and restart the pod",
        ),
        _own(
            "grafana.boards",
            "B7",
            "Every board is in its folder as it was rendered, once",
            "delete a copy that is not ours, or give it another title; for the rest delete the pod of Grafana: it "
            "reads the files anew",
        ),
        Check(
            id="grafana.panels",
            requirement="B7",
            claim="Every panel of every board answers through Grafana, and none is empty but by design",
            remedy="where `boards.answered` is green, Grafana stands between: look at the datasource that the error "
            "names; else begin there",
            needs=(*NEEDS, "metrics"),
            component=COMPONENT,
        ),
    )


def _own(id: str, requirement: str, claim: str, remedy: str) -> Check:
    return Check(id=id, requirement=requirement, claim=claim, remedy=remedy, needs=NEEDS, component=COMPONENT)
