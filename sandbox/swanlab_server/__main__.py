"""Run one process of the stand-in: `python3 -P -m sandbox.swanlab_server server|auth|house|vector|pages`."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import sys
from typing import TYPE_CHECKING, Final

import uvicorn

from sandbox.swanlab_server import settings
from sandbox.swanlab_server.errors import StartError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.applications import Starlette

_log = logging.getLogger(__name__)
WORDS: Final = ("server", "auth", "house", "vector", "pages")
_GRACE: Final = 10
"""Seconds that open requests get to end after SIGTERM."""


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """The program. 0 = told to end, 1 = it cannot start; a wrong word exits with 2."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    parser = argparse.ArgumentParser(prog="swanlab_server", allow_abbrev=False, description="stand-in for SwanLab")
    parser.add_argument("word", choices=WORDS, help="which process")
    word = parser.parse_args(arguments).word
    try:
        return _run(word, environment)
    except (settings.SettingsError, StartError) as error:
        _log.error("%s cannot start: %s", word, error)
        return 1


def _run(word: str, environment: Mapping[str, str]) -> int:
    # Imported here: every process runs one of these, and the buffer needs none of the database drivers.
    module = importlib.import_module(f"sandbox.swanlab_server.{word}")
    if word == "vector":
        return int(module.main(settings.vector(environment)))
    if word in {"server", "house"}:
        parsed = settings.api(environment)
        return _serve(word, module.app(parsed), parsed.port)
    given = settings.auth(environment) if word == "auth" else settings.pages(environment)
    return _serve(word, module.app(given), given.port)


def _serve(word: str, app: Starlette, port: int) -> int:
    _log.info("%s is about to listen on port %d", word, port)
    uvicorn.run(
        app,
        host="0.0.0.0",  # noqa: S104  # a pod's own network; the Service decides who reaches it
        port=port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_GRACE,
        server_header=False,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
