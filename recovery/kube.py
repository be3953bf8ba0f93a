"""The API server as the program needs it: one request at a time, JSON in and out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import quote, urlencode

from kubernetes import client
from kubernetes import config as kube_config
from urllib3.exceptions import HTTPError

from recovery.errors import RecoveryError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

Json = dict[str, Any]
_load_file: Callable[..., None] = kube_config.load_kube_config
_load_account: Callable[..., None] = kube_config.load_incluster_config
_TIMEOUT_SECONDS: Final = (5.0, 15.0)
_SHOWN: Final = 300
"""Characters of an answer's message that are shown."""
_CONFLICT: Final = 409
_PASSING: Final = frozenset({None, _CONFLICT, 429, 500, 502, 503, 504})
_METHODS: Final = {"get": "GET", "list": "GET", "patch": "PATCH"}


class ApiError(RecoveryError):
    """The API server refused, or did not answer. status: of HTTP, None without an answer."""

    def __init__(self, message: str, status: int | None) -> None:
        """message: names verb, resource and answer."""
        super().__init__(message)
        self.status = status

    @property
    def passing(self) -> bool:
        """Whether the same request may well succeed later: a conflict, an overload, no answer."""
        return self.status in _PASSING


class Api(Protocol):
    """Asks an API server."""

    def ask(self, verb: str, resource: str, path: str, *, body: Json | None = None, dry: bool = False) -> Json:
        """verb: get, list or patch (a merge patch). resource: as in RBAC, for messages. path: from `/api` on.

        dry: judged by the server and not kept. Raises ApiError.
        """
        ...


class Cluster:
    """An API server behind a kubeconfig, or behind the pod's service account, whose token is read again and again."""

    def __init__(self, kubeconfig: Path | None = None, context: str | None = None) -> None:
        """Without `kubeconfig`: the pod's service account. Asks nothing. Raises RecoveryError if neither is there."""
        configuration = client.Configuration()
        try:
            if kubeconfig is None:
                _load_account(client_configuration=configuration)
            else:
                _load_file(str(kubeconfig), context, client_configuration=configuration)
        except (kube_config.ConfigException, OSError) as error:
            where = "the service account of this pod" if kubeconfig is None else f"context {context} of {kubeconfig}"
            raise RecoveryError(
                f"{where} cannot be used ({error}); accepted: a pod with a mounted service account, or a kubeconfig "
                "and a context that is in it"
            ) from error
        configuration.retries = False
        self._server = str(configuration.host)
        self._client = client.ApiClient(configuration)

    def ask(self, verb: str, resource: str, path: str, *, body: Json | None = None, dry: bool = False) -> Json:
        """See Api."""
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/merge-patch+json"
        what = f"API server {self._server}: {verb} of {resource} {path.rpartition('?')[0] or path}"
        try:
            request = self._client.param_serialize(
                _METHODS[verb],
                f"{path}{'?dryRun=All' if dry else ''}",
                header_params=headers,
                body=body,
                auth_settings=["BearerToken"],
            )
            answer = self._client.call_api(*request, _request_timeout=_TIMEOUT_SECONDS)
            content = answer.read()  # type: ignore[no-untyped-call]  # the client is untyped
        except client.ApiException as error:
            raise ApiError(f"{what} failed ({error.reason}); is the cluster running?", error.status or None) from error
        except (kube_config.ConfigException, HTTPError, OSError) as error:
            raise ApiError(f"{what} got no answer ({_cause(error)}); is the cluster running?", None) from error
        return _answer(what, int(answer.status), content)


def path_of(group: str, namespace: str, kind: str, name: str = "", sub: str = "", **query: str) -> str:
    """Path of an object or, without `name`, of a list. group: `api/v1` or `apis/<group>/<version>`."""
    parts = [group, "namespaces", quote(namespace), kind, *(quote(part) for part in (name, sub) if part)]
    return f"/{'/'.join(parts)}{f'?{urlencode(query)}' if query else ''}"


def selector(spec: Mapping[str, Any]) -> str:
    """Label selector of a workload as a query has it. spec: its `spec.selector`. Raises RecoveryError if empty."""
    terms = [f"{key}={value}" for key, value in (spec.get("matchLabels") or {}).items()]
    for term in spec.get("matchExpressions") or ():
        key, operator, values = term["key"], term["operator"], ",".join(term.get("values") or ())
        spelled = {
            "In": f"{key} in ({values})",
            "NotIn": f"{key} notin ({values})",
            "Exists": key,
            "DoesNotExist": f"!{key}",
        }
        terms.append(spelled[operator])
    if not terms:
        raise RecoveryError("a workload has no selector, and every pod would count as its own; give it labels")
    return ",".join(terms)


def _answer(what: str, status: int, content: bytes | None) -> Json:
    try:
        document: object = json.loads(content or b"{}")
    except ValueError:
        document = None
    if not 200 <= status < 300:  # noqa: PLR2004  # the statuses of HTTP that mean success
        message = document.get("message") if isinstance(document, dict) else None
        raise ApiError(f"{what} is refused ({status}): {str(message or 'no reason')[:_SHOWN]}{_remedy(status)}", status)
    if not isinstance(document, dict):
        raise ApiError(f"{what} got no JSON object; is this an API server?", status)
    return document


def _remedy(status: int) -> str:
    return {
        401: "; the credentials are not valid: renew the kubeconfig or look at the service account",
        403: "; give the account this verb on this resource",
        404: "; name one that exists",
    }.get(status, "")


def _cause(error: Exception) -> str:
    reason = getattr(error, "reason", None) or error
    return str(reason).rsplit(": ", maxsplit=1)[-1]
