"""The chart's values have the official keys, and their forms are checked as the official schema checks them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.offline.sandbox.chart.keys import OFFICIAL, OURS
from tests.offline.sandbox.chart.render import CHART, NAMESPACE, RELEASE, Change, helm, refusal, render

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def leaves(tree: dict[str, Any], above: str = "") -> Iterator[str]:
    """Dotted path of every value that is no mapping, and of every empty mapping."""
    for key, value in tree.items():
        path = f"{above}{key}"
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{path}.")
        else:
            yield path


def described(schema: dict[str, Any], known: dict[str, Any], above: str = "") -> Iterator[str]:
    """Dotted path of every value that the schema describes."""
    if "$ref" in schema:
        yield from described(known[schema["$ref"].rpartition("/")[2]], known, above)
    for part in schema.get("allOf", ()):
        yield from described(part, known, above)
    for key, inner in schema.get("properties", {}).items():
        found = list(described(inner, known, f"{above}{key}."))
        yield from found or [f"{above}{key}"]


def keys(chart: Path) -> set[str]:
    """Every key of a chart's values."""
    return set(leaves(yaml.safe_load((chart / "values.yaml").read_text())))


def test_every_official_key_is_there_and_ours_are_named() -> None:
    assert keys(CHART) == OFFICIAL | OURS


@pytest.mark.parametrize("key", ["loginHost: ''", "host: ''\n    site: ''"])
def test_renamed_key_and_further_key_are_seen(key: str, tmp_path: Path) -> None:
    assert keys(Change("values.yaml", 'host: ""  # public', f"{key}  # public").applied(tmp_path)) != OFFICIAL | OURS


def test_schema_describes_every_key() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    assert set(leaves(yaml.safe_load((CHART / "values.yaml").read_text()))) <= set(
        described(schema, schema["definitions"])
    )


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("vector.persistence.storageSize=40G", "/vector/persistence/storageSize"),
        ("dependencies.postgres.persistence.storageSize=big", "/dependencies/postgres/persistence/storageSize"),
        ("integrations.redis.database=16", "/integrations/redis/database"),
        ("integrations.postgres.port=x", "/integrations/postgres/port"),
        ("vector.sinks.bufferMaxSize=10Gi", "/vector/sinks/bufferMaxSize"),
        ("global.podAntiAffinityPreset=softly", "/global/podAntiAffinityPreset"),
        ("service.server.image.pullPolicy=Sometimes", "/service/server/image/pullPolicy"),
        ("gateway.service.ports.web=8080", "holds one number twice"),
    ],
)
def test_wrong_value_is_refused_and_named(setting: str, told: str) -> None:
    assert told in refusal(setting)


def test_renamed_keys_are_ignored_without_a_word() -> None:
    old = [
        "global.settings.loginHost=https://a.example",
        "helper.repository=b.example/busybox",
        "service.house.logImage.tag=1",
    ]
    assert render(old) == render()


def test_ignored_keys_would_be_seen() -> None:
    assert render(["global.settings.host=https://a.example"]) != render()


@pytest.mark.parametrize("store", ["postgres", "redis", "clickhouse", "s3"])
def test_store_outside_needs_its_secret(store: str) -> None:
    places = {"s3": [f"{side}.{key}=x" for side in ("public", "private") for key in ("endpoint", "bucket")]}
    settings = [f"integrations.{store}.{key}" for key in ("enabled=true", *places.get(store, ["host=db.example"]))]
    assert f"integrations.{store}.existingSecret" in refusal(*settings)


@pytest.mark.parametrize(
    ("release", "name"), [(RELEASE, RELEASE), ("team", "team-self-hosted"), ("a" * 39, f"{'a' * 39}")]
)
def test_full_name_follows_the_release(release: str, name: str) -> None:
    done = helm("template", release, str(CHART), "--namespace", NAMESPACE, "--show-only", "templates/gateway.yaml")
    found = {(m["kind"], m["metadata"]["name"]) for m in yaml.safe_load_all(done.stdout)}
    assert ("Service", name) in found


def test_chart_says_what_it_is() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert (chart["name"], chart["version"], chart["appVersion"]) == ("self-hosted", "0.6.2", "3.1.1")
    assert "stand-in" in chart["description"]
    assert chart["annotations"]["plumbline/stand-in"] == "true"
