"""Text as the pinned exporter writes it: order, escapes, numbers, refusals.

Expected lines come from upstream's tests of the tag (internal/pkg/rendermetrics/render_metrics_test.go) and from the
rules of Go's strconv.
"""

from __future__ import annotations

import pytest

from sandbox.workloads.gpu.exposition import Family, RenderError, labels, number, render

UPSTREAM = [
    ("gpu", "0"),
    ("UUID", "GPU-test-uuid-0000-0000-0000-000000000000"),
    ("pci_bus_id", ""),
    ("device", "testdevice"),
    ("modelName", "Test GPU Model"),
    ("hostname", "testhost"),
]


def family(*samples: tuple[list[tuple[str, str]], float], name: str = "TEST_METRIC", text: str = "") -> Family:
    """A gauge."""
    return Family(name, "gauge", text, [(labels(pairs), value) for pairs, value in samples])


def test_page_of_upstreams_own_test() -> None:
    assert render([family((UPSTREAM, 42))]) == (
        "# HELP TEST_METRIC \n"
        "# TYPE TEST_METRIC gauge\n"
        'TEST_METRIC{gpu="0",UUID="GPU-test-uuid-0000-0000-0000-000000000000",pci_bus_id="",device="testdevice",'
        'modelName="Test GPU Model",hostname="testhost"} 42\n'
    )


def test_text_is_escaped() -> None:
    pairs = [("modelName", 'Model "Quoted"'), ("hostname", "host\\name"), ("pod", 'pod "quoted"\nnext')]
    page = render([family((pairs, 42), text="help with slash \\ and newline\nescaped")])
    assert r"# HELP TEST_METRIC help with slash \\ and newline\nescaped" in page
    assert r'modelName="Model \"Quoted\"",hostname="host\\name",pod="pod \"quoted\"\nnext"' in page


def test_families_are_ordered_by_name_and_samples_by_label_signature() -> None:
    # Signatures begin with the alphabetically first label: GPU_I_ID, then UUID; each with its length in front.
    first, second = [("gpu", "7"), ("UUID", "GPU-a")], [("gpu", "0"), ("UUID", "GPU-b")]
    instance = [("gpu", "3"), ("UUID", "GPU-0"), ("GPU_I_ID", "7")]
    page = render([family((second, 2), (instance, 3), (first, 1), name="B"), family((first, 1), name="A")])
    assert [line.rpartition(" ")[2] for line in page.splitlines() if not line.startswith("#")] == ["1", "1", "2", "3"]
    assert page.index("# TYPE A") < page.index("# TYPE B")


def test_family_without_samples_is_left_out() -> None:
    assert render([family()]) == ""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0"),
        (1, "1"),
        (-1, "-1"),
        (42, "42"),
        (0.25, "0.25"),
        (350.123456, "350.123456"),
        (999999, "999999"),
        (1000000, "1e+06"),
        (1234567, "1.234567e+06"),
        (1234567890123, "1.234567890123e+12"),
        (0.0001, "0.0001"),
        (0.000012, "1.2e-05"),
        (9223372036854775794, "9.223372036854776e+18"),
        (1e22, "1e+22"),
    ],
)
def test_numbers_are_written_as_go_writes_them(value: float, expected: str) -> None:
    assert number(value) == expected


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("1bad", "v")], "invalid Prometheus label name"),
        ([("__name__", "v")], "reserved Prometheus label name"),
        ([("gpu", "0"), ("gpu", "shadow")], "duplicate label name"),
    ],
)
def test_label_that_upstream_refuses_is_refused(pairs: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(RenderError, match=message):
        labels(pairs)


def test_same_series_twice_is_refused() -> None:
    with pytest.raises(RenderError, match="duplicate sample labels"):
        render([family((UPSTREAM, 1), (UPSTREAM, 2))])


def test_invalid_metric_name_is_refused() -> None:
    with pytest.raises(RenderError, match="invalid Prometheus metric name"):
        render([family((UPSTREAM, 1), name="bad.metric")])
