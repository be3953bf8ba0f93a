"""Runbooks: each is of its alerts, has the same parts, and asks for what exists with commands that only read."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import promql_parser as promql
import pytest

from signals.catalogue import PRODUCERS
from signals.catalogue.model import MetricType
from signals.rules import groups
from tests.offline.docs import names
from tests.offline.docs.commands import Example, examples
from tests.offline.docs.markdown import ROOT, Page, pages, parse
from tests.offline.signals.gate import Known, judge, with_records
from tests.offline.signals.promtool_cases import INPUTS, alerts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DIRECTORY = "docs/runbooks"
PARTS = ("What it means", "Diagnose", "Mitigate", "Undo", "Escalate")
READS = ("get", "describe", "logs")
_QUERY = re.compile(r"query '(?P<expression>[^']+)'")
_KUBECTL = re.compile(r"bin/kubectl (?:-n [\w-]+ )?(?P<verb>\S+)[^|;&<>`$]*")
_ASKED = re.compile(r'bin/kubectl get --raw "[^"]+" \| python3 -m json\.tool;')
_HEAD = re.compile(r"^Alerts?: (?P<names>.+?)\n\n", re.MULTILINE | re.DOTALL)
_SEVERITY = re.compile(r"\bP[0-3]\b")
PLACEHOLDER = re.compile(r"<[a-z]+>|…")


@cache
def runbooks() -> dict[str, Page]:
    """Stem → page, the index aside."""
    found = {page.path.removeprefix(f"{DIRECTORY}/").removesuffix(".md"): page for page in pages()}
    return {name: page for name, page in found.items() if f"{DIRECTORY}/{name}.md" == page.path and name != "README"}


@cache
def known() -> dict[str, Known]:
    """Every series that a query may name; what is asked once, by a person, is not in the catalogue."""
    found = with_records([group for file in groups(INPUTS).values() for group in file], PRODUCERS)
    target = frozenset({"cluster", "environment", "job", "instance"})
    found |= {name: Known(target, MetricType.GAUGE) for name in names.NOT_CATALOGUED}
    found["plumbline:config_revision"] = Known(target | {"revision"})
    return found


def blocks_of(name: str) -> list[Example]:
    return [found for found in examples("live") if found.name == f"runbook-{name}"]


def writes(command: str) -> list[str]:
    """What of a command does more than read; empty if it only reads."""
    if command.startswith("query() {"):
        rest = _ASKED.sub("", command)
        return [] if rest.replace(" ", "") == "query(){}" else [rest]
    if _QUERY.fullmatch(command):
        return []
    found = _KUBECTL.fullmatch(command)
    return [] if found and found["verb"] in READS else [command]


def faults(expression: str) -> list[str]:
    """What an expression names in vain."""
    try:
        return [f"{expression}: {fault}" for fault in judge(expression, known())[1].faults]
    except ValueError as error:
        return [f"{expression}: {error}"]


def expressions(page: Page) -> Iterator[str]:
    """Code spans that are PromQL over a series; a placeholder stands for a value."""
    for span in page.spans():
        text = PLACEHOLDER.sub("x", span.text)
        if not any(re.search(rf"\b{re.escape(name)}\b", text) for name in known()):
            continue
        try:
            promql.parse(text)
        except ValueError:
            continue
        yield text


def test_every_alert_has_a_runbook_and_every_runbook_an_alert() -> None:
    assert {alert.runbook for alert in alerts()} == set(runbooks())


@pytest.mark.parametrize("name", sorted(runbooks()))
def test_head_names_the_alerts_with_their_severities(name: str) -> None:
    own = [alert for alert in alerts() if alert.runbook == name]
    head = _HEAD.search((ROOT / DIRECTORY / f"{name}.md").read_text(encoding="utf-8"))
    assert head, "a line `Alerts: …` below the title"
    assert set(re.findall(r"`([A-Z][A-Za-z]+)`", head["names"])) == {alert.alert for alert in own}
    ends = {"P0", "P3"} if "P0 to P3" in head["names"] else set()
    said = set(_SEVERITY.findall(head["names"]))
    assert {alert.severity.value for alert in own} == said or said == ends


@pytest.mark.parametrize("name", sorted(runbooks()))
def test_it_has_every_part(name: str) -> None:
    titles = [line.removeprefix("## ") for line in runbooks()[name].prose if line.startswith("## ")]
    assert tuple(titles) == PARTS


@pytest.mark.parametrize("name", sorted(runbooks()))
def test_its_block_asks_first_for_its_alerts_and_only_reads(name: str) -> None:
    (block,) = blocks_of(name)
    asked, first, *rest = block.commands
    assert asked.startswith("query() {")
    assert rest, "a second command: what is behind the alert"
    found = _QUERY.fullmatch(first)
    assert found, first
    assert set(re.findall(r"[A-Z][A-Za-z]+", found["expression"])) - {"ALERTS"} == {
        alert.alert for alert in alerts() if alert.runbook == name
    }
    assert [what for command in block.commands for what in writes(command)] == []


@pytest.mark.parametrize("name", sorted(runbooks()))
def test_what_it_asks_for_is_known(name: str) -> None:
    queries = [found["expression"] for c in blocks_of(name)[0].commands if (found := _QUERY.fullmatch(c))]
    assert [fault for query in (*queries, *expressions(runbooks()[name])) for fault in faults(query)] == []


@pytest.mark.parametrize(
    "command",
    [
        "bin/kubectl delete pod x",
        "bin/kubectl -n plumbline rollout restart statefulset/alertmanager",
        "bin/kubectl get pods; rm -rf x",
        "bin/kubectl get pods > x",
        "query 'up' | tee x",
        'query() { bin/kubectl get --raw "$1" | python3 -m json.tool; bin/kubectl delete pod x; }',
        "rm x",
    ],
)
def test_a_command_that_writes_is_seen(command: str) -> None:
    assert writes(command)


@pytest.mark.parametrize(
    "command",
    ["bin/kubectl -n plumbline logs prometheus-0 --tail=20", "bin/kubectl get nodes", "query 'up{job=\"x\"} == 1'"],
)
def test_a_command_that_reads_is_none(command: str) -> None:
    assert writes(command) == []


@pytest.mark.parametrize(
    "expression",
    [
        "DCGM_FI_DEV_GPU_TEMPERATURE",
        'up{cloud="x"}',
        "sum by (gpus) (DCGM_FI_DEV_GPU_TEMP)",
        "rate(up[5m]",
        "gpu:x:max",
    ],
)
def test_a_query_in_vain_is_seen(expression: str) -> None:
    assert faults(expression)


def test_expressions_in_the_text_are_found() -> None:
    page = parse("x.md", '`up{node="…"}`, `kubectl get nodes`, `topk(3, DCGM_FI_DEV_GPU_TEMP)`, `plumbline`\n')
    assert list(expressions(page)) == ['up{node="x"}', "topk(3, DCGM_FI_DEV_GPU_TEMP)"]


def test_index_is_complete() -> None:
    index = next(page for page in pages() if page.path == f"{DIRECTORY}/README.md")
    linked: Iterable[str] = (link.text for link in index.links() if "/" not in link.text)
    assert {name.removesuffix(".md") for name in linked} == set(runbooks())
