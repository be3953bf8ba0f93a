"""The application of house, and the tables that it makes at start."""

from __future__ import annotations

import contextlib
import logging
import threading
from typing import TYPE_CHECKING, Final

from sandbox.swanlab_server import tables, web
from sandbox.swanlab_server.context import Context
from sandbox.swanlab_server.database import Database
from sandbox.swanlab_server.house import ingest, listings, records, scalars
from sandbox.swanlab_server.house.state import House
from sandbox.swanlab_server.points import Points
from sandbox.swanlab_server.sessions import Sessions
from sandbox.swanlab_server.storage import Storage
from sandbox.swanlab_server.web import Answer, Call, Endpoint

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.applications import Starlette

    from sandbox.swanlab_server.settings import ApiSettings, ClickHouse

_log = logging.getLogger(__name__)
_BASE: Final = "/api/house"
_METRICS: Final = f"{_BASE}/metrics"
_PAUSE: Final = 2.0


def health(house: House, _call: Call) -> Answer:
    """`GET /api/house/health`: 200 once the tables are there."""
    if house.ready.is_set():
        return Answer(text="OK")
    return Answer(status=503, text="the tables are not there yet: ClickHouse did not answer so far")


ENDPOINTS: Final[tuple[Endpoint[House], ...]] = (
    Endpoint("GET", f"{_BASE}/health", health, account=False),
    Endpoint("POST", f"{_BASE}/experiments/{{run}}/heartbeat", ingest.heartbeat),
    Endpoint("POST", _METRICS, ingest.metrics),
    Endpoint("GET", f"{_METRICS}/summaries/{{project}}/{{run}}", scalars.resume),
    Endpoint("POST", f"{_METRICS}/summaries", scalars.summaries),
    Endpoint("POST", f"{_METRICS}/scalar", scalars.scalar),
    Endpoint("POST", f"{_METRICS}/scalar/value", scalars.value),
    Endpoint("POST", f"{_METRICS}/scalar/export", scalars.export),
    Endpoint("POST", f"{_METRICS}/{{kind}}/keys", listings.keys),
    Endpoint("POST", f"{_METRICS}/{{kind}}/availability", listings.availability),
    Endpoint("POST", f"{_METRICS}/media", records.media),
    Endpoint("POST", f"{_METRICS}/f_media", records.all_media),
    Endpoint("GET", f"{_METRICS}/log", records.log),
    Endpoint("POST", f"{_METRICS}/log/export", records.export),
)


def app(settings: ApiSettings) -> Starlette:
    """The application; nothing need be reachable yet."""
    context = Context(
        database=Database(settings.postgres, settings.version),
        sessions=Sessions(settings.redis),
        storage=Storage(settings.s3),
        points=Points(settings.clickhouse),
    )
    house = House(context=context, vector=settings.vector_url)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        stop = threading.Event()
        maker = threading.Thread(target=make_tables, args=(settings.clickhouse, house.ready, stop), daemon=True)
        maker.start()
        yield
        stop.set()
        context.database.close()

    return web.application(web.Server(context=house, identify=context.sessions.account), ENDPOINTS, lifespan)


def make_tables(settings: ClickHouse, ready: threading.Event, stop: threading.Event) -> None:
    """Try until the tables are there or the process ends."""
    while not stop.is_set():
        try:
            tables.make(settings)
        except OSError as error:
            _log.warning("the tables cannot be made yet: %s", error)
            stop.wait(_PAUSE)
        else:
            ready.set()
            return
