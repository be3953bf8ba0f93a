"""Client of the control interface, for tests: incidents on an exporter, or on a node of the fleet.

`base` is where the interface is, without a path: http://127.0.0.1:9401 through a port-forward, or
http://<fleet>/nodes/<name>.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any, Final

TIMEOUT_SECONDS: Final = 10.0
_OPENER: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy reaches a loopback address


class ControlError(Exception):
    """The interface refused, or does not answer: what was asked, and what it said."""


def play(base: str, kind: str, *, gpu: int | None = None, **options: object) -> dict[str, Any]:
    """Let something go wrong; returns the incident with its id. Raises ControlError."""
    body = {"kind": kind, **({} if gpu is None else {"gpu": gpu}), **options}
    return _ask("POST", f"{base}/incidents", body)


def end(base: str, incident: dict[str, Any]) -> None:
    """End an incident that lasts. Raises ControlError."""
    _ask("DELETE", f"{base}/incidents/{incident['id']}")


def end_all(base: str) -> list[dict[str, Any]]:
    """End everything that lasts; returns what ended. Raises ControlError."""
    return list(_ask("DELETE", f"{base}/incidents")["ended"])


def status(base: str) -> dict[str, Any]:
    """Node, GPUs with index and uuid, and incidents that last. Raises ControlError."""
    return _ask("GET", f"{base}/incidents")


def tick(base: str) -> None:
    """Let DCGM sample now, so that what lasts shows at the next scrape. Raises ControlError."""
    _ask("POST", f"{base}/tick")


def _ask(method: str, url: str, body: object = None) -> dict[str, Any]:
    if not url.startswith("http://"):
        raise ControlError(f"{url}: the control interface speaks plain http")
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method)  # noqa: S310  http:// is checked above
    try:
        with _OPENER.open(request, timeout=TIMEOUT_SECONDS) as answer:
            return dict(json.loads(answer.read()))
    except urllib.error.HTTPError as error:
        raise ControlError(f"{method} {url}: {error.code}: {error.read().decode(errors='replace').strip()}") from error
    except OSError as error:
        raise ControlError(f"{method} {url}: {error}") from error
