"""The API server over TLS: trusted by its authority alone, and shown a token or a certificate."""

from __future__ import annotations

import ssl
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sandbox.cluster import pki
from sandbox.workloads.kube_state_metrics.access import from_kubeconfig, in_cluster
from sandbox.workloads.kube_state_metrics.api import Api, ApiError
from tests.offline.sandbox.workloads.kube_state_metrics.fake_api import FakeApi, listed, pod

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PODS = "/api/v1/pods"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, a server's certificate and kubeconfigs."""
    directory = tmp_path_factory.mktemp("tls") / "pki"
    pki.ensure(directory)
    return directory


def context(certificates: Path) -> ssl.SSLContext:
    """What a server of this authority shows."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(certificates / "apiserver.crt", certificates / "apiserver.key")
    return made


@pytest.fixture
def server(certificates: Path) -> Iterator[FakeApi]:
    """A server with one pod."""
    made = FakeApi(context(certificates))
    made.lists[PODS] = [listed("7", pod("a"))]
    yield made
    made.end()


def service_account(directory: Path, authority: bytes) -> Path:
    """A mounted service account."""
    (directory / "token").write_text("abc")
    (directory / "ca.crt").write_bytes(authority)
    return directory


def environment(server: FakeApi) -> dict[str, str]:
    """What Kubernetes tells a pod about the server."""
    return {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(server.server_port)}


def test_pod_trusts_its_cluster_and_shows_its_token(server: FakeApi, certificates: Path, tmp_path: Path) -> None:
    mounted = service_account(tmp_path, (certificates / "ca.crt").read_bytes())
    objects, version = Api(in_cluster(environment(server), mounted)).list(PODS)
    assert ([obj["metadata"]["name"] for obj in objects], version) == (["a"], "7")
    assert server.requests == [(PODS, {"limit": "500"}, "Bearer abc")]


def test_server_of_another_authority_is_not_trusted(server: FakeApi, tmp_path: Path) -> None:
    pki.ensure(tmp_path / "other")
    mounted = service_account(tmp_path, (tmp_path / "other/ca.crt").read_bytes())
    with pytest.raises(ApiError, match="CERTIFICATE_VERIFY_FAILED") as failed:
        Api(in_cluster(environment(server), mounted)).list(PODS)
    assert (failed.value.status, server.requests) == (0, [])


def test_kubeconfig_shows_its_certificate(certificates: Path) -> None:
    strict = context(certificates)
    strict.verify_mode = ssl.CERT_REQUIRED
    strict.load_verify_locations(certificates / "ca.crt")
    server = FakeApi(strict)
    try:
        access = replace(from_kubeconfig(certificates / "admin.kubeconfig"), host="127.0.0.1", port=server.server_port)
        assert Api(access).list(PODS) == ([], "1")
        with pytest.raises(ApiError):
            Api(replace(access, client=None)).list(PODS)
    finally:
        server.end()
