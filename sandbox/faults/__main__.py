"""Run the proxy: `python -m sandbox.faults --upstream http://host:port --rules rules.json`. SIGHUP reads them anew."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from sandbox.faults.proxy import LOOPBACK, Call, Proxy, faulty
from sandbox.faults.reading import RulesError, read

if TYPE_CHECKING:
    from collections.abc import Sequence

_log = logging.getLogger(__name__)
_LARGEST_PORT: Final = 65535


def main(arguments: Sequence[str]) -> int:
    """The program. 0 = told to end, 1 = it cannot start; a wrong flag exits with 2."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    given = _parser().parse_args(arguments)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        rules = read(given.rules)
        with faulty(*given.upstream, rules=rules, address=(given.host, given.port), keep_host=not given.own_host) as it:
            it.told = _tell
            signal.signal(signal.SIGHUP, lambda *_: _again(it, given.rules))
            _log.info("%d rules before %s at %s", len(rules), ", ".join(given.upstream), it.url)
            stop.wait()
    except (RulesError, OSError) as error:
        _log.error("cannot start: %s", error)
        return 1
    return 0


def _again(proxy: Proxy, path: Path) -> None:
    """Rules that cannot be read leave those in force that are."""
    try:
        proxy.rules = read(path)
    except RulesError as error:
        _log.error("the rules stay as they are: %s", error)
        return
    _log.info("%d rules are in force", len(proxy.rules))


def _tell(call: Call) -> None:
    asked = call.asked
    what = f"{asked.method} {asked.path} {asked.verb}".rstrip()
    _log.info("%s (%d bytes): %s, %s", what, asked.size, call.status or "no answer", ", ".join(call.rules) or "passed")


def _url(text: str) -> str:
    try:
        parts = urlsplit(text)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.path in ("", "/")
        right = right and (parts.port is None or parts.port > 0)
    except ValueError:
        right = False
    if not right:
        raise argparse.ArgumentTypeError(f"{text!r} is no server; accepted is http://host:port or https://host:port")
    return text.rstrip("/")


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= _LARGEST_PORT):
        raise argparse.ArgumentTypeError(f"{text!r} is no port; accepted is 0 (any free one) to {_LARGEST_PORT}")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="faults", allow_abbrev=False, description="a proxy that refuses on request")
    parser.add_argument(
        "--upstream", type=_url, action="append", required=True, help="server; more than one for clients of a proxy"
    )
    parser.add_argument("--rules", type=Path, required=True, help="JSON file, see sandbox/faults/reading.py")
    parser.add_argument("--host", default=LOOPBACK, help="address to listen on")
    parser.add_argument("--port", type=_port, default=0, help="port to listen on; without it any free one")
    parser.add_argument("--own-host", action="store_true", help="show servers their own Host; breaks signed addresses")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
