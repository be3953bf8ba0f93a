"""Named types of the settings: the numbers they mean, and what they refuse."""

from __future__ import annotations

from decimal import Decimal

import pytest
from pydantic import TypeAdapter, ValidationError

from stacks import fields


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", Decimal(1)),
        ("500m", Decimal("0.5")),
        ("1k", Decimal(1000)),
        ("1Ki", Decimal(1024)),
        ("1.5Gi", Decimal(1610612736)),
        ("10Gi", Decimal(10737418240)),
        ("1M", Decimal(1000000)),
        ("1e3", Decimal(1000)),
        ("1E", Decimal(10) ** 18),
        ("1E3", Decimal(1000)),
        ("2Ti", Decimal(2199023255552)),
        ("1Ei", Decimal(1152921504606846976)),
    ],
)
def test_quantity_means_what_kubernetes_says(text: str, number: Decimal) -> None:
    assert fields.quantity_value(text) == number


def test_quantity_rounds_up_to_whole_bytes() -> None:
    assert fields.quantity_bytes("1500m") == 2


@pytest.mark.parametrize("text", ["", "Gi", "10GB", "10 Gi", "10gi", "-1Gi", "1,5Gi", "1Kii", "1e999999999"])
def test_quantity_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="not a Kubernetes quantity"):
        fields.quantity_value(text)


@pytest.mark.parametrize("text", ["1", "500m", "1.5Gi", "10G", "1E", "7Ei", "0.001k"])
def test_quantities_of_settings_are_plain(text: str) -> None:
    assert TypeAdapter(fields.Quantity).validate_python(text) == text


@pytest.mark.parametrize("text", ["1e3", "1E3", "+1", ".5", "1.", "1n", "1u", "0", "0Gi", "8Ei", "9" * 16, "1.0001"])
def test_other_forms_are_refused_in_settings(text: str) -> None:
    with pytest.raises(ValidationError, match=r"is not a Kubernetes quantity|must be more than 0 and less than 8Ei"):
        TypeAdapter(fields.Quantity).validate_python(text)


def test_thousandths_of_a_byte_are_refused() -> None:
    with pytest.raises(
        ValidationError, match="`512m` is thousandths of a byte: accepted is a size, for example `512Mi`"
    ):
        TypeAdapter(fields.Bytes).validate_python("512m")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("15s", 15),
        ("1h30m", 5400),
        ("15d", 1296000),
        ("2w", 1209600),
        ("1y", 31536000),
        ("500ms", 0.5),
        ("1m1ms", 60.001),
    ],
)
def test_duration_means_what_prometheus_says(text: str, seconds: float) -> None:
    assert fields.duration_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "15", "1.5h", "30m1h", "1h 30m", "1hour", "-1h", "9" * 400 + "d"])
def test_duration_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="not a Prometheus duration"):
        fields.duration_seconds(text)


@pytest.mark.parametrize(("text", "size"), [("512B", 512), ("1KB", 1024), ("8GB", 8589934592), ("1TB", 1099511627776)])
def test_sizes_of_prometheus_are_powers_of_two(text: str, size: int) -> None:
    assert fields.size_bytes(text) == size


@pytest.mark.parametrize("text", ["8Gi", "8", "8 GB", "8kB", "0GB", "1.5GB", "GB", "9" * 400 + "GB"])
def test_size_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="not a size of Prometheus"):
        fields.size_bytes(text)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (fields.Quantity, "10Gi"),
        (fields.Duration, "2h"),
        (fields.SizeRetention, "8GB"),
        (fields.DnsName, "plumbline"),
        (fields.DnsSubdomain, "gp3.csi"),
        (fields.LabelValue, "eu-west_1.a"),
        (fields.ImageRef, "quay.io/prometheus/prometheus:v3.16.0"),
        (fields.ImageRef, "localhost:5000/a/b@sha256:" + "0" * 64),
        (fields.ImageRef, "plumbline.local/prometheus:3.16.0-ab12cd34"),
        (fields.Mirror, "registry.example.com:5000/mirror"),
        (fields.KubeUid, "11111111-2222-3333-4444-555555555555"),
        (fields.HttpUrl, "https://store.example.com/api/v1/write"),
        (fields.HttpUrl, "https://git.example.com/blob/9e107d9d372bb6826bd81d3542a419d6aaaaaaaa/docs"),
        (fields.WebhookUrl, "http://alert-sink.plumbline-sandbox.svc:8080/P0"),
        (fields.SecretKey, "tls.key"),
        (fields.Text, "x"),
    ],
)
def test_types_accept(kind: type[str], text: str) -> None:
    assert TypeAdapter(kind).validate_python(text) == text


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        (fields.Quantity, "0", "more than 0"),
        (fields.Duration, "0s", "more than 0"),
        (fields.DnsName, "Plumb", "DNS label"),
        (fields.DnsName, "a" * 64, "DNS label"),
        (fields.DnsName, "-a", "DNS label"),
        (fields.DnsSubdomain, "a..b", "Kubernetes name"),
        (fields.LabelValue, "$1", "label value"),
        (fields.LabelValue, "", "label value"),
        (fields.ImageRef, "quay.io/prometheus/prometheus", "does not pin"),
        (fields.ImageRef, "quay.io/prometheus/prometheus:latest", "does not pin"),
        (fields.ImageRef, "prometheus:v3", "does not pin"),
        (fields.Mirror, "https://registry.example.com", "not a registry"),
        (fields.KubeUid, "1234", "not the uid"),
        (fields.KubeUid, "{11111111-2222-3333-4444-555555555555}", "not the uid"),
        (fields.HttpUrl, "store.example.com", "not a web address"),
        (fields.HttpUrl, "https://user:pass@store.example.com", "must not hold"),
        (fields.WebhookUrl, "http://[::1", "not a web address"),
        (fields.WebhookUrl, "https://hooks.slack.com/services/T0/B0/x", "name it by url_secret"),
        (fields.SecretKey, "a/b", "not a key"),
        (fields.Text, "  ", "must not be empty"),
    ],
)
def test_types_refuse_and_say_what_is_accepted(kind: type[str], text: str, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        TypeAdapter(kind).validate_python(text)


@pytest.mark.parametrize(
    ("kind", "address"),
    [
        (fields.HttpUrl, "https://user:canary@store.example.com"),
        (fields.WebhookUrl, "https://hooks.slack.com/services/T0/B0/canary"),
        (fields.WebhookUrl, "a.example/bot1:canary"),
    ],
)
def test_an_address_with_a_password_is_not_repeated(kind: type[str], address: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(address)
    assert "canary" not in caught.value.errors(include_input=False)[0]["msg"]
