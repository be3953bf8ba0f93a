"""How a cluster is reached and read: explicit kubeconfig and context, clear words when it does not work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from components.errors import DeployError
from stacks.cluster import Access, LiveClaim, access
from tests.offline.stacks.api_server import kubeconfig, reader
from tests.offline.stacks.examples import UID, settings

if TYPE_CHECKING:
    from pathlib import Path

    from tests.offline.stacks.api_server import Server

CLAIM = {
    "metadata": {"name": "prometheus-data"},
    "spec": {"storageClassName": "standard", "resources": {"requests": {"storage": "4Gi"}}},
}
STORAGE = "/apis/storage.k8s.io/v1/storageclasses/standard"
CLASS = {"metadata": {"name": "standard"}, "provisioner": "x", "allowVolumeExpansion": True}


def test_the_named_context_is_read_not_the_current_one(tmp_path: Path, server: Server) -> None:
    server.answers["/api/v1/namespaces/kube-system"] = (200, {"metadata": {"uid": UID}})
    assert reader(tmp_path, server.url).namespace_uid("kube-system") == UID


def test_unreachable_server_is_named(tmp_path: Path, server: Server) -> None:
    with pytest.raises(
        DeployError, match=r"API server http://127\.0\.0\.1:1 \(context `other` of .*\) cannot be reached"
    ):
        reader(tmp_path, server.url, "other").namespace_uid("kube-system")


@pytest.mark.parametrize(
    ("status", "words"),
    [(401, r"credentials are not valid \(401\)"), (403, r"may not read it \(403\)"), (500, "HTTP status 500")],
)
def test_refusals_are_explained(tmp_path: Path, server: Server, status: int, words: str) -> None:
    server.answers["/api/v1/namespaces/kube-system"] = (status, {})
    with pytest.raises(DeployError, match=words):
        reader(tmp_path, server.url).namespace_uid("kube-system")


def test_cluster_without_the_namespace_is_refused(tmp_path: Path, server: Server) -> None:
    with pytest.raises(DeployError, match="has no namespace kube-system"):
        reader(tmp_path, server.url).namespace_uid("kube-system")


def test_claim_is_read_with_the_rights_of_its_class(tmp_path: Path, server: Server) -> None:
    server.answers["/api/v1/namespaces/plumbline/persistentvolumeclaims/prometheus-data"] = (200, CLAIM)
    server.answers[STORAGE] = (200, CLASS)
    expected = LiveClaim(size="4Gi", storage_class="standard", expandable=True)
    assert reader(tmp_path, server.url).claim("plumbline", "prometheus-data") == expected


def test_class_that_may_not_be_read_leaves_growth_open(tmp_path: Path, server: Server) -> None:
    server.answers["/api/v1/namespaces/plumbline/persistentvolumeclaims/prometheus-data"] = (200, CLAIM)
    server.answers[STORAGE] = (403, {})
    found = reader(tmp_path, server.url).claim("plumbline", "prometheus-data")
    assert found is not None
    assert found.expandable is None


def test_missing_claim_is_none(tmp_path: Path, server: Server) -> None:
    assert reader(tmp_path, server.url).claim("plumbline", "prometheus-data") is None


def test_marked_claims_are_found_in_every_namespace_unless_they_go_away(tmp_path: Path, server: Server) -> None:
    going = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    metas: list[dict[str, str]] = [
        {"name": "prometheus-data", "namespace": "b"},
        {"name": "prometheus-data", "namespace": "a"},
        {"name": "prometheus-data", "namespace": "c", **going},
        {"name": "other", "namespace": "d"},
    ]
    server.answers["/api/v1/persistentvolumeclaims"] = (200, {"items": [{"metadata": meta} for meta in metas]})
    found = reader(tmp_path, server.url).marked_claims({"plumbline/stack": "kind"}, "prometheus-data")
    assert found == ("a", "b")
    assert server.asked[-1].endswith("?labelSelector=app.kubernetes.io/part-of=plumbline,plumbline/stack=kind")


def test_claims_that_may_not_be_listed_are_not_judged(tmp_path: Path, server: Server) -> None:
    server.answers["/api/v1/persistentvolumeclaims"] = (403, {})
    assert reader(tmp_path, server.url).marked_claims({"plumbline/stack": "kind"}, "prometheus-data") == ()


def test_claims_that_cannot_be_listed_for_another_reason_are_an_error(tmp_path: Path, server: Server) -> None:
    server.answers["/api/v1/persistentvolumeclaims"] = (500, {})
    with pytest.raises(DeployError, match="HTTP status 500"):
        reader(tmp_path, server.url).marked_claims({"plumbline/stack": "kind"}, "prometheus-data")


def test_kubeconfig_of_the_settings_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nowhere")
    path = kubeconfig(tmp_path / "config", "http://x")
    assert access(settings("kind", cluster={"kubeconfig": str(path)})) == Access(kubeconfig=path, context="kind-kind")


def test_kubeconfig_of_the_environment_is_used_without_a_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = kubeconfig(tmp_path / "config", "http://x")
    monkeypatch.setenv("KUBECONFIG", str(path))
    assert access(settings("kind")).kubeconfig == path


def test_kubeconfig_of_the_home_is_the_last_resort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".kube").mkdir()
    path = kubeconfig(tmp_path / ".kube" / "config", "http://x")
    assert access(settings("kind")).kubeconfig == path


def test_several_kubeconfigs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/a:/b")
    with pytest.raises(DeployError, match=r"names several files \(/a:/b\)"):
        access(settings("kind"))


def test_missing_kubeconfig_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    with pytest.raises(DeployError, match=r"none cannot be read \(No such file or directory\)"):
        access(settings("kind"))


def test_missing_context_is_refused_with_those_that_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "config", "http://x")))
    with pytest.raises(DeployError, match=r"has no context `prod` .*; it has: kind-kind, other"):
        access(settings("prod"))


@pytest.mark.parametrize("text", ["", "a: [", "a: 1"])
def test_file_that_is_no_kubeconfig_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / "config").write_text(text)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    with pytest.raises(DeployError, match="is not a kubeconfig"):
        access(settings("kind"))
