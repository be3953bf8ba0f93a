"""Run the program: `python3 -P -m recovery --config /etc/recovery/config.json create`."""

from __future__ import annotations

import json
import logging
import signal
import sys
from typing import TYPE_CHECKING

from recovery import asked, config, open_secrets, scheduled
from recovery.arguments import parse
from recovery.errors import RecoveryError
from recovery.outcome import FAILED
from recovery.temporary import sweep

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from recovery.outcome import Outcome

_log = logging.getLogger("recovery")
INTERRUPTED = 130


def main(arguments: Sequence[str]) -> int:
    """0 = done and good, 1 = the verdict is bad, 2 = a wrong word, 3 = it could not be done, 130 = interrupted."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(message)s")
    logging.getLogger("urllib3").setLevel(logging.ERROR)
    # A pod is ended with SIGTERM: writers that were stopped must be started again, which `finally` does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = parse(arguments)
    try:
        outcome = _run(options)
    except RecoveryError as error:
        _log.error("error: %s", error)
        if options.json:
            print(json.dumps({"code": FAILED, "error": str(error)}))
        return FAILED
    except KeyboardInterrupt:
        _log.error("interrupted; %s", _left(options.word))
        return INTERRUPTED
    except Exception:
        # Python's own exit code would be 1, and that is a verdict on a restore point.
        _log.exception("error: a fault of this program; nothing was judged, report it with what is above")
        return FAILED
    for note in outcome.notes:
        _log.warning("note: %s", note)
    if options.json:
        print(json.dumps({"code": outcome.code, **outcome.facts, "notes": outcome.notes}))
    else:
        print("\n".join(outcome.lines))
    return outcome.code


def _left(word: str) -> str:
    """What an interrupted run leaves behind."""
    if word in ("promote", "demote", "confirm"):
        return f"each store is as it was, done or in between, and nothing is lost; run `{word}` again, which ends it"
    return "nothing that was live has changed; run the same again"


def _run(options: argparse.Namespace) -> Outcome:
    if options.word == "keygen":
        return asked.keygen(options.private)
    if options.word == "open-secrets":
        return open_secrets.run(options)
    opened = config.load(options.config)
    sweep(opened.config.work, _tell)
    if options.word in scheduled.WORDS:
        return scheduled.run(options, opened, _tell)
    return asked.WORDS[options.word](options, opened, _tell)


def _tell(line: str) -> None:
    _log.info("%s", line)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
