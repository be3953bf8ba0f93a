"""Names and labels are valid before anything exists, or refused with the arithmetic."""

from __future__ import annotations

import pytest

from components.errors import DeployError
from components.images import ImagePin
from components.naming import cluster_scoped_name, labels, object_name, selector_labels, stack_label


def test_parts_are_joined() -> None:
    assert cluster_scoped_name("plumbline", "prometheus") == "plumbline-prometheus"


def test_longest_name_is_accepted() -> None:
    assert len(object_name("a" * 31, "b" * 31)) == 63


def test_longer_name_is_refused_with_the_sum() -> None:
    with pytest.raises(DeployError, match=r"has 64 characters, 63 are accepted: 32 \(a+\) \+ 31 \(b+\), joined by `-`"):
        object_name("a" * 32, "b" * 31)


@pytest.mark.parametrize("name", ["A", "a_b", "-a", ""])
def test_invalid_name_is_refused(name: str) -> None:
    with pytest.raises(DeployError, match="is not a Kubernetes name"):
        object_name(name)


def test_selectors_never_hold_a_version() -> None:
    assert "app.kubernetes.io/version" not in selector_labels("a", "b")
    assert selector_labels("a", "b").items() <= labels("a", "b", "c", "1").items()


@pytest.mark.parametrize(
    ("version", "label"), [("v3.16.0", "v3.16.0"), ("3.16.0+build", "3.16.0-build"), ("x" * 80, "x" * 63), ("1.", "1")]
)
def test_version_becomes_a_valid_label(version: str, label: str) -> None:
    assert labels("a", "b", "c", version)["app.kubernetes.io/version"] == label


@pytest.mark.parametrize(("stack", "label"), [("local", "local"), ("a b_c.", "a-b_c"), ("x" * 80, "x" * 63)])
def test_stack_becomes_a_valid_label(stack: str, label: str) -> None:
    assert stack_label(stack) == {"plumbline/stack": label}


@pytest.mark.parametrize(
    ("reference", "version"),
    [
        ("quay.io/prometheus/prometheus:v3.16.0", "v3.16.0"),
        ("localhost:5000/prometheus:v3.16.0@sha256:" + "a" * 64, "v3.16.0"),
        ("localhost:5000/prometheus@sha256:" + "a" * 64, "a" * 12),
        ("localhost:5000/prometheus", "unknown"),
    ],
)
def test_version_of_an_image(reference: str, version: str) -> None:
    assert ImagePin(reference=reference).version == version
