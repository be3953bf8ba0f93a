"""The counters file of dcgm-exporter: what it measures, one line per field."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from components.dcgm_exporter.names import NAME
from components.errors import DeployError
from components.naming import object_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from components.dcgm_exporter.args import Counter

_FIELD = re.compile(r"DCGM_(FI|EXP)_[A-Z0-9_]+")
_NOT_IN_HELP = re.compile(r'[,"\r\n]')


def counters_csv(counters: Sequence[Counter]) -> str:
    """The file's text: `field, type, help` per line, as the exporter's parser reads it.

    The exporter stops at the first line that it cannot read, on every node, and skips a field that it does not know
    without an error. Raises DeployError with every fault that can be seen here.
    """
    faults = list(_faults(counters))
    if faults:
        lines = "\n".join(f"- {fault}" for fault in faults)
        raise DeployError(f"the counters of dcgm-exporter cannot be used:\n{lines}")
    return "".join(f"{counter.field}, {counter.type}, {counter.help}\n" for counter in counters)


def config_name(text: str) -> str:
    """Name of the ConfigMap for this text: the exporter reads its file once, so a new text must make new pods.

    With the name, old pods keep their file until the last of them is gone.
    """
    return object_name(NAME, "counters", hashlib.sha256(text.encode()).hexdigest()[:8])


def _faults(counters: Iterable[Counter]) -> Iterator[str]:
    seen: set[str] = set()
    for counter in counters:
        if not _FIELD.fullmatch(counter.field):
            yield f"`{counter.field}` is no field; accepted: DCGM_FI_… or DCGM_EXP_…, capitals, digits and `_`"
        if counter.field in seen:
            yield f"{counter.field} stands twice; remove one, every series of it would be exposed twice"
        if counter.type not in ("gauge", "counter", "label"):
            yield f"{counter.field} has type `{counter.type}`; accepted: gauge, counter, label"
        if not counter.help or _NOT_IN_HELP.search(counter.help):
            yield f"{counter.field} has help {counter.help!r}; accepted: text without comma, quotation mark, line break"
        seen.add(counter.field)
    if not seen:
        yield "there are none; without one no GPU is measured"
