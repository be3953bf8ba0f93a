"""One certificate authority per cluster state, its certificates, and the kubeconfigs made of them."""

from __future__ import annotations

import base64
import datetime as dt
import ipaddress
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from sandbox.cluster.layout import API_URL, BRIDGE_ADDRESS, CONTEXT, LOOPBACK, NODE_NAME, SERVICE_ADDRESS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LIFETIME: Final = dt.timedelta(days=3650)


@dataclass(frozen=True)
class Identity:
    """Who a certificate is for. `names` and `addresses` are its subject alternative names; none means client only."""

    file: str
    common_name: str
    organisation: str | None = None
    names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()


API_NAMES: Final = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "localhost",
)

IDENTITIES: Final = (
    Identity("etcd", "etcd", names=("localhost",), addresses=(LOOPBACK,)),
    Identity("etcd-client", "kube-apiserver-etcd-client"),
    Identity("apiserver", "kube-apiserver", names=API_NAMES, addresses=(BRIDGE_ADDRESS, SERVICE_ADDRESS, LOOPBACK)),
    Identity("apiserver-kubelet", "kube-apiserver-kubelet-client", "system:masters"),
    Identity("kubelet-server", f"system:node:{NODE_NAME}", "system:nodes", (NODE_NAME,), (BRIDGE_ADDRESS, LOOPBACK)),
    Identity("admin", "plumbline-admin", "system:masters"),
    Identity("controller-manager", "system:kube-controller-manager"),
    Identity("scheduler", "system:kube-scheduler"),
    Identity("kubelet", f"system:node:{NODE_NAME}", "system:nodes"),
    Identity("kube-proxy", "system:kube-proxy"),
    Identity("coredns", "plumbline:coredns"),
    Identity("provisioner", "plumbline:provisioner"),
    Identity("network-policy", "plumbline:network-policy"),
)
KUBECONFIGS: Final = (
    "admin",
    "controller-manager",
    "scheduler",
    "kubelet",
    "kube-proxy",
    "coredns",
    "provisioner",
    "network-policy",
)


def ensure(directory: Path) -> None:
    """Create the authority, certificates and kubeconfigs once; later calls change nothing.

    Written into a directory of its own and renamed, so that a killed run leaves none or all.
    """
    if directory.is_dir():
        return
    work = directory.with_name(directory.name + ".new")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(mode=0o700, parents=True)
    authority_key = ec.generate_private_key(ec.SECP256R1())
    authority = _authority(authority_key)
    _write(work / "ca.crt", authority.public_bytes(serialization.Encoding.PEM))
    service_account = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    _write(work / "service-account.key", _private_pem(service_account))
    _write(
        work / "service-account.pub",
        service_account.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ),
    )
    for identity in IDENTITIES:
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = _issue(identity, key, authority, authority_key)
        _write(work / f"{identity.file}.crt", certificate.public_bytes(serialization.Encoding.PEM))
        _write(work / f"{identity.file}.key", _private_pem(key))
    for name in KUBECONFIGS:
        _write(work / f"{name}.kubeconfig", _kubeconfig(work, name).encode())
    work.rename(directory)


def _authority(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "plumbline embedded cluster")])
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )


def _issue(
    identity: Identity,
    key: ec.EllipticCurvePrivateKey,
    authority: x509.Certificate,
    authority_key: ec.EllipticCurvePrivateKey,
) -> x509.Certificate:
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, identity.common_name)]
    if identity.organisation:
        attributes.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, identity.organisation))
    now = dt.datetime.now(dt.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name(attributes))
        .issuer_name(authority.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]), critical=False
        )
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()), critical=False)
    )
    alternatives = _alternatives(identity.names, identity.addresses)
    if alternatives:
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    return builder.sign(authority_key, hashes.SHA256())


def _alternatives(names: Sequence[str], addresses: Sequence[str]) -> list[x509.GeneralName]:
    return [
        *(x509.DNSName(name) for name in names),
        *(x509.IPAddress(ipaddress.ip_address(address)) for address in addresses),
    ]


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _private_pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _write(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)


def _kubeconfig(directory: Path, name: str) -> str:
    def inline(file: str) -> str:
        return base64.b64encode((directory / file).read_bytes()).decode()

    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": CONTEXT,
            "clusters": [
                {"name": CONTEXT, "cluster": {"server": API_URL, "certificate-authority-data": inline("ca.crt")}}
            ],
            "users": [
                {
                    "name": name,
                    "user": {
                        "client-certificate-data": inline(f"{name}.crt"),
                        "client-key-data": inline(f"{name}.key"),
                    },
                }
            ],
            "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": name}}],
        }
    )
