"""The Kubernetes API as plain JSON, through one named context of one named kubeconfig."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import urllib3
from kubernetes import client, config
from urllib3.exceptions import HTTPError

from smoke import limits
from smoke.access.errors import AccessError, RefusedError, UnreachableError

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]

NOT_FOUND = 404
REDIRECT = 300
RETRY_LATER = 429
SERVER_ERROR = 500
APPS = "/apis/apps/v1"
BATCH = "/apis/batch/v1"
PLURALS = {"StatefulSet": "statefulsets", "Deployment": "deployments", "DaemonSet": "daemonsets"}


class Kube:
    """A client that never falls back to an ambient context.

    Raises AccessError when the kubeconfig or the context does not exist.
    """

    def __init__(self, kubeconfig: Path, context: str) -> None:
        self.kubeconfig = kubeconfig
        self.context = context
        self.server_time: float | None = None
        # Only partly typed.
        self._api: Any = _client(kubeconfig, context)

    def close(self) -> None:
        """Close the connections."""
        self._api.close()

    def get(self, path: str, **query: str) -> Json:
        """One object or list as the API server wrote it.

        Raises UnreachableError (no answer, 429, 5xx) or RefusedError.
        """
        body = self._request("GET", path, query)
        try:
            parsed: Json = body.json()
        except ValueError as error:
            raise UnreachableError(path, "the answer is not JSON; is this address an API server?") from error
        return parsed

    def find(self, path: str) -> Json | None:
        """As `get`, or None when the object does not exist."""
        try:
            return self.get(path)
        except RefusedError as error:
            if error.status == NOT_FOUND:
                return None
            raise

    def items(self, path: str, **query: str) -> list[Json]:
        """The members of a list."""
        members: list[Json] = self.get(path, **query).get("items") or []
        return members

    def text(self, path: str, **query: str) -> str:
        """An answer that is not JSON, for example a log."""
        return str(self._request("GET", path, query).data.decode(errors="replace"))

    def pods(self, namespace: str) -> list[Json]:
        """All pods of a namespace."""
        return self.items(f"/api/v1/namespaces/{namespace}/pods")

    def all_pods(self) -> list[Json]:
        """Pods of every namespace that have not finished."""
        unfinished = "status.phase!=Succeeded,status.phase!=Failed"
        return self.items("/api/v1/pods", fieldSelector=unfinished)

    def workload(self, namespace: str, kind: str, name: str) -> Json | None:
        """A StatefulSet, Deployment or DaemonSet, or None."""
        return self.find(f"{APPS}/namespaces/{namespace}/{PLURALS[kind]}/{name}")

    def create(self, path: str, body: Json) -> Json:
        """Create an object in the list at `path`; the object as the API server made it."""
        made: Json = self._request("POST", path, {}, body).json()
        return made

    def delete(self, path: str, uid: str) -> None:
        """Delete the object with this uid, and no other of the same name.

        uid: "" for one whose creation was interrupted before its answer; its name must be of nobody else.
        """
        only = {"preconditions": {"uid": uid}} if uid else {}
        self._request("DELETE", path, {}, {"gracePeriodSeconds": 1, **only})

    def create_pod(self, namespace: str, pod: Json) -> Json:
        """Create a pod; the object as the API server made it."""
        return self.create(f"/api/v1/namespaces/{namespace}/pods", pod)

    def delete_pod(self, namespace: str, name: str, uid: str) -> None:
        """Kill the pod with this uid, and no other of the same name. uid: as of `delete`."""
        self.delete(f"/api/v1/namespaces/{namespace}/pods/{name}", uid)

    def _request(
        self, method: str, path: str, query: dict[str, str], body: Json | None = None
    ) -> urllib3.BaseHTTPResponse:
        headers = {"Accept": "application/json, */*"} | ({"Content-Type": "application/json"} if body else {})
        call = self._api.param_serialize(
            *(method, path),
            query_params=list(query.items()),
            header_params=headers,
            body=body,
            auth_settings=["BearerToken"],
        )
        try:
            answer = self._api.call_api(*call, _request_timeout=(limits.CONNECT, limits.REQUEST))
            answer.read()
        except (HTTPError, OSError, client.ApiException) as error:
            # The client raises ApiException for a failed TLS handshake alone; a restarting server causes those.
            raise UnreachableError(f"API server of context {self.context}", _reason(error)) from error
        self._note_time(answer.response.headers.get("Date"))
        _raise_for_status(path, answer.status, answer.data)
        response: urllib3.BaseHTTPResponse = answer.response
        return response

    def _note_time(self, date: str | None) -> None:
        if date:
            self.server_time = parsedate_to_datetime(date).timestamp()


def _client(kubeconfig: Path, context: str) -> client.ApiClient:  # the client library is untyped
    if not kubeconfig.is_file():
        raise AccessError(str(kubeconfig), "there is no such kubeconfig; give --kubeconfig the file of this cluster")
    settings: Any = client.Configuration()
    load: Any = config.load_kube_config
    try:
        # persist_config: a check must not write into the user's kubeconfig, not even a refreshed token.
        load(str(kubeconfig), context, settings, persist_config=False)
    except config.ConfigException as error:
        raise AccessError(str(kubeconfig), f"context {context!r} cannot be used: {error}") from error
    # Attempts are counted by the poller, which keeps the last error.
    settings.retries = urllib3.Retry(0)
    return client.ApiClient(configuration=settings)


def _reason(error: Exception) -> str:
    cause = getattr(error, "reason", None) or error
    return f"{type(cause).__name__}: {cause}"


def _raise_for_status(path: str, status: int, body: bytes) -> None:
    if status < REDIRECT:
        return
    message = f"HTTP {status}: {body[:300].decode(errors='replace')}"
    if status == RETRY_LATER or status >= SERVER_ERROR:
        raise UnreachableError(path, message)
    raise RefusedError(path, message, status)
