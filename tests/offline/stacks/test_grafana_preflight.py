"""What is asked of the cluster before a Grafana is changed that keeps accounts and boards of people."""

from __future__ import annotations

from typing import Any

import pytest

from components.errors import DeployError
from components.secrets import fingerprint
from stacks.grafana_preflight import check_grafana, derives
from stacks.secrets import wanted
from tests.offline.stacks.examples import ROOT_SECRET, settings
from tests.offline.stacks.grafana_examples import POSTGRES, THEIRS, grafana, kind
from tests.offline.stacks.readers import Silent


def test_secrets_that_must_be_there_are_those_that_are_named() -> None:
    named = grafana(database=POSTGRES | {"authority_key": "ca.crt"})
    found = {name: keys for name, keys in wanted(named).items() if name.startswith("grafana")}
    assert found == {
        "grafana-login": {"password": "plumbline:grafana.admin.secret"},
        "grafana-encryption": {"key": "plumbline:grafana.encryption"},
        "grafana-db": {
            "password": "plumbline:grafana.database.secret",
            "ca.crt": "plumbline:grafana.database.authority_key",
        },
    }
    assert not [name for name in wanted(grafana(**THEIRS)) if name.startswith("grafana")]


class Remembering(Silent):
    """A cluster in which Grafana's claim remembers what its data was given."""

    def __init__(self, **annotations: str) -> None:
        self.annotations = {f"plumbline/{key}": value for key, value in annotations.items()}
        self.asked = 0

    def listing(self, path: str) -> list[dict[str, Any]]:
        assert path == "/api/v1/namespaces/plumbline/persistentvolumeclaims"
        self.asked += 1
        labels = {"plumbline/stack": "kind"}
        meta = {"name": "grafana-data", "labels": labels, "annotations": self.annotations}
        return [{"metadata": meta, "status": {"phase": "Bound"}}]


def test_another_root_secret_is_refused_before_the_database_is_opened_with_another_key() -> None:
    check_grafana(Remembering(root=fingerprint(ROOT_SECRET)), kind())
    with pytest.raises(DeployError, match="is not the one that the data in plumbline knows"):
        check_grafana(Remembering(root=fingerprint("x" * 32)), kind())


def test_lower_generation_would_bring_back_a_password_that_was_replaced() -> None:
    with pytest.raises(DeployError, match=r"plumbline:grafana\.admin\.generation is 2, and claim"):
        check_grafana(Remembering(generation="3"), kind(admin={"generation": 2}))
    check_grafana(Remembering(generation="3"), kind(admin={"generation": 4}))
    somebodys = {"secret": {"name": "a", "key": "b"}, "generation": 1}
    check_grafana(Remembering(generation="3"), kind(admin=somebodys))


def test_cluster_is_not_asked_where_nothing_is_derived() -> None:
    reader = Remembering()
    for found in (settings("prod"), grafana(**THEIRS), settings("local")):
        assert not derives(found)
        check_grafana(reader, found)
    assert reader.asked == 0
