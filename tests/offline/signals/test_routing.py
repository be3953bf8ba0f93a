"""Every alert reaches a receiver that fits its severity, and no inhibition hides a fault of another object."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from signals.catalogue import PRODUCERS
from signals.routing import GROUP_BY, RECEIVERS, RHYTHMS, inhibit_rules, route
from signals.rules import groups
from signals.rules.model import Alert, Severity
from tests.offline.signals.gate import EXTERNAL, judge, missing, with_records
from tests.offline.signals.promtool_cases import INPUTS, alerts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NAMES = {name: f"people-{name}" for name in RECEIVERS}
TREE = route(NAMES)
RESPONSE_SECONDS = {Severity.P0: 300, Severity.P1: 900, Severity.P2: 3600, Severity.P3: 8 * 3600}
"""By when somebody must respond, as requirement C8 has it; P3 is a working day of eight hours."""

_MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"(.*)"')
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def matches(matchers: Iterable[str], labels: Mapping[str, str]) -> bool:
    """As Alertmanager matches: a label that is missing is empty, and a regular expression is anchored."""
    return all(_one(matcher, labels) for matcher in matchers)


def _one(matcher: str, labels: Mapping[str, str]) -> bool:
    found = _MATCHER.fullmatch(matcher)
    assert found is not None, matcher
    name, operator, wanted = found.groups()
    value = labels.get(name, "")
    hit = re.fullmatch(wanted, value) is not None if "~" in operator else value == wanted
    return hit != operator.startswith("!")


def taken(labels: Mapping[str, str], node: dict[str, Any] = TREE) -> dict[str, Any]:
    """The route that takes an alert: the first child that matches, deepest first. No route here has `continue`."""
    for child in node.get("routes", ()):
        if matches(child["matchers"], labels):
            return taken(labels, child)
    return node


def seconds(duration: str) -> int:
    return sum(int(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+)([smhd])", duration))


def inhibited(target: Mapping[str, str], source: Mapping[str, str]) -> bool:
    return any(
        matches(rule["source_matchers"], source)
        and matches(rule["target_matchers"], target)
        and all(source.get(label, "") == target.get(label, "") for label in rule["equal"])
        for rule in inhibit_rules()
    )


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: f"{alert.alert}-{'-'.join(alert.labels.values())}")
def test_every_alert_goes_to_the_receiver_of_its_severity(alert: Alert) -> None:
    found = taken({"alertname": alert.alert, "severity": alert.severity.value, **alert.labels})
    assert found["receiver"] == f"people-{'watchdog' if alert.alert == 'Watchdog' else alert.severity.value}"


@pytest.mark.parametrize("severity", ["", "critical", "p0", "P4"])
def test_an_alert_without_a_known_severity_pages(severity: str) -> None:
    found = taken({"alertname": "SomebodysAlert", "severity": severity})
    assert (found is TREE, found["receiver"]) == (True, "people-P1")


def test_no_receiver_of_the_tree_is_without_a_severity_and_none_is_left_out() -> None:
    used = {TREE["receiver"], *(child["receiver"] for child in TREE["routes"])}
    assert used == set(NAMES.values())


@pytest.mark.parametrize("name", RECEIVERS)
def test_a_receiver_that_is_missing_is_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match=f"no receiver for {name}; needed is one for each of P0, P1"):
        route({key: value for key, value in NAMES.items() if key != name})


@pytest.mark.parametrize("severity", list(Severity))
def test_waiting_leaves_time_to_respond(severity: Severity) -> None:
    found = taken({"alertname": "X", "severity": severity.value})
    assert seconds(found["group_wait"]) * 30 <= RESPONSE_SECONDS[severity]
    assert seconds(found["group_interval"]) * 3 <= RESPONSE_SECONDS[severity]
    assert seconds(found["repeat_interval"]) >= RESPONSE_SECONDS[severity]


def test_the_more_severe_is_told_sooner_and_more_often() -> None:
    times = [[seconds(time) for time in (r.wait, r.interval, r.repeat)] for r in (RHYTHMS[s] for s in Severity)]
    assert times == sorted(times)
    assert all(len({row[column] for row in times}) == len(times) for column in range(3))


@pytest.mark.parametrize("severity", list(Severity))
def test_a_proof_differs_from_a_real_alert_in_time_and_grouping_alone(severity: Severity) -> None:
    real = taken({"alertname": "X", "severity": severity.value})
    proof = taken({"alertname": "PageProof", "severity": severity.value, "proof": "abc"})
    assert proof is not real
    assert proof["receiver"] == real["receiver"]
    assert proof["group_by"] == ["cluster", "proof"]
    assert (proof["group_wait"], proof["group_interval"]) == ("1s", "5s")


def test_the_watchdog_is_told_every_minute_and_to_its_own_receiver_alone() -> None:
    found = taken({"alertname": "Watchdog", "severity": "P3", "plumbline_route": "watchdog"})
    assert seconds(found["group_interval"]) == seconds(found["repeat_interval"]) == 60
    assert [child["receiver"] for child in TREE["routes"]].count(found["receiver"]) == 1


def test_groups_never_mix_clusters() -> None:
    def every(node: dict[str, Any]) -> list[dict[str, Any]]:
        return [node, *(found for child in node.get("routes", ()) for found in every(child))]

    assert all("cluster" in node["group_by"] for node in every(TREE))
    assert GROUP_BY == ("alertname", "cluster", "namespace", "node")


LOST = {"alertname": "NodeNotReady", "cluster": "c1", "node": "n1", "severity": "P1"}
DOWN = {"alertname": "ScrapeTargetDown", "cluster": "c1", "node": "n1", "job": "kubelet", "severity": "P2"}


def test_a_target_of_a_lost_node_is_not_told() -> None:
    assert inhibited(DOWN, LOST)


@pytest.mark.parametrize(
    "target",
    [
        {**DOWN, "node": "n2"},
        {**DOWN, "cluster": "c2"},
        {key: value for key, value in DOWN.items() if key != "node"},
        {**DOWN, "alertname": "GpuXidNode"},
        {**DOWN, "alertname": "NodeFilesystemReadOnly"},
        {"alertname": "Watchdog", "cluster": "c1", "node": "n1", "plumbline_route": "watchdog"},
    ],
    ids=["other node", "other cluster", "no node", "possible cause", "other fault", "watchdog"],
)
def test_nothing_else_is_hidden_by_a_lost_node(target: dict[str, str]) -> None:
    assert not inhibited(target, LOST)


def test_a_source_without_the_labels_hides_nothing() -> None:
    """Two labels that are both missing would count as equal."""
    bare = {"cluster": "c1", "severity": "P1"}
    assert not inhibited({**bare, "alertname": "ScrapeTargetDown"}, {**bare, "alertname": "NodeNotReady"})


@pytest.mark.parametrize("severity", list(Severity))
def test_proofs_of_all_severities_fire_at_once(severity: Severity) -> None:
    proof = {"alertname": "PageProof", "cluster": "c1", "environment": "dev", "proof": "abc"}
    assert not any(inhibited({**proof, "severity": severity.value}, {**proof, "severity": s.value}) for s in Severity)


def test_no_alert_hides_one_of_its_own_name() -> None:
    """A worse one of the same name on the same node may be about another GPU."""
    assert not any(inhibited({**DOWN, "alertname": a.alert}, {**LOST, "alertname": a.alert}) for a in alerts())


def test_alerts_of_inhibition_exist_and_carry_the_labels_that_are_compared() -> None:
    listed = [group for file in groups(INPUTS).values() for group in file]
    known = with_records(listed, PRODUCERS)
    by_name: dict[str, list[Alert]] = {}
    for alert in alerts():
        by_name.setdefault(alert.alert, []).append(alert)
    for rule in inhibit_rules():
        named = [m for key in ("source_matchers", "target_matchers") for m in rule[key] if m.startswith("alertname")]
        for name in (name for matcher in named for name in re.findall(r"[A-Z]\w+", matcher)):
            for alert in by_name[name]:
                labels = judge(alert.expr, known)[0] | set(alert.labels) | EXTERNAL
                assert missing(rule["equal"], labels) == [], name
