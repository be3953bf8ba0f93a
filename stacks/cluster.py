"""The cluster that a stack names: how it is reached, and the few things that are read from it before any change."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import yaml
from kubernetes import client
from kubernetes import config as kube_config
from urllib3.exceptions import HTTPError

from components.errors import DeployError
from components.naming import PART_OF

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubernetes.client.rest import RESTResponse

    from stacks.settings import Settings

Json = dict[str, Any]
_load: Callable[..., None] = kube_config.load_kube_config
_TIMEOUT_SECONDS = (5.0, 15.0)
_NOT_FOUND, _UNAUTHORIZED, _FORBIDDEN = 404, 401, 403


@dataclass(frozen=True, kw_only=True)
class Access:
    """An existing kubeconfig file and a context that is in it."""

    kubeconfig: Path
    context: str


@dataclass(frozen=True, kw_only=True)
class LiveClaim:
    """A claim as it is now. size: Kubernetes quantity that it asks for. expandable: None if it could not be read."""

    size: str
    storage_class: str | None
    expandable: bool | None


class ForbiddenError(DeployError):
    """The API server knows the account and does not let it read this."""


class Reader(Protocol):
    """What is read from a cluster. All raise DeployError if it does not answer or refuses."""

    def namespace_uid(self, name: str) -> str:
        """The uid of a namespace."""

    def claim(self, namespace: str, name: str) -> LiveClaim | None:
        """A claim, None if there is none."""

    def marked_claims(self, label: dict[str, str], name: str) -> tuple[str, ...]:
        """Namespaces in which this bundle has a claim of this name and label; empty if claims may not be listed."""

    def secret_keys(self, namespace: str, name: str) -> frozenset[str] | None:
        """Keys of a Secret, None if there is none. Values are not kept."""

    def listing(self, path: str) -> list[Json]:
        """Objects of a list, by its path in the API; empty if it does not know the path. Raises ForbiddenError."""

    def schemas(self, version: str) -> dict[str, Json] | None:
        """OpenAPI schemas of a group and version (`apps/v1`), by their names. None if it is not served."""

    def clock(self) -> datetime | None:
        """What time it is there, by which it stamps its objects. None if it does not say."""


def access(settings: Settings) -> Access:
    """Where the stack's kubeconfig and context are. Raises DeployError with the contexts that the file has."""
    path = _kubeconfig(settings)
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        contexts = [str(entry["name"]) for entry in document["contexts"]]
    except OSError as error:
        raise DeployError(
            f"kubeconfig {path} cannot be read ({error.strerror}); accepted: an existing file; fix: pulumi config set "
            "--path 'plumbline:cluster.kubeconfig' <path>, or set KUBECONFIG."
        ) from error
    except (yaml.YAMLError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise DeployError(f"{path} is not a kubeconfig: it has no list `contexts`; fix: name another file.") from error
    wanted = settings.cluster.context or ""
    if wanted not in contexts:
        raise DeployError(
            f"kubeconfig {path} has no context `{wanted}` (plumbline:cluster.context of stack {settings.stack}); "
            f"it has: {', '.join(contexts) or 'none'}; fix: name one of these, or the right file in "
            "plumbline:cluster.kubeconfig."
        )
    return Access(kubeconfig=path, context=wanted)


def _kubeconfig(settings: Settings) -> Path:
    text = settings.cluster.kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config"
    if os.pathsep in text:
        raise DeployError(
            f"KUBECONFIG names several files ({text}); one is needed, so that preview and deployment read the same; "
            "fix: pulumi config set --path 'plumbline:cluster.kubeconfig' <path>."
        )
    return Path(text).expanduser().absolute()


class KubeReader:
    """Reads from a live cluster: explicit file and context, short timeouts, no retries that hide a dead server."""

    def __init__(self, where: Access) -> None:
        self._where = where
        configuration = client.Configuration()
        try:
            _load(str(where.kubeconfig), where.context, client_configuration=configuration)
        except kube_config.ConfigException as error:
            raise DeployError(f"context `{where.context}` of {where.kubeconfig} cannot be used: {error}.") from error
        configuration.retries = False
        api = client.ApiClient(configuration)
        self._server = configuration.host
        self._api = api
        self._core = client.CoreV1Api(api)
        self._storage = client.StorageV1Api(api)

    def namespace_uid(self, name: str) -> str:
        """The uid of a namespace."""
        found = self._read(self._core.read_namespace, name)
        if found is None:
            raise DeployError(f"the cluster behind context `{self._where.context}` has no namespace {name}.")
        return str(found.metadata.uid)

    def claim(self, namespace: str, name: str) -> LiveClaim | None:
        """A claim, with whether its class allows growth; None if there is no such claim."""
        found = self._read(self._core.read_namespaced_persistent_volume_claim, name, namespace)
        if found is None:
            return None
        class_name = found.spec.storage_class_name
        size = str((found.spec.resources.requests or {}).get("storage", "0"))
        return LiveClaim(size=size, storage_class=class_name, expandable=self._expandable(class_name))

    def marked_claims(self, label: dict[str, str], name: str) -> tuple[str, ...]:
        """Sorted namespaces with such a claim that is not being deleted; none if the account may not list claims."""
        wanted = {"app.kubernetes.io/part-of": PART_OF, **label}
        selector = ",".join(f"{key}={value}" for key, value in wanted.items())
        try:
            found = self._read(self._core.list_persistent_volume_claim_for_all_namespaces, label_selector=selector)
        except ForbiddenError:
            return ()
        here = [claim.metadata for claim in found.items] if found is not None else []
        return tuple(sorted(m.namespace for m in here if m.name == name and m.deletion_timestamp is None))

    def secret_keys(self, namespace: str, name: str) -> frozenset[str] | None:
        """Keys of a Secret, None if there is none."""
        found = self._read(self._core.read_namespaced_secret, name, namespace)
        return None if found is None else frozenset(found.data or {})

    def listing(self, path: str) -> list[Json]:
        """Objects of a list; empty if the API server does not know the path."""
        found = self._read(self._get, path)
        return list(found["items"]) if found else []

    def schemas(self, version: str) -> dict[str, Json] | None:
        """OpenAPI schemas of a group and version; None if it is not served. Everybody who may log in may read them."""
        found = self._read(self._get, f"/openapi/v3/apis/{version}")
        return None if found is None else dict(found["components"]["schemas"])

    def clock(self) -> datetime | None:
        """The Date of an answer, whatever else that says: a refusal has one too. HTTP knows no zone but GMT."""
        told = self._read(self._asked, "/version").headers.get("Date")
        try:
            return None if told is None else parsedate_to_datetime(told).replace(tzinfo=UTC)
        except ValueError:
            return None

    def _get(self, path: str, _request_timeout: tuple[float, float]) -> Json:
        answer = self._asked(path, _request_timeout)
        return cast("Json", self._api.response_deserialize(answer, {"200": "object"}).data)

    def _asked(self, path: str, _request_timeout: tuple[float, float]) -> RESTResponse:
        request = self._api.param_serialize("GET", path, auth_settings=["BearerToken"])
        answer = self._api.call_api(*request, _request_timeout=_request_timeout)
        answer.read()  # type: ignore[no-untyped-call]  # the client is untyped
        return answer

    def _expandable(self, class_name: str | None) -> bool | None:
        """Reading a class is a cluster-wide right that a deployer may lack; then the API server is left to judge."""
        try:
            found = self._read(self._storage.read_storage_class, class_name) if class_name else None
        except DeployError:
            return None
        return bool(found.allow_volume_expansion) if found is not None else None

    def _read(self, call: Callable[..., Any], *arguments: str, **named: str) -> Any:  # noqa: ANN401  # the client is untyped
        try:
            return call(*arguments, **named, _request_timeout=_TIMEOUT_SECONDS)
        except client.ApiException as error:
            if error.status == _NOT_FOUND:
                return None
            kind = ForbiddenError if error.status == _FORBIDDEN else DeployError
            raise kind(f"{self._place()} refuses: {_refusal(error.status)}.") from error
        except (HTTPError, OSError) as error:
            raise DeployError(
                f"{self._place()} cannot be reached: {_reason(error)}; is the cluster running, and the right one? "
                "Stack local: `make up` starts it."
            ) from error

    def _place(self) -> str:
        return f"API server {self._server} (context `{self._where.context}` of {self._where.kubeconfig})"


def _refusal(status: int | None) -> str:
    if status == _UNAUTHORIZED:
        return "its credentials are not valid (401); log in again or renew the kubeconfig"
    if status == _FORBIDDEN:
        return "this account may not read it (403); the stack needs an account that may deploy to the cluster"
    return f"HTTP status {status}"


def _reason(error: Exception) -> str:
    """The innermost cause: urllib3 wraps a refused connection in several layers of its own."""
    reason = getattr(error, "reason", None) or error
    return str(reason).rsplit(": ", maxsplit=1)[-1] if isinstance(reason, HTTPError) else str(reason)
