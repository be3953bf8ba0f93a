"""The sentinel: a rule that shows from outside which configuration is the one that runs."""

from __future__ import annotations

from signals.rules.model import Group, Record

REVISION_METRIC = "plumbline:config_revision"


def sentinel(revision: str) -> Group:
    """A series with the revision as a label; it exists only while rules of this very revision are evaluated.

    Prometheus keeps the last good configuration when a new one is refused, and a pod that is ready says nothing of
    which one it runs. The short interval keeps the proof of a roll-out short.
    """
    rule = Record(record=REVISION_METRIC, expr="vector(1)", labels={"revision": revision})
    return Group(name="plumbline-sentinel", interval="5s", rules=(rule,))
