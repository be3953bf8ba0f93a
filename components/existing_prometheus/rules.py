"""Rule files as objects of the operator: one PrometheusRule each, same groups, same text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.errors import DeployError
from components.existing_prometheus.names import MAX_RULE_BYTES, PROMETHEUS_RULE, VERSION, object_labels
from components.objects import metadata
from signals.rules import groups, rule_files
from signals.rules.sentinel import sentinel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from components.existing_prometheus.args import ExistingPrometheusArgs
    from components.objects import Manifest
    from signals.rules.model import Group

SENTINEL = "rules-sentinel"


def rule_texts(args: ExistingPrometheusArgs) -> dict[str, str]:
    """Name of the object → its rule file as text, for every file of the stack's jobs.

    Raises DeployError for one that is too large.
    """
    found = rule_files(args.rules)
    for name, text in found.items():
        size = len(text.encode())
        if size > MAX_RULE_BYTES:
            raise DeployError(
                f"{name} has {size} bytes, and as a PrometheusRule the operator would refuse it; accepted are "
                f"{MAX_RULE_BYTES}: split it in signals/rules/__init__.py."
            )
    return {name.removesuffix(".yml"): text for name, text in found.items()}


def rule_objects(args: ExistingPrometheusArgs, revision: str) -> dict[str, Manifest]:
    """Role → PrometheusRule: every rule file, and the rule that shows from outside that this revision is evaluated."""
    found = {**groups(args.rules), f"{SENTINEL}.yml": (sentinel(revision),)}
    return {f"rule-{name.removesuffix('.yml')}": _rule(args, name.removesuffix(".yml"), g) for name, g in found.items()}


def _rule(args: ExistingPrometheusArgs, name: str, found: Iterable[Group]) -> Manifest:
    return {
        "apiVersion": VERSION,
        "kind": PROMETHEUS_RULE,
        "metadata": metadata(name, {**args.labels, **object_labels(args.namespace)}, args.namespace),
        "spec": {"groups": [group.render(args.rules.runbooks) for group in found]},
    }
