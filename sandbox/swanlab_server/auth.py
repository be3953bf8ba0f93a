"""The process `auth`: whose session a request carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sandbox.swanlab_server import web
from sandbox.swanlab_server.sessions import Sessions
from sandbox.swanlab_server.web import Answer, Call, Endpoint

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from sandbox.swanlab_server.settings import AuthSettings


def health(_context: None, _call: Call) -> Answer:
    """`GET /api/auth/health`: the process answers; that Redis does is not its word to give."""
    return Answer(text="OK")


def identity(_context: None, call: Call) -> Answer:
    """`GET /api/auth/identity`: who calls. 401 for nobody."""
    return Answer(body={"username": call.caller.username, "name": call.caller.name})


ENDPOINTS: Final[tuple[Endpoint[None], ...]] = (
    Endpoint("GET", "/api/auth/health", health, account=False),
    Endpoint("GET", "/api/auth/identity", identity),
)


def app(settings: AuthSettings) -> Starlette:
    """The application."""
    return web.application(web.Server(context=None, identify=Sessions(settings.redis).account), ENDPOINTS)
