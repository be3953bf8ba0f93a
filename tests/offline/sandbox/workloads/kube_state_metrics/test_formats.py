"""Numbers, quantities, names and headers: each as Go and Kubernetes write or read them."""

from __future__ import annotations

import math

import pytest

from sandbox.workloads.kube_state_metrics.labels import prometheus_labels, sanitise
from sandbox.workloads.kube_state_metrics.quantities import is_extended, milli, unit, whole
from sandbox.workloads.kube_state_metrics.text import TEXT, is_open_metrics, line, negotiate, number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-1.0, "-1"),
        (0.2, "0.2"),
        (35.7, "35.7"),
        (100000.0, "100000"),
        (123456.0, "123456"),
        (1000000.0, "1e+06"),
        (1501569018.0, "1.501569018e+09"),
        (123456.75, "123456.75"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (-2.5e-7, "-2.5e-07"),
        (1e100, "1e+100"),
        (math.inf, "+Inf"),
        (-math.inf, "-Inf"),
        (math.nan, "NaN"),
    ],
)
def test_number_as_go_writes_it(value: float, text: str) -> None:
    assert number(value) == text


def test_label_values_are_escaped() -> None:
    assert line("m", [("a", 'x"y\\z\nw')], 1.0) == 'm{a="x\\"y\\\\z\\nw"} 1\n'
    assert line("m", [], 1.0) == "m 1\n"


@pytest.mark.parametrize(
    ("quantity", "expected"),
    [
        ("0", 0.0),
        ("200m", 1.0),
        ("1500m", 2.0),
        ("100M", 1e8),
        ("1Gi", 2.0**30),
        ("1.5Ki", 1536.0),
        ("1e3", 1000.0),
        ("2E6", 2e6),
        ("1E", 1e18),
        ("1n", 1.0),
        (".5", 1.0),
        ("9Ei", float(2**63 - 1)),
    ],
)
def test_quantity_is_rounded_up_to_a_whole(quantity: str, expected: float) -> None:
    assert whole(quantity) == expected


@pytest.mark.parametrize(
    ("quantity", "expected"),
    [
        ("200m", 0.2),
        ("4300m", 4.3),
        ("100u", 0.001),
        ("3", 3.0),
        ("9223372036854775m", 9223372036854.775),
        ("9223372036854776", 9223372036854776.0),
    ],
)
def test_quantity_keeps_thousandths_while_they_fit(quantity: str, expected: float) -> None:
    assert milli(quantity) == expected


@pytest.mark.parametrize("quantity", ["", "many", "1KB", "1 Gi", "0x10", "1e", "--1"])
def test_no_quantity_is_refused(quantity: str) -> None:
    with pytest.raises(ValueError, match="is no Kubernetes quantity; accepted are"):
        whole(quantity)


@pytest.mark.parametrize("name", ["nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "rdma/hca_shared"])
def test_resource_of_a_vendor(name: str) -> None:
    assert is_extended(name)
    assert unit(name) == "integer"


@pytest.mark.parametrize(
    "name",
    ["cpu", "x.kubernetes.io/batch", "requests.x.com/a", "a/b/c", "UP.com/x", "x.com/", "x.com/_a", "/a", "a_b/c"],
)
def test_no_resource_of_a_vendor(name: str) -> None:
    assert not is_extended(name)


def test_names_are_sanitised() -> None:
    assert sanitise("nvidia.com/gpu-x") == "nvidia_com_gpu_x"


def test_labels_become_snake_case() -> None:
    assert prometheus_labels({"an.Example/teamName": "a", "0": "b"}) == (
        ("label_0", "b"),
        ("label_an_example_team_name", "a"),
    )


def test_labels_that_become_one_name_are_told_apart_in_the_order_of_their_keys() -> None:
    labels = {"app_name": "d", "app-name": "a", "app.name": "b", "appName": "c", "other": "e"}
    assert prometheus_labels(labels) == (
        ("label_app_name_conflict1", "a"),
        ("label_app_name_conflict2", "b"),
        ("label_app_name_conflict3", "c"),
        ("label_app_name_conflict4", "d"),
        ("label_other", "e"),
    )


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("", TEXT),
        ("*/*", TEXT),
        ("text/plain;version=0.0.4", TEXT),
        ("application/openmetrics-text;version=2.0.0", TEXT),
        ("application/openmetrics-text;q=0.1,text/plain;q=0.9", TEXT),
        (
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,"
            "application/openmetrics-text",
            TEXT,
        ),
        (
            "application/vnd.google.protobuf;escaping=dots,application/openmetrics-text;version=1.0.0;escaping=odd",
            "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=dots",
        ),
        ("text/plain;q=nonsense", TEXT),
        (
            "application/openmetrics-text",
            "application/openmetrics-text; version=0.0.1; charset=utf-8; escaping=underscores",
        ),
        (
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
            "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
            "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
            "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=allow-utf-8",
        ),
    ],
)
def test_format_is_negotiated(accept: str, content_type: str) -> None:
    assert negotiate(accept) == content_type
    assert is_open_metrics(content_type) == ("openmetrics" in content_type)
