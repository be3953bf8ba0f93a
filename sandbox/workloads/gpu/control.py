"""The control interface: incidents by HTTP and JSON, for tests alone. It listens on loopback.

GET /incidents lists what lasts; POST /incidents lets something go wrong; DELETE /incidents ends everything that lasts,
DELETE /incidents/<id> one incident. POST /tick lets DCGM sample now, so that nobody waits for the interval.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Final

from sandbox.workloads.gpu.board import IncidentError
from sandbox.workloads.gpu.web import NOT_FOUND, Request, Response, document

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.workloads.gpu.node import Node

PATH: Final = "/incidents"


def answer(node: Node, request: Request, sample: Callable[[], None]) -> Response:
    """Answer one request about a node. sample: takes a sample of DCGM's now."""
    if request.method == "POST" and request.path == "/tick":
        sample()
        return document(200, {"ticked": node.ticked})
    if request.path != PATH and not request.path.startswith(f"{PATH}/"):
        return NOT_FOUND
    if request.method == "GET":
        return document(200, node.summary())
    if request.method == "POST":
        return _play(node, request)
    if request.method == "DELETE":
        return _calm(node, request.path.removeprefix(PATH).strip("/"))
    return document(405, {"error": f"{request.method} {request.path}: GET, POST and DELETE are accepted"})


def _play(node: Node, request: Request) -> Response:
    try:
        incident = node.play(json.loads(request.body or b"null"), time.time())
    except (IncidentError, json.JSONDecodeError) as error:
        return document(400, {"error": str(error)})
    return document(201, incident.document())


def _calm(node: Node, number: str) -> Response:
    if number and not number.isdecimal():
        return document(400, {"error": f"{number!r} is no id of an incident; ids are whole numbers"})
    gone = node.calm(int(number) if number else None)
    if number and not gone:
        return document(404, {"error": f"no incident {number} lasts; GET {PATH} lists those that do"})
    return document(200, {"ended": [incident.document() for incident in gone]})
