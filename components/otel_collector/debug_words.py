"""`python -m components.otel_collector.debug_words`: the file of debug windows, read and changed by `make debug-logs`.

One JSON object on standard input, one on standard output. The words of the Makefile import no component, so they ask
this program; what it is told and what it tells is all that passes between them.

in:  level    name of the lowest severity that is kept
     file     its name
     text     the file as it is
     now      seconds since 1970
     change   null to read; {mend: true} to write it anew, without windows, if it is of somebody else; else
              {namespace, workload, seconds, pods, known}. seconds: 0 ends the window. pods: names of the namespace's
              pods. known: names of its Deployments and so on, and of workloads by label
out: text     the file as it is to be, the same if nothing changes
     revision of that file
     first    revision of the file without windows
     windows  those that are open then: [{namespace, workload, until}], until in seconds since 1970
or:  error    what is wrong; the exit code is then 1
     next     what to do about it, if that is no matter of the words
"""

from __future__ import annotations

import difflib
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from components.errors import DeployError
from components.fixed_config import revision_of
from components.otel_collector import debug
from components.otel_collector.debug import ForeignError, Window

if TYPE_CHECKING:
    from collections.abc import Sequence

Json = dict[str, Any]
_SHOWN, _NEAR = 10, 3


def answer(asked: Json) -> Json:
    """What the program tells. Raises DeployError: a file of somebody else, an unknown workload, a level without use."""
    level, text, now, change = asked["level"], asked["text"], float(asked["now"]), asked["change"]
    first = debug.fragment(level)
    if change and change.get("mend"):
        windows, text = _mended(text, first, level)
        after = windows
    else:
        windows = debug.parse(text, level)
        after = windows if change is None else _changed(windows, level, now, change)
    text = text if after == windows else debug.fragment(level, after)
    return {
        "text": text,
        "revision": revision_of({asked["file"]: text}),
        "first": revision_of({asked["file"]: first}),
        "windows": [asdict(one) for one in debug.running(after, now)],
    }


def _mended(text: str, first: str, level: str) -> tuple[tuple[Window, ...], str]:
    try:
        return debug.parse(text, level), text
    except DeployError:
        return (), first


def _changed(windows: Sequence[Window], level: str, now: float, change: Json) -> tuple[Window, ...]:
    namespace, workload, seconds = change["namespace"], change["workload"], int(change["seconds"])
    window = Window(namespace=namespace, workload=workload, until=int(now) + max(seconds, 1))
    if seconds == 0:
        # Also that of a workload which is gone.
        return tuple(one for one in windows if (one.namespace, one.workload) != (namespace, workload))
    if level == debug.LEVELS[0]:
        raise DeployError(f"lowest_level is {level}: every record is kept already, and there is nothing to open")
    if workload not in change["known"] and not any(debug.is_of(workload, pod) for pod in change["pods"]):
        raise DeployError(_unknown(namespace, workload, change))
    return debug.opened(windows, window, now)


def _unknown(namespace: str, workload: str, change: Json) -> str:
    names = sorted({*change["known"], *change["pods"]})
    if not names:
        return f"namespace {namespace} does not exist, or has neither pods nor workloads"
    longer = [name for name in names if workload in name]
    near = (longer or difflib.get_close_matches(workload, names, n=_NEAR, cutoff=0.5))[:_NEAR]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names[:_SHOWN])}{more}"
    return f"namespace {namespace} has no workload {workload!r}, and no pod of one; {hint}"


def main() -> int:
    """0, or 1 with an error that is told."""
    try:
        told, code = answer(json.load(sys.stdin)), 0
    except ForeignError as error:
        told, code = {"error": str(error), "next": "make up"}, 1
    except DeployError as error:
        told, code = {"error": str(error)}, 1
    json.dump(told, sys.stdout)
    return code


if __name__ == "__main__":
    sys.exit(main())
