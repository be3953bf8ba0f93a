"""Credentials: from the pod, from a kubeconfig, and what is said when they are missing."""

from __future__ import annotations

import base64
import json
import ssl
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from sandbox.workloads.kube_state_metrics.access import Access, AccessError, from_kubeconfig, in_cluster

if TYPE_CHECKING:
    from pathlib import Path

SERVICE = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


def service_account(directory: Path) -> Path:
    """A mounted service account."""
    (directory / "token").write_text("first\n")
    (directory / "ca.crt").write_text("authority")
    return directory


def test_token_of_the_pod_is_read_again(tmp_path: Path) -> None:
    access = in_cluster(SERVICE, service_account(tmp_path))
    assert (access.tls, access.host, access.port, access.bearer()) == (True, "10.0.0.1", 443, "first")
    (tmp_path / "token").write_text("second\n")
    assert access.bearer() == "second"


def test_outside_a_pod(tmp_path: Path) -> None:
    with pytest.raises(AccessError, match="so this is no pod: give --kubeconfig"):
        in_cluster({}, tmp_path)


@pytest.mark.parametrize("file", ["token", "ca.crt"])
def test_pod_without_its_credentials(tmp_path: Path, file: str) -> None:
    (service_account(tmp_path) / file).unlink()
    with pytest.raises(AccessError, match=f"{file} is missing: set automountServiceAccountToken"):
        in_cluster(SERVICE, tmp_path)


def test_token_that_went_away(tmp_path: Path) -> None:
    access = in_cluster(SERVICE, service_account(tmp_path))
    (tmp_path / "token").unlink()
    with pytest.raises(AccessError, match="cannot be read"):
        access.bearer()


def test_certificates_that_cannot_be_used() -> None:
    with pytest.raises(AccessError, match="certificates for h cannot be used"):
        Access(tls=True, host="h", port=1, authority=b"no certificate").context()


def test_verification_is_off_only_where_it_was_asked_for() -> None:
    assert Access(tls=True, host="h", port=1).context().verify_mode == ssl.CERT_REQUIRED
    assert Access(tls=True, host="h", port=1, verify=False).context().verify_mode == ssl.CERT_NONE


def kubeconfig(cluster: dict[str, Any], user: dict[str, Any]) -> dict[str, Any]:
    """A kubeconfig with one of each."""
    return {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {"server": "https://api.example:6443", **cluster}}],
        "users": [{"name": "u", "user": user}],
    }


def encoded(text: str) -> str:
    """Base64, as kubeconfigs hold files."""
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("write", [json.dumps, yaml.safe_dump])
def test_kubeconfig_with_files_and_data(tmp_path: Path, write: Any) -> None:  # noqa: ANN401  # two dump functions
    (tmp_path / "key.pem").write_text("key")
    user = {"client-certificate-data": encoded("certificate"), "client-key": "key.pem"}
    path = tmp_path / "kubeconfig"
    path.write_text(write(kubeconfig({"certificate-authority-data": encoded("authority")}, user)))
    access = from_kubeconfig(path)
    assert (access.tls, access.host, access.port, access.verify) == (True, "api.example", 6443, True)
    assert (access.authority, access.client, access.bearer()) == (b"authority", b"certificate\nkey", "")


def test_kubeconfig_with_a_token(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(kubeconfig({"insecure-skip-tls-verify": True}, {"token": "t"})))
    access = from_kubeconfig(path)
    assert (access.bearer(), access.verify) == ("t", False)


@pytest.mark.parametrize(
    ("cluster", "user", "message"),
    [
        ({"server": "api"}, {}, "'api' is no URL"),
        ({}, {"exec": {"command": "aws"}}, "users that run a program are not supported"),
        ({"certificate-authority": "gone.pem"}, {}, "certificate-authority .*gone.pem cannot be read"),
    ],
)
def test_kubeconfig_that_cannot_be_used(
    tmp_path: Path, cluster: dict[str, Any], user: dict[str, Any], message: str
) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(kubeconfig(cluster, user)))
    with pytest.raises(AccessError, match=message):
        from_kubeconfig(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [("[", "neither JSON nor YAML"), ("- a", "holds no mapping"), ("current-context: x", "contexts has no 'x'")],
)
def test_file_that_is_no_kubeconfig(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(text)
    with pytest.raises(AccessError, match=message):
        from_kubeconfig(path)


def test_kubeconfig_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AccessError, match="cannot be read"):
        from_kubeconfig(tmp_path / "none")
