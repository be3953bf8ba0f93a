"""Relabelling as Prometheus does it, for tests that ask what becomes of a target or a sample.

After https://prometheus.io/docs/prometheus/latest/configuration/configuration/#relabel_config: expressions are
anchored, `regex` is `(.*)` and `replacement` `$1` unless given, an empty value is a label that is not there.
"""

from __future__ import annotations

import re
from typing import Any

Labels = dict[str, str]
Rule = dict[str, Any]


def apply(rules: list[Rule], labels: Labels) -> Labels | None:
    """The labels after every rule, in order; None if one of them drops them."""
    found: Labels | None = dict(labels)
    for rule in rules:
        found = _one(rule, found) if found is not None else None
    return None if found is None else {name: value for name, value in found.items() if value}


def visible(labels: Labels | None) -> Labels | None:
    """What a target keeps: names with two underscores in front are gone when relabelling ends."""
    return None if labels is None else {name: value for name, value in labels.items() if not name.startswith("__")}


def _one(rule: Rule, labels: Labels) -> Labels | None:
    action, regex = rule.get("action", "replace"), re.compile(rule.get("regex", "(.*)"), re.DOTALL)
    text = rule.get("separator", ";").join(labels.get(name, "") for name in rule.get("source_labels", ()))
    replacement = re.sub(r"\$\{?(\d+)\}?", r"\\\1", rule.get("replacement", "$1"))
    if action in ("keep", "drop"):
        return labels if bool(regex.fullmatch(text)) == (action == "keep") else None
    if action in ("labeldrop", "labelkeep"):
        return {n: v for n, v in labels.items() if bool(regex.fullmatch(n)) == (action == "labelkeep")}
    if action == "labelmap":
        copies = {m.expand(replacement): v for n, v in labels.items() if (m := regex.fullmatch(n))}
        return labels | copies
    assert action == "replace", f"no such action here: {action}"
    match = regex.fullmatch(text)
    return labels if match is None else labels | {rule["target_label"]: match.expand(replacement)}
