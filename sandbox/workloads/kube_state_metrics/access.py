"""Where the API server is and how to prove who asks: from the pod's service account, or from a kubeconfig."""

from __future__ import annotations

import base64
import json
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where Kubernetes mounts the credentials of a pod."""


class AccessError(Exception):
    """The API server cannot be reached with what is given. The message says what is missing and what to do next."""


@dataclass(frozen=True, kw_only=True)
class Access:
    """One API server and one identity. Certificates are PEM; files are read at each use, since Kubernetes renews them.

    authority: None = the system's authorities. client: certificate and key. verify: False only where a kubeconfig
    says so.
    """

    tls: bool
    host: str
    port: int
    token: str = ""
    token_file: Path | None = None
    authority: bytes | None = None
    authority_file: Path | None = None
    client: bytes | None = None
    verify: bool = True

    def bearer(self) -> str:
        """The token as it is now, empty without one. Raises AccessError when its file cannot be read."""
        if self.token_file is None:
            return self.token
        try:
            return self.token_file.read_text().strip()
        except OSError as error:
            raise AccessError(f"token {self.token_file} cannot be read ({error.strerror}): mount it again") from error

    def context(self) -> ssl.SSLContext:
        """How to trust the server and what to show it. Raises AccessError for unusable certificates."""
        try:
            authority = self.authority_file.read_bytes() if self.authority_file else self.authority
            context = ssl.create_default_context(cadata=authority.decode() if authority else None)
            if not self.verify:
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
            if self.client is not None:
                _show(context, self.client)
        except (OSError, UnicodeDecodeError) as error:
            raise AccessError(f"certificates for {self.host} cannot be used ({error}): renew them") from error
        return context


def _show(context: ssl.SSLContext, client: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:  # the ssl module takes client certificates from files alone
        file.write(client)
        file.flush()
        context.load_cert_chain(file.name)


def in_cluster(environment: Mapping[str, str], directory: Path = SERVICE_ACCOUNT) -> Access:
    """The pod's own access, as Kubernetes hands it to every pod. Raises AccessError outside a pod."""
    host, port = environment.get("KUBERNETES_SERVICE_HOST", ""), environment.get("KUBERNETES_SERVICE_PORT", "")
    if not host or not port.isdigit():
        raise AccessError(
            "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, so this is no pod: give --kubeconfig"
        )
    token, authority = directory / "token", directory / "ca.crt"
    for path in (token, authority):
        if not path.is_file():
            raise AccessError(f"{path} is missing: set automountServiceAccountToken on the pod, or give --kubeconfig")
    return Access(tls=True, host=host, port=int(port), token_file=token, authority_file=authority)


def from_kubeconfig(path: Path) -> Access:
    """Access by the current context of a kubeconfig. Raises AccessError for one that cannot be used."""
    config = _read(path)
    context = _named(config, "contexts", "context", str(config.get("current-context", "")), path)
    cluster = _named(config, "clusters", "cluster", str(context.get("cluster", "")), path)
    user = _named(config, "users", "user", str(context.get("user", "")), path) if context.get("user") else {}
    if "exec" in user or "auth-provider" in user:
        raise AccessError(f"{path}: users that run a program are not supported: use a token or a client certificate")
    server = urlsplit(str(cluster.get("server", "")))
    if server.scheme not in {"http", "https"} or not server.hostname:
        raise AccessError(f"{path}: server {cluster.get('server')!r} is no URL; accepted is https://host:port")
    certificate, key = (_pem(user, name, path) for name in ("client-certificate", "client-key"))
    return Access(
        tls=server.scheme == "https",
        host=server.hostname,
        port=server.port or (443 if server.scheme == "https" else 80),
        token=str(user.get("token", "")),
        token_file=_beside(path, user["tokenFile"]) if user.get("tokenFile") else None,
        authority=_pem(cluster, "certificate-authority", path),
        client=certificate + b"\n" + key if certificate and key else None,
        verify=not cluster.get("insecure-skip-tls-verify", False),
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text()
    except OSError as error:
        raise AccessError(f"kubeconfig {path} cannot be read ({error.strerror}): give a readable file") from error
    try:
        config = json.loads(text)
    except ValueError:
        config = _yaml(text, path)
    if not isinstance(config, dict):
        raise AccessError(f"kubeconfig {path} holds no mapping: write it with `kubectl config view --raw`")
    return config


def _yaml(text: str, path: Path) -> object:
    """YAML where a parser is installed; the image of this program has none, and its pods need no kubeconfig."""
    try:
        import yaml  # noqa: PLC0415  # absent in the image: must not be needed to start
    except ImportError as error:
        raise AccessError(
            f"{path} is YAML and no parser is here: write it with `kubectl config view --raw -o json`"
        ) from error
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise AccessError(f"kubeconfig {path} is neither JSON nor YAML ({error}): write it again") from error


def _named(config: dict[str, Any], section: str, field: str, name: str, path: Path) -> dict[str, Any]:
    for entry in config.get(section) or []:
        if entry.get("name") == name:
            return dict(entry.get(field) or {})
    raise AccessError(f"{path}: {section} has no {name!r}: name an existing one")


def _pem(part: dict[str, Any], name: str, path: Path) -> bytes | None:
    if part.get(f"{name}-data"):
        return base64.b64decode(part[f"{name}-data"])
    if not part.get(name):
        return None
    file = _beside(path, part[name])
    try:
        return file.read_bytes()
    except OSError as error:
        raise AccessError(f"{path}: {name} {file} cannot be read ({error.strerror}): mend the path") from error


def _beside(path: Path, file: str) -> Path:
    return path.parent / file
