"""The process `server`: everything under `/api` but house and auth."""

from __future__ import annotations

import contextlib
import logging
import threading
from typing import TYPE_CHECKING, Final

from sandbox.swanlab_server import migrating, runs, stores, web
from sandbox.swanlab_server.context import Context
from sandbox.swanlab_server.database import Database
from sandbox.swanlab_server.points import Points
from sandbox.swanlab_server.routes import ENDPOINTS
from sandbox.swanlab_server.sessions import Sessions
from sandbox.swanlab_server.storage import Storage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.applications import Starlette

    from sandbox.swanlab_server.settings import ApiSettings

_log = logging.getLogger(__name__)
_OFTEN: Final = 30.0
"""Seconds between two looks for silent runs, at most."""


def app(settings: ApiSettings) -> Starlette:
    """The application, after the schema was brought to its version. Raises StartError."""
    migrating.apply(settings.postgres, settings.version)
    context = Context(
        database=Database(settings.postgres, settings.version),
        sessions=Sessions(settings.redis),
        storage=Storage(settings.s3),
        points=Points(settings.clickhouse),
    )

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        stop = threading.Event()
        clock = threading.Thread(target=watch, args=(context.database, settings.abort_after, stop), daemon=True)
        clock.start()
        yield
        stop.set()
        context.database.close()

    return web.application(web.Server(context=context, identify=context.sessions.account), ENDPOINTS, lifespan)


def watch(database: Database, abort_after: int, stop: threading.Event) -> None:
    """Give up silent runs, again and again until told to end. abort_after: seconds of silence."""
    while not stop.wait(min(_OFTEN, abort_after / 4)):
        try:
            for cuid in runs.abort_silent(database, abort_after):
                _log.info("run %s was silent for %d seconds and counts as aborted", cuid, abort_after)
        except stores.DOWN as error:
            _log.warning("silent runs cannot be looked for: %s", type(error).__name__)
