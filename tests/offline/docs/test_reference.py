"""The generated pages are those that the code gives, and say all of it."""

from __future__ import annotations

import pytest

from signals.catalogue import PRODUCERS
from smoke.registry import CHECK_IDS
from stacks.contract import Contract
from tests.offline.docs import names, reference


def test_pages_are_fresh() -> None:
    assert reference.stale() == [], "run `python -m tests.offline.docs.reference --write`, then read the diff"


def test_a_page_that_is_stale_missing_or_left_over_is_seen(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference, "DIRECTORY", tmp_path_factory.mktemp("reference"))
    assert reference.main(["--write"]) == 0
    assert reference.main([]) == 0
    (reference.DIRECTORY / "settings.md").write_text("old")
    (reference.DIRECTORY / "checks.md").unlink()
    (reference.DIRECTORY / "gone.md").write_text("left over")
    assert reference.stale() == ["checks.md", "gone.md", "settings.md"]
    assert reference.main([]) == 1
    assert reference.main(["--wriet"]) == 2


@pytest.mark.parametrize(
    ("page", "wanted"),
    [
        ("settings.md", [f"`plumbline:{key}`" for key in names.settings()]),
        ("checks.md", [f"## `{check_id}`" for check_id in CHECK_IDS]),
        ("signals.md", [f"| `{metric.name}` |" for producer in PRODUCERS for metric in producer.metrics]),
        ("contract.md", [f"| `{key}` |" for key in Contract.model_fields]),
    ],
)
def test_nothing_is_left_out(page: str, wanted: list[str]) -> None:
    text = reference.rendered()[page]
    assert [name for name in wanted if name not in text] == []
