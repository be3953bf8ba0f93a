"""Judges the values of SwanLab's chart before anything is registered: rules that the chart itself does not know.

The rules are in lint_keys.py (which keys), lint_state.py (what keeps data) and lint_pods.py (what runs). Each is a
pure function over values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.errors import DeployError
from components.swanlab.chart import read
from components.swanlab.credentials import VALUES_KEYS
from components.swanlab.finding import Context, Finding
from components.swanlab.lint_keys import renamed_keys, unknown_keys
from components.swanlab.lint_pods import RULES as POD_RULES
from components.swanlab.lint_state import RULES as STATE_RULES
from components.swanlab.lint_state import postgres_mount
from components.swanlab.values import values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from components.swanlab.args import SwanlabArgs
    from components.swanlab.finding import Values

RULES: tuple[Callable[[Values, Context], Iterator[Finding]], ...] = (
    renamed_keys,
    unknown_keys,
    *STATE_RULES,
    *POD_RULES,
)


def findings(found: Values, context: Context) -> list[Finding]:
    """Every broken rule, in the order of RULES."""
    return [finding for rule in RULES for finding in rule(found, context)]


def lint(args: SwanlabArgs) -> None:
    """Judge what the chart would be given, and the chart. Raises DeployError with every broken rule.

    Reads the chart: from its path, or from its repository over the network.
    """
    chart = read(args.chart)
    given = frozenset() if args.chart.takes_secrets else frozenset(args.own) & frozenset(VALUES_KEYS)
    # The chart is handed passwords of exactly these keys; that it knows them is asked like of all others.
    handed = {store: dict.fromkeys(VALUES_KEYS[store], "") for store in sorted(given)}
    context = Context(durable=args.durable, known=chart.values, credentialed=given)
    broken = findings(values(args, handed), context) + list(postgres_mount(chart.templates, args.own))
    if broken:
        raise DeployError(
            "the values of SwanLab's chart (components/swanlab/values.py) cannot be used; nothing was changed:\n"
            + "\n".join(f"- {finding.code}: {finding.message}" for finding in broken)
        )
