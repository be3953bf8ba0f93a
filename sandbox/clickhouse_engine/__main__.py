"""Run the engine's server: `python3 -P -m sandbox.clickhouse_engine`."""

from __future__ import annotations

import logging
import os
import sys
import threading
from typing import TYPE_CHECKING, Final

import uvicorn

from sandbox.clickhouse_engine import metrics, server
from sandbox.clickhouse_engine.engine import Engine
from sandbox.clickhouse_engine.errors import EngineError
from sandbox.clickhouse_engine.settings import Settings, SettingsError, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

_log = logging.getLogger(__name__)
_GRACE: Final = 20
"""Seconds that open statements get to end after SIGTERM."""


def main(environment: Mapping[str, str]) -> int:
    """The program. 0 = told to end, 1 = it cannot start."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    try:
        settings = parse(environment)
        engine = _engine(settings)
        told = metrics.Server(settings.metrics_port, engine)
    except SettingsError as failure:
        _log.error("cannot start: %s", failure)
        return 1
    except EngineError as failure:
        _log.error("cannot open the data: %s; another process may have it open, or it is damaged", failure)
        return 1
    except OSError as failure:
        _log.error("cannot start: %s; check DATA_DIR and that METRICS_PORT is free", failure)
        return 1
    threading.Thread(target=told.serve_forever, daemon=True).start()
    _log.info("engine %s listens on port %d, metrics on %d", engine.version, settings.port, settings.metrics_port)
    uvicorn.run(
        server.app(engine, settings),
        host="0.0.0.0",  # noqa: S104  # a pod's own network; the Service decides who reaches it
        port=settings.port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_GRACE,
        server_header=False,
    )
    told.shutdown()
    engine.close()
    return 0


def _engine(settings: Settings) -> Engine:
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    engine = Engine(settings.data_dir)
    engine.value(f"CREATE DATABASE IF NOT EXISTS `{settings.database}`")
    return engine


if __name__ == "__main__":
    sys.exit(main(os.environ))
