"""Every selector of every rule can be confined to one cluster, and nothing else of the rule changes."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import promql_parser as promql
import pytest
import yaml

from signals.rules import groups, rule_files
from signals.rules.within import within
from tests.offline.promtool import require_promtool
from tests.offline.signals.promtool_cases import INPUTS

if TYPE_CHECKING:
    from pathlib import Path

CLUSTER = 'a "b" \\ c'
INNER = ("expr", "lhs", "rhs", "vector_selector", "args", "param")


def selectors(node: Any) -> list[Any]:  # noqa: ANN401  # untyped library
    """Every vector selector of a syntax tree, in the order of the text."""
    if node is None:
        return []
    if isinstance(node, list):
        return [found for item in node for found in selectors(item)]
    if type(node).__name__ == "VectorSelector":
        return [node]
    return [found for name in INNER if hasattr(node, name) for found in selectors(getattr(node, name))]


def matchers(selector: Any) -> list[tuple[str, str, str]]:  # noqa: ANN401  # untyped library
    return sorted((m.name, str(m.op), m.value) for m in selector.matchers.matchers)


def rules(cluster: str | None) -> list[tuple[str, str]]:
    """Name and expression of every rule of every file."""
    found = groups(replace(INPUTS, cluster=cluster))
    return [
        (str(getattr(rule, "alert", None) or getattr(rule, "record", "")), rule.expr)
        for built in found.values()
        for group in built
        for rule in group.rules
    ]


def test_every_selector_of_every_rule_names_the_cluster_and_is_otherwise_as_before() -> None:
    native, confined = rules(None), rules(CLUSTER)
    assert [name for name, _ in native] == [name for name, _ in confined]
    asked = 0
    for (_, before), (name, after) in zip(native, confined, strict=True):
        old, new = selectors(promql.parse(before)), selectors(promql.parse(after))
        assert [one.name for one in new] == [one.name for one in old], name
        for there, here in zip(new, old, strict=True):
            assert [m for m in matchers(there) if m[0] != "cluster"] == matchers(here), name
            assert [m.value for m in there.matchers.matchers if m.name == "cluster"] == [CLUSTER], name
        asked += len(new)
    assert asked > len(native)


def test_without_the_matcher_every_rule_is_the_very_same_text() -> None:
    matcher = 'cluster="plain"'
    for (name, before), (_, after) in zip(rules(None), rules("plain"), strict=True):
        plain = after.replace(f"{{{matcher}}}", "").replace(f"{matcher}, ", "")
        assert plain == before, name


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("up", 'up{cluster="c"}'),
        ("up{}", 'up{cluster="c"}'),
        ('{a!=""}', '{cluster="c", a!=""}'),
        ('up{a="b",}[5m:30s] offset 5m', 'up{cluster="c", a="b",}[5m:30s] offset 5m'),
        ("rate(a:b[5m] offset -1h30m)", 'rate(a:b{cluster="c"}[5m] offset -1h30m)'),
        ("sum by (job, up) (up)", 'sum by (job, up) (up{cluster="c"})'),
        ("sum(up) without (job)", 'sum(up{cluster="c"}) without (job)'),
        ("SUM BY (job) (up) OR vector(1)", 'SUM BY (job) (up{cluster="c"}) OR vector(1)'),
        ("a * on (x) group_left b", 'a{cluster="c"} * on (x) group_left b{cluster="c"}'),
        ("a / ignoring (x) group_right (y) b", 'a{cluster="c"} / ignoring (x) group_right (y) b{cluster="c"}'),
        ("a > bool 1e-3", 'a{cluster="c"} > bool 1e-3'),
        ("a == Inf or a == NaN", 'a{cluster="c"} == Inf or a{cluster="c"} == NaN'),
        ("a @ start() # a comment", 'a{cluster="c"} @ start() # a comment'),
        ('label_replace(a, "b", "up{$1}", "c", "(.+)")', 'label_replace(a{cluster="c"}, "b", "up{$1}", "c", "(.+)")'),
        ("a{b=~'x\\'y} z', c=`{d`}", "a{cluster=\"c\", b=~'x\\'y} z', c=`{d`}"),
        ("time() - a < 5m", 'time() - a{cluster="c"} < 5m'),
    ],
)
def test_forms_of_the_language(expression: str, expected: str) -> None:
    assert within(expression, "c") == expected
    if "# a comment" not in expression:
        assert len(selectors(promql.parse(expected))) == expected.count('cluster="c"')


@pytest.mark.parametrize("broken", ["up{", "up)", "sum(up]", 'up{a="b}', "up ; up"])
def test_what_cannot_be_read_is_refused(broken: str) -> None:
    with pytest.raises(ValueError, match=r"no PromQL|closes what was not opened|is not closed"):
        within(broken, "c")


def firing(cluster: str | None, labels: str, directory: Path) -> bool:
    """Whether a node's file system with 1 % free pages, rules being confined to a cluster. labels: of its series."""
    rules_file = "rules-node.yml"
    text = rule_files(replace(INPUTS, cluster=cluster))[rules_file]
    (directory / rules_file).write_text(text, encoding="utf-8")
    values = {"node_filesystem_avail_bytes": 1, "node_filesystem_size_bytes": 100, "node_filesystem_readonly": 0}
    on = f'job="node-exporter", node="n", device="/dev/sda", mountpoint="/", {labels}'
    query = 'count(ALERTS{alertname="NodeFilesystemNearlyFull", alertstate="firing"})'
    test = {
        "interval": "1m",
        "input_series": [{"series": f"{name}{{{on}}}", "values": f"{value}x30"} for name, value in values.items()],
        "promql_expr_test": [{"expr": query, "eval_time": "20m", "exp_samples": [{"labels": "{}", "value": 1}]}],
    }
    case = directory / "case.yaml"
    case.write_text(yaml.safe_dump({"rule_files": [rules_file], "tests": [test]}), encoding="utf-8")
    command = [require_promtool(), "test", "rules", case.name]
    return subprocess.run(command, cwd=directory, capture_output=True, timeout=60, check=False).returncode == 0


@pytest.mark.parametrize(
    ("cluster", "labels", "fires"),
    [
        ("ours", 'cluster="ours", environment="dev"', True),
        ("ours", 'cluster="theirs"', False),
        ("ours", 'instance="of the team"', False),
        (None, 'instance="of the team"', True),
    ],
)
def test_series_of_somebody_else_page_nobody(cluster: str | None, labels: str, tmp_path: Path, *, fires: bool) -> None:
    assert firing(cluster, labels, tmp_path) is fires
