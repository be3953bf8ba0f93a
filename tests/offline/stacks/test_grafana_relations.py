"""Settings of Grafana that cannot work together are refused, with words; those that can are not."""

from __future__ import annotations

from typing import Any

import pytest

from components.errors import DeployError
from stacks.bundle import plan
from tests.offline.stacks.grafana_examples import PLUGIN, POSTGRES, THEIRS, grafana


@pytest.mark.parametrize(
    ("stack", "keys", "said"),
    [
        ("prod", {"replicas": 2}, "plumbline:grafana.replicas is 2 and plumbline:grafana.database.kind is `sqlite`"),
        ("prod", {"database": {"host": "db"}}, "plumbline:grafana.database has host, and its kind is `sqlite`"),
        (
            "prod",
            {"database": {"kind": "postgres", "host": "db"}},
            "plumbline:grafana.database.kind is `postgres` and name, user, secret missing",
        ),
        (
            "prod",
            {"database": POSTGRES | {"kind": "mysql"}},
            "plumbline:grafana.database.tls is `verify` and authority_key is missing",
        ),
        ("prod", {"root_url": "https://x.example.com/grafana"}, "plumbline:grafana.root_url https://x.example.com/gra"),
        (
            "prod",
            {"plugins": {"source": "image", "names": ["a@1"]}},
            "plumbline:grafana.plugins.source is `image` and image is missing",
        ),
        (
            "prod",
            {"plugins": {"source": "preinstall"}},
            "plumbline:grafana.plugins.source is `preinstall` and names has 0 entries",
        ),
        (
            "prod",
            {"plugins": {"names": ["a@1"]}},
            "plumbline:grafana.plugins.source is `none` and names has 1 entries",
        ),
        (
            "prod",
            {"mode": "existing"},
            "plumbline:grafana.mode is `existing` and plumbline:grafana.existing is missing",
        ),
        (
            "prod",
            {"existing": {"namespace": "x"}},
            "plumbline:grafana.mode is `managed` and plumbline:grafana.existing is set",
        ),
        (
            "prod",
            THEIRS | {"existing": {"namespace": "plumbline"}},
            "plumbline:grafana.existing.namespace is `plumbline`, the stack's own",
        ),
        (
            "prod",
            THEIRS | {"existing": {"namespace": "x", "dashboard_labels": {}}},
            "plumbline:grafana.existing.dashboard_labels is empty",
        ),
        (
            "prod",
            THEIRS | {"existing": {"namespace": "x", "datasource_labels": {"a b": "1"}}},
            "plumbline:grafana.existing.datasource_labels has `a b`",
        ),
        (
            "prod",
            THEIRS | {"plugins": PLUGIN | {"image": "r.example.org/p:1"}},
            "plumbline:grafana.plugins.image is set, and plumbline:grafana.mode is `existing`",
        ),
    ],
)
def test_settings_that_cannot_work_together_are_refused_with_words(stack: str, keys: dict[str, Any], said: str) -> None:
    with pytest.raises(DeployError) as caught:
        grafana(stack, **keys)
    assert said in str(caught.value)
    assert "accepted: " in str(caught.value)


@pytest.mark.parametrize(
    "keys",
    [
        {"replicas": 2, "database": POSTGRES},
        {"database": POSTGRES | {"kind": "mysql", "tls": "off"}},
        {"root_url": "https://x.example.com/"},
        {"plugins": PLUGIN},
        {"plugins": {"source": "image", "names": ["a@1"], "image": "r.example.org/p:1"}},
        THEIRS,
        THEIRS | {"plugins": PLUGIN},
        {"mode": "off", "replicas": 4},
    ],
)
def test_settings_that_work_together_are_accepted(keys: dict[str, Any]) -> None:
    assert plan(grafana(**keys))
