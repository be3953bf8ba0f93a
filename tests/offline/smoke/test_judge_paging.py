"""Judgement over pages, Alertmanager, and the way between Prometheus and it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from signals.alertmanager_config import Receiver, Webhook, config_hash
from smoke.access.exposition import parse
from smoke.judge import alertmanager, paging
from smoke.judge.configuration import revision
from stacks.contract import Endpoint
from tests.offline.smoke import objects
from tests.offline.smoke.full_stack import RENDERED

if TYPE_CHECKING:
    from smoke.model import Problem

Json = dict[str, Any]
SINK = Endpoint(service="alert-sink", namespace="sandbox", port=8080)
BOXES = {name: {name} for name in paging.SEVERITIES}


def _text(problems: list[Problem]) -> str:
    return "\n".join(map(str, problems))


def _receiver(name: str, *urls: str, send_resolved: bool = True) -> Receiver:
    return Receiver(name=name, webhooks=tuple(Webhook(url=url, send_resolved=send_resolved) for url in urls))


def test_mailboxes_are_those_addresses_that_lead_to_the_sink() -> None:
    pager = "https://pager.example/P0"
    receivers = (
        _receiver("P0", "http://alert-sink.sandbox.svc:8080/P0", pager),
        _receiver("P1", pager),
        Receiver(name="P2", webhooks=(Webhook(url_file="/etc/secret/url"),)),
        _receiver("P3", "http://alert-sink.sandbox:8080/low/", send_resolved=False),
    )
    assert paging.mailboxes(receivers, SINK) == {"P0": {"P0"}, "P3": {"low"}}
    assert paging.mailboxes(receivers, SINK, resolved=True) == {"P0": {"P0"}}


def _pushed(**changes: str) -> str:
    labels = {"job": "j", "instance": "i", "cluster": "local", **changes}
    series = [objects.series(1, severity=severity, **labels) for severity in paging.SEVERITIES]
    return _text(paging.pushed(series, [objects.series(1, **labels)], "j", "i", "local"))


def test_pushed_series_keep_their_labels() -> None:
    assert _pushed() == ""
    assert "job pushgateway" in _pushed(job="pushgateway", exported_job="j")
    assert "exported_job; expected job j" in _pushed(job="pushgateway", exported_job="j")
    assert "cluster other" in _pushed(cluster="other")
    assert "seen 0 stored; expected 4" in _text(paging.pushed([], [], "j", "i", "local"))
    series = [objects.series(1, job="j", instance="i", cluster="local")] * 4
    assert "push_time_seconds of job j: seen 0 series" in _text(paging.pushed(series, [], "j", "i", "local"))


def _alerts(**receivers: list[str]) -> list[Json]:
    wanted = {severity: [severity] for severity in paging.SEVERITIES} | receivers
    return [
        {
            "labels": {"severity": severity},
            "receivers": [{"name": name} for name in names],
            "status": {"state": "active"},
        }
        for severity, names in wanted.items()
    ]


def test_each_severity_is_routed_to_its_receiver_alone() -> None:
    assert paging.routed(_alerts()) == []
    assert "routed to P3; expected routed to P0 alone" in _text(paging.routed(_alerts(P0=["P3"])))
    assert "routed to P0, P1; expected" in _text(paging.routed(_alerts(P0=["P1", "P0"])))
    assert "alert of severity P3: seen 0 at Alertmanager" in _text(paging.routed(_alerts()[:3]))
    silenced = _alerts()
    silenced[1]["status"]["state"] = "suppressed"
    assert "alert of severity P1: seen suppressed at Alertmanager" in _text(paging.routed(silenced))


def _page(severity: str, box: str, status: str = "firing", proof: str = "n", **annotations: str) -> Json:
    told = {"summary": "s", "runbook_url": "docs/runbooks/x.md"} | annotations
    alert = {"labels": {"severity": severity, "proof": proof}, "annotations": told, "status": status}
    return {"receiver": box, "payload": {"status": status, "alerts": [alert]}}


ALL = [_page(severity, severity) for severity in paging.SEVERITIES]


def _arrived(pages: list[Json], status: str = "firing") -> str:
    return _text(paging.arrived(pages, "n", status, BOXES, BOXES))


def test_page_arrives_once_where_it_must_and_nowhere_else() -> None:
    assert _arrived([*ALL, _page("P0", "P2", proof="of another run")]) == ""
    assert _arrived(ALL[1:]) == "page of severity P0 at receiver P0: seen 0 notifications firing; expected one"
    assert "2 notifications firing; expected one" in _arrived([*ALL, ALL[0]])
    assert _arrived([*ALL, _page("P0", "P3")]) == (
        "page of severity P0 at receiver P3: seen 1 notifications firing; expected none: it is another's"
    )
    assert "0 notifications resolved" in _arrived(ALL, "resolved")
    assert _arrived([_page(s, s, "resolved") for s in paging.SEVERITIES], "resolved") == ""


def test_receiver_that_is_not_told_of_ends_is_not_expected_to_be() -> None:
    told = {name: boxes for name, boxes in BOXES.items() if name != "P3"}
    ended = [_page(s, s, "resolved") for s in ("P0", "P1", "P2")]
    assert paging.arrived(ended, "n", "resolved", told, BOXES) == []


@pytest.mark.parametrize("missing", ["summary", "runbook_url"])
def test_page_that_does_not_say_enough_is_named(missing: str) -> None:
    assert paging.complete(ALL, "n") == []
    assert _text(paging.complete([_page("P0", "P0", **{missing: ""})], "n")) == (
        f"page at receiver P0: seen no {missing}; expected a {missing}"
    )
    assert paging.runbooks(ALL, "n") == {"docs/runbooks/x.md"}


def _counted(*lines: str) -> Any:  # noqa: ANN401  # samples, whose type is the parser's own matter
    return parse("\n".join(lines))


def test_sent_notifications_are_counted_by_receiver() -> None:
    before = _counted(
        'alertmanager_notifications_total{receiver_name="P0"} 1',
        'alertmanager_notifications_total{receiver_name="P1"} 1',
    )
    after = _counted(
        'alertmanager_notifications_total{receiver_name="P0"} 2',
        'alertmanager_notifications_total{receiver_name="P1"} 1',
        'alertmanager_notifications_failed_total{receiver_name="P0",reason="other"} 1',
    )
    assert _text(paging.sent(before, after, ["P0", "P1"])).splitlines() == [
        "receiver P0: seen 1 notifications failed; expected none",
        "receiver P1: seen no notification sent; expected at least one",
    ]
    whole = [_counted(f'alertmanager_notifications_total{{integration="webhook"}} {n}') for n in (1, 2)]
    assert paging.sent(whole[0], whole[1], ["P0", "P1"]) == []
    assert "receivers: seen no notification sent" in _text(paging.sent(whole[0], whole[0], ["P0"]))


def test_watchdog_must_be_heard() -> None:
    heard = {"receiver": "watchdog", "payload": {"status": "firing"}}
    assert paging.watchdog([heard], {"watchdog"}, 300) == []
    assert "no Watchdog within 300 s" in _text(paging.watchdog([], {"watchdog"}, 300))
    assert paging.watchdog([heard | {"payload": {"status": "resolved"}}], {"watchdog"}, 300)


OWN = parse(f"alertmanager_config_hash {config_hash(RENDERED)!r}\nalertmanager_config_last_reload_successful 1\n")
REVISION = revision({"alertmanager.yml": RENDERED})


def test_rendered_configuration_runs() -> None:
    assert alertmanager.runs(RENDERED, RENDERED, OWN, REVISION) == []
    assert alertmanager.runs(RENDERED, RENDERED, OWN, None) == []


def test_other_configuration_is_named() -> None:
    other = RENDERED.replace("receiver: P0", "receiver: P3")
    assert "differs; expected as rendered" in _text(alertmanager.runs(other, RENDERED, OWN, REVISION))
    assert "it cannot be read" in _text(alertmanager.runs("a: [", RENDERED, OWN, REVISION))
    assert alertmanager.runs("", RENDERED, OWN, REVISION)
    failed = parse("alertmanager_config_hash 1\nalertmanager_config_last_reload_successful 0\n")
    text = _text(alertmanager.runs(RENDERED, RENDERED, failed, "other"))
    assert "alertmanager_config_hash: seen 1; expected" in text
    assert "alertmanager_config_last_reload_successful: seen 0; expected 1" in text
    assert f"revision {REVISION}; expected revision other of the contract" in text
    assert "no such series" in _text(alertmanager.runs(RENDERED, RENDERED, [], REVISION))


ACCEPTED = alertmanager.addresses(
    Endpoint(service="alertmanager", port=9093),
    "plumbline",
    {"spec": {"clusterIP": "10.99.0.5"}},
    [{"ports": [{"port": 9093}], "endpoints": [{"addresses": ["10.88.0.6"]}]}],
)


def _connected(active: list[str], dropped: list[str] | None = None, *, exclusive: bool = True) -> str:
    told = {
        "activeAlertmanagers": [{"url": f"http://{host}/api/v2/alerts"} for host in active],
        "droppedAlertmanagers": [{"url": f"http://{host}/api/v2/alerts"} for host in dropped or []],
    }
    return _text(alertmanager.connected(told, [ACCEPTED], exclusive=exclusive))


@pytest.mark.parametrize("host", ["alertmanager.plumbline.svc:9093", "10.99.0.5:9093", "10.88.0.6:9093"])
def test_contracted_alertmanager_is_the_only_one(host: str) -> None:
    assert _connected([host]) == ""
    assert "Alertmanager other:9093: seen active; expected not told" in _connected([host, "other:9093"])
    assert _connected([host, "other:9093"], exclusive=False) == ""
    assert "Alertmanager old:9093: seen dropped by relabelling" in _connected([host], ["old:9093"])
    assert "active are none" in _connected([])
    assert "active are other:9093" in _connected(["other:9093"], exclusive=False)
    assert _connected([host, host])


def test_alerts_flow_and_none_is_lost() -> None:
    sent = [objects.series(3)]
    assert alertmanager.flowing(sent, [objects.series(0)]) == []
    assert "none sent" in _text(alertmanager.flowing([objects.series(0)], []))
    lost = [objects.series(2, alertmanager="http://a:9093")]
    assert "(http://a:9093): seen 2 failed or dropped; expected none" in _text(alertmanager.flowing(sent, lost))
