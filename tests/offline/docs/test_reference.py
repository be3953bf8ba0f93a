"""The generated pages are those that the code gives, and say all of it."""

from __future__ import annotations

import pytest

from components.policy_exceptions import EXCEPTIONS
from signals.catalogue import PRODUCERS
from signals.xid import XIDS
from smoke.registry import CHECK_IDS
from stacks.contract import CAPABILITIES, Contract
from tests.offline.docs import names, reference
from tests.offline.signals.promtool_cases import alerts, records


def test_pages_are_fresh() -> None:
    assert reference.stale() == [], "run `python -m tests.offline.docs.reference --write`, then read the diff"


def test_a_page_that_is_stale_missing_or_left_over_is_seen(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference, "DIRECTORY", tmp_path_factory.mktemp("docs") / "reference")
    assert reference.main(["--write"]) == 0
    assert reference.main([]) == 0
    (reference.DIRECTORY / "settings.md").write_text("old")
    (reference.DIRECTORY / "checks.md").unlink()
    (reference.DIRECTORY / "gone.md").write_text("left over")
    (reference.DIRECTORY / reference.RUNBOOKS).write_text("old")
    assert reference.stale() == [reference.RUNBOOKS, "checks.md", "gone.md", "settings.md"]
    assert reference.main([]) == 1
    assert reference.main(["--wriet"]) == 2


@pytest.mark.parametrize(
    ("page", "wanted"),
    [
        ("settings.md", [f"`plumbline:{key}`" for key in names.settings()]),
        ("checks.md", [f"## `{check_id}`" for check_id in CHECK_IDS]),
        ("signals.md", [f"| `{metric.name}` |" for producer in PRODUCERS for metric in producer.metrics]),
        ("contract.md", [f"| `{key}` |" for key in (*Contract.model_fields, *CAPABILITIES)]),
        ("alerts.md", [f"| `{alert.alert}` |" for alert in alerts()] + [f"| `{r.record}` |" for r in records()]),
        ("policy.md", [f"| {exception.reason} |" for exception in EXCEPTIONS]),
        ("xid.md", [f"| {code} | {found.name} |" for code, found in XIDS.items()]),
        (reference.RUNBOOKS, [f"({alert.runbook}.md)" for alert in alerts()]),
    ],
)
def test_nothing_is_left_out(page: str, wanted: list[str]) -> None:
    text = reference.rendered()[page]
    assert [name for name in wanted if name not in text] == []
