"""Certificates that verify, for the names by which the processes are called, readable by their owner alone."""

from __future__ import annotations

import base64
import ipaddress
import stat
from typing import TYPE_CHECKING

import pytest
import yaml
from cryptography import x509
from cryptography.x509.oid import NameOID
from cryptography.x509.verification import PolicyBuilder, Store

from sandbox.cluster import pki

if TYPE_CHECKING:
    from pathlib import Path

API_NAMES = [
    *("kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"),
    *("10.203.0.1", "10.203.16.1", "127.0.0.1"),
]
CLIENTS = {
    "admin": ("plumbline-admin", "system:masters"),
    "apiserver-kubelet": ("kube-apiserver-kubelet-client", "system:masters"),
    "controller-manager": ("system:kube-controller-manager", None),
    "scheduler": ("system:kube-scheduler", None),
    "kubelet": ("system:node:plumbline", "system:nodes"),
    "kube-proxy": ("system:kube-proxy", None),
    "coredns": ("plumbline:coredns", None),
    "provisioner": ("plumbline:provisioner", None),
    "network-policy": ("plumbline:network-policy", None),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The authority of a new state."""
    directory = tmp_path_factory.mktemp("state") / "pki"
    pki.ensure(directory)
    return directory


def certificate(directory: Path, name: str) -> x509.Certificate:
    """One certificate."""
    return x509.load_pem_x509_certificate((directory / f"{name}.crt").read_bytes())


@pytest.mark.parametrize(
    ("name", "called"),
    [
        *(("apiserver", called) for called in API_NAMES),
        *(("kubelet-server", called) for called in ("plumbline", "10.203.0.1", "127.0.0.1")),
        *(("etcd", called) for called in ("localhost", "127.0.0.1")),
    ],
)
def test_server_verifies_by_each_of_its_names(made: Path, name: str, called: str) -> None:
    subject: x509.GeneralName
    try:
        subject = x509.IPAddress(ipaddress.ip_address(called))
    except ValueError:
        subject = x509.DNSName(called)
    store = Store([certificate(made, "ca")])
    chain = PolicyBuilder().store(store).build_server_verifier(subject).verify(certificate(made, name), [])
    assert chain[-1] == certificate(made, "ca")


@pytest.mark.parametrize("name", sorted(CLIENTS))
def test_client_is_issued_by_the_authority(made: Path, name: str) -> None:
    certificate(made, name).verify_directly_issued_by(certificate(made, "ca"))


@pytest.mark.parametrize(("name", "expected"), CLIENTS.items())
def test_client_has_the_name_that_its_rights_are_bound_to(
    made: Path, name: str, expected: tuple[str, str | None]
) -> None:
    subject = certificate(made, name).subject
    organisations = [a.value for a in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    assert subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value == expected[0]
    assert organisations == [expected[1]] * (expected[1] is not None)


def test_no_client_but_the_authority_can_issue(made: Path) -> None:
    constraints = certificate(made, "admin").extensions.get_extension_for_class(x509.BasicConstraints).value
    assert constraints.ca is False


def test_key_of_the_authority_is_not_kept(made: Path) -> None:
    assert not (made / "ca.key").exists()


def test_directory_and_files_are_readable_by_their_owner_alone(made: Path) -> None:
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in made.iterdir()} == {0o600}


def test_kubeconfig_leads_to_the_api_on_the_bridge(made: Path) -> None:
    content = yaml.safe_load((made / "admin.kubeconfig").read_text())
    assert content["current-context"] == "plumbline-local"
    assert content["clusters"][0]["cluster"]["server"] == "https://10.203.0.1:6443"


@pytest.mark.parametrize("name", pki.KUBECONFIGS)
def test_kubeconfig_holds_its_own_certificate(made: Path, name: str) -> None:
    content = yaml.safe_load((made / f"{name}.kubeconfig").read_text())
    (user,) = content["users"]
    held = x509.load_pem_x509_certificate(base64.b64decode(user["user"]["client-certificate-data"]))
    assert held == certificate(made, name)


def test_second_call_changes_nothing(made: Path) -> None:
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    pki.ensure(made)
    assert {path.name: path.read_bytes() for path in made.iterdir()} == before


def test_half_written_directory_is_replaced(tmp_path: Path) -> None:
    half = tmp_path / "pki.new"
    half.mkdir()
    (half / "ca.crt").write_text("half")
    (half / "of-an-older-version.key").write_text("half")
    pki.ensure(tmp_path / "pki")
    assert not half.exists()
    assert "half" not in {path.read_text() for path in (tmp_path / "pki").iterdir()}


def test_interrupted_call_leaves_nothing_that_looks_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pki, "_kubeconfig", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        pki.ensure(tmp_path / "pki")
    assert not (tmp_path / "pki").exists()
