"""What is asked of the cluster before recovery is changed, and how each wrong answer is refused."""

from __future__ import annotations

from typing import Any

import pytest

from components.errors import DeployError
from components.secrets import fingerprint
from stacks.cluster import LiveClaim
from stacks.recovery_preflight import check_recovery
from tests.offline.stacks.examples import ROOT_SECRET, completed, settings
from tests.offline.stacks.readers import Silent
from tests.offline.stacks.swanlab_examples import ELSEWHERE
from tests.offline.stacks.test_recovery_relations import EXTERNAL, IMAGE, KEY

CLAIM = "recovery-store-data"
ACCOUNTS = {
    ("plumbline-swanlab", "points-writer"),
    ("plumbline-swanlab", "points-reader"),
    *(("plumbline-recovery", f"points-{name}") for name in ("writer", "reader", "pruner")),
}
LOGIN = {("plumbline-swanlab", "grafana-login"): frozenset({"password"})}
SECRETS = {"root": ROOT_SECRET}


class Cluster(Silent):
    """The claim of the store with its marks, and Secrets with their keys."""

    def __init__(
        self,
        size: str | None = "4Gi",
        root: str = ROOT_SECRET,
        generation: int = 1,
        secrets: dict[tuple[str, str], frozenset[str]] | None = None,
    ) -> None:
        self.size, self.root, self.generation, self.secrets = size, root, generation, secrets or {}

    def claim(self, namespace: str, name: str) -> LiveClaim | None:
        assert (namespace, name) == ("plumbline-recovery", CLAIM)
        return None if self.size is None else LiveClaim(size=self.size, storage_class="standard", expandable=True)

    def listing(self, path: str) -> list[dict[str, Any]]:
        assert path == "/api/v1/namespaces/plumbline-recovery/persistentvolumeclaims"
        if self.size is None:
            return []
        marks = {"plumbline/root": fingerprint(self.root), "plumbline/generation": str(self.generation)}
        meta = {"name": CLAIM, "labels": {"plumbline/stack": "local"}, "annotations": marks}
        return [{"metadata": meta, "status": {"phase": "Bound"}}]

    def secret_keys(self, namespace: str, name: str) -> frozenset[str] | None:
        return self.secrets.get((namespace, name))


def external() -> Any:  # noqa: ANN401  # settings of a stack
    wanted = {"mode": "managed", "image": IMAGE, "target": {"external": EXTERNAL}, "recovery_public_key": KEY}
    return settings("prod", None, swanlab={"mode": "managed", "stores": ELSEWHERE}, recovery=wanted)


@pytest.mark.parametrize("cluster", [Cluster(), Cluster(size=None), Cluster(size="2Gi")])
def test_store_that_is_as_wanted_or_can_grow_or_is_not_there_yet_is_right(cluster: Cluster) -> None:
    check_recovery(cluster, settings("local", None, secrets=SECRETS))


@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        (Cluster(size="8Gi"), "a claim cannot shrink"),
        (Cluster(root="another root secret of 32 bytes or more"), "is not the one that the data in plumbline-recovery"),
        (Cluster(generation=2), "a lower one brings back a password that was"),
    ],
)
def test_store_that_would_lock_out_or_lose_is_refused(cluster: Cluster, said: str) -> None:
    with pytest.raises(DeployError, match=said):
        check_recovery(cluster, settings("local", None, secrets=SECRETS))


def test_accounts_of_a_target_elsewhere_must_be_there_in_each_namespace_that_uses_them() -> None:
    keys = frozenset({"accessKey", "secretKey"})
    check_recovery(Cluster(secrets=dict.fromkeys(ACCOUNTS, keys) | LOGIN), external())
    for missing in ACCOUNTS:
        there = dict.fromkeys(ACCOUNTS - {missing}, keys) | LOGIN
        with pytest.raises(DeployError, match=f"Secret {'/'.join(missing)} is missing"):
            check_recovery(Cluster(secrets=there), external())
        half = there | {missing: frozenset({"accessKey"})}
        with pytest.raises(DeployError, match=f"Secret {'/'.join(missing)} has no key secretKey"):
            check_recovery(Cluster(secrets=half), external())


@pytest.mark.parametrize(
    ("login", "said"),
    [
        ({}, "Secret plumbline-swanlab/grafana-login is missing"),
        ({("plumbline-swanlab", "grafana-login"): frozenset({"user"})}, "grafana-login has no key password"),
    ],
)
def test_password_of_grafana_must_be_beside_the_pods_that_make_points(
    login: dict[tuple[str, str], frozenset[str]], said: str
) -> None:
    there = dict.fromkeys(ACCOUNTS, frozenset({"accessKey", "secretKey"}))
    with pytest.raises(DeployError, match=said):
        check_recovery(Cluster(secrets=there | login), external())


def test_derived_password_of_grafana_needs_no_secret_of_anybody() -> None:
    check_recovery(Cluster(), settings("local", None, secrets=SECRETS, grafana={"mode": "managed"}))


def test_stack_file_of_the_embedded_cluster_has_a_store_of_its_own() -> None:
    assert set(completed("local")["plumbline:recovery"]["target"]) == {"own"}
