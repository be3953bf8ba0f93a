"""S3 of SwanLab and the object store of the stack in every combination: a plan, or words that say what to do."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from components.errors import DeployError
from stacks.bundle import plan
from tests.offline.stacks.examples import settings, write_images
from tests.offline.stacks.swanlab_examples import BUCKETS, PRIVATE, PUBLIC

if TYPE_CHECKING:
    from pathlib import Path

OFF: dict[str, Any] = {"mode": "off"}
MANAGED: dict[str, Any] = {"mode": "managed"}
S3_STORES: tuple[dict[str, Any], ...] = (
    {},
    {"mode": "external", "secret": "s3-login"},
    {"mode": "external", "public": PUBLIC, "private": PRIVATE},
    {"mode": "external", "public": PUBLIC, "private": PRIVATE, "secret": "s3-login"},
)
OBJECT_STORES: tuple[dict[str, Any], ...] = (
    OFF,
    OFF | {"buckets": BUCKETS},
    MANAGED | {"buckets": []},
    MANAGED | {"buckets": BUCKETS[:1]},
    MANAGED | {"buckets": BUCKETS},
    MANAGED | {"buckets": BUCKETS, "volume": "1Mi"},
)


def refusal(stack: str, images: Path, **sections: dict[str, Any]) -> str | None:
    """What is said; None where there is a plan. A KeyError, IndexError or StopIteration would be nobody's help."""
    try:
        plan(settings(stack, images, **sections))
    except DeployError as error:
        return str(error)
    return None


@pytest.mark.parametrize("stack", ["local", "staging"])
@pytest.mark.parametrize(("policies", "planned"), [(True, 9), (False, 4)])
def test_every_combination_ends_in_a_plan_or_in_words(
    stack: str, tmp_path: Path, *, policies: bool, planned: int
) -> None:
    """Of 24: without policies no store of the stack's own, and S3 of the chart or of somebody else.

    With them also a store that is large enough: with both buckets, or with the one that SwanLab does not need.
    """
    images = write_images(tmp_path / "images.json")
    said = [
        refusal(
            stack,
            images,
            swanlab=MANAGED | {"stores": {"s3": s3}},
            object_store=store,
            network={"policies": policies},
            recovery=OFF,
        )
        for s3, store in product(S3_STORES, OBJECT_STORES)
    ]
    assert said.count(None) == planned
    for words in said:
        assert words is None or "nothing was changed" in words
        assert words is None or "accepted" in words or "fix:" in words
