"""Which alerts concern a run, and which runs an alert hit."""

from __future__ import annotations

import pytest

from smoke.run_evidence.facts import Board, Device, Pod, Series, Span
from smoke.run_evidence.judge_alerts import Alert, alerts, concerns, reach, scope, weighs
from smoke.run_evidence.one_alert import hit
from smoke.run_evidence.whose import missing

LIFE = Span(100.0, 200.0)
DURING = Span(150.0, 160.0)
POD = Pod("team-a", "train-0", LIFE, {"run_id": "r-42"})
MINE = Board("n1", "GPU-1", "0")
HELD = Device(MINE, POD.key, LIFE)
SCOPE = scope([POD], [HELD], {POD.key: "n1"})


def alert(span: Span, **labels: str) -> Alert:
    return Alert("X", {"alertname": "X", **labels}, span, fired=True)


@pytest.mark.parametrize(
    ("labels", "how"),
    [
        ({"node": "n1", "UUID": "GPU-1"}, "GPU"),
        ({"UUID": "GPU-1"}, "GPU"),
        ({"node": "n1"}, "node"),
        ({"namespace": "team-a", "pod": "train-0", "node": "n1"}, "pod"),
        ({"namespace": "team-a", "pod": "train-0", "UUID": "GPU-1"}, "pod"),
        ({"node": "n1", "UUID": "GPU-2"}, ""),
        ({"node": "n2", "UUID": "GPU-1"}, ""),
        ({"node": "n2"}, ""),
        ({"namespace": "team-b", "pod": "train-0"}, ""),
        ({"namespace": "team-a", "pod": "other", "node": "n1", "UUID": "GPU-1"}, ""),
        ({"namespace": "team-a"}, ""),
        ({}, ""),
    ],
    ids=str,
)
def test_narrowest_label_decides_whom_an_alert_concerns(labels: dict[str, str], how: str) -> None:
    assert concerns(Alert("X", labels, DURING, fired=True), SCOPE, 0.0) == how


@pytest.mark.parametrize(
    ("labels", "how"),
    [({"UUID": "GPU-1"}, "GPU"), ({"node": "n1"}, "node"), ({"namespace": "team-a", "pod": "train-0"}, "pod")],
    ids=["GPU", "node", "pod"],
)
def test_alert_after_the_run_let_go_is_not_its_own(labels: dict[str, str], how: str) -> None:
    """It let go at 200; 10 s are for what comes later."""
    seen = [concerns(alert(Span(begin, begin + 50), **labels), SCOPE, 10.0) for begin in (195.0, 205.0, 215.0)]
    assert seen == [how, how, ""]


def test_alert_counts_from_as_far_back_as_its_rule_looks() -> None:
    """The run let go at 200. Its rule looks back ten minutes, and its alert begins at 500."""
    late = alert(Span(500.0, 900.0), UUID="GPU-1")
    assert hit([late], [POD], [HELD], []) == []
    assert [(one.run, one.how) for one in hit([late], [POD], [HELD], [], back=600.0)] == [("r-42", "GPU")]
    assert hit([alert(Span(900.0, 950.0), UUID="GPU-1")], [POD], [HELD], [], back=600.0) == []


@pytest.mark.parametrize(
    ("query", "seconds"),
    [
        ("up == 0", 0),
        ("rate(a[10m]) > 1", 600),
        ("rate(a[5m]) > 1 and max_over_time(b[1h30m]) > 2", 5400),
        ("max_over_time(rate(a[1m])[30m:15s])", 1800),
        ("gpu:throttled:ratio > 0.1", 300),
        ("max_over_time(gpu:throttled:ratio[10m]) > 0.1", 900),
        ("node:throttled:ratio > 0.1", 420),
    ],
)
def test_rule_looks_back_as_far_as_its_ranges_and_those_of_what_it_reads(query: str, seconds: float) -> None:
    records = {"gpu:throttled:ratio": "rate(t[5m])", "node:throttled:ratio": "max_over_time(gpu:throttled:ratio[2m])"}
    assert reach(query, records) == seconds


@pytest.mark.parametrize(
    ("severity", "fired", "how", "weight"),
    [
        ("P2", True, "node", True),
        ("P3", True, "node", False),
        ("P1", False, "node", False),
        ("P3", True, "GPU", True),
        ("P3", False, "pod", True),
    ],
)
def test_alert_about_a_node_for_which_nobody_is_woken_is_no_finding(
    severity: str, how: str, *, fired: bool, weight: bool
) -> None:
    one = Alert("X", {"alertname": "X", "severity": severity}, DURING, fired=fired)
    assert weighs(one, how) is weight


def test_pending_and_firing_are_one_alert_and_a_pause_makes_two() -> None:
    labels = {"alertname": "GpuHot", "UUID": "GPU-1"}
    found = alerts(
        [
            Series("ALERTS", {**labels, "alertstate": "pending"}, ((100.0, 1.0), (115.0, 1.0))),
            Series("ALERTS", {**labels, "alertstate": "firing"}, ((130.0, 1.0), (400.0, 1.0))),
        ],
        apart=60.0,
    )
    assert [(one.span, one.fired) for one in found] == [(Span(100, 130), True), (Span(400, 400), True)]
    (pending,) = alerts([Series("ALERTS", {**labels, "alertstate": "pending"}, ((100.0, 1.0),))], 60.0)
    assert not pending.fired


def test_alert_about_a_gpu_hits_the_run_that_held_it_then() -> None:
    later = Pod("team-a", "next-0", Span(300.0, 400.0), {"run_id": "r-43"})
    beside = Pod("team-a", "beside-0", LIFE, {"run_id": "r-44"})
    devices = [HELD, Device(MINE, later.key, later.life), Device(Board("n1", "GPU-2"), beside.key, LIFE)]
    found = hit([alert(DURING, node="n1", UUID="GPU-1")], [POD, later, beside], devices, [])
    assert [(one.run, one.how) for one in found] == [("r-42", "GPU")]


def test_alert_about_a_node_hits_every_run_on_it_with_or_without_a_gpu() -> None:
    beside = Pod("team-a", "beside-0", LIFE, {"run_id": "r-44"})
    placed = [(POD.key, "n1", LIFE), (beside.key, "n1", LIFE), (("team-a", "x"), "n1", LIFE)]
    found = hit([alert(DURING, node="n1")], [POD, beside], [], placed)
    assert [(one.run, one.how) for one in found] == [("r-42", "node"), ("r-44", "node")]


@pytest.mark.parametrize(
    ("asked", "nodes", "what"),
    [
        ({POD.key: 1.0}, {POD.key: "n1"}, []),
        ({POD.key: 2.0}, {POD.key: "n1"}, ["1 of the 2 GPUs of pod team-a/train-0"]),
        ({}, {POD.key: "n1"}, []),
        (None, {}, []),
    ],
    ids=["all named", "one is not", "it asks for none", "nobody tells, but one is named"],
)
def test_gpus_that_no_series_names_are_told(
    asked: dict[tuple[str, str], float] | None, nodes: dict[tuple[str, str], str], what: list[str]
) -> None:
    assert [one for one, _ in missing([POD], [HELD], asked, nodes)] == what


@pytest.mark.parametrize("asked", [None, {}])
def test_pod_of_which_nobody_tells_anything_is_not_one_without_gpus(
    asked: dict[tuple[str, str], float] | None,
) -> None:
    assert [one for one, _ in missing([POD], [], asked, {})] == ["GPUs of pod team-a/train-0"]
