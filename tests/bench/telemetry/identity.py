"""Who is who: every trace, record and line of the bench carries a phase and a number in its trace id.

So the sink tells what arrived one by one, and a loss is not made up for by something that came twice.
"""

from __future__ import annotations

import hashlib
import re
import struct
from typing import Final

MARK: Final = bytes.fromhex("c0de7e1e")
_LAYOUT: Final = struct.Struct(">4sHI6s")
TEXT: Final = re.compile(rb'"trace_id": "(' + MARK.hex().encode() + rb'[0-9a-f]{24})"')
"""In a line that nobody has parsed."""


def trace_id(phase: int, number: int) -> bytes:
    """16 bytes. Their end is spread, as ids are: samplers hash them."""
    spread = hashlib.md5(b"%d/%d" % (phase, number), usedforsecurity=False).digest()
    return _LAYOUT.pack(MARK, phase, number, spread[:6])


def of(found: bytes) -> tuple[int, int] | None:
    """Phase and number of a trace id; None for one that is not the bench's."""
    if len(found) != _LAYOUT.size or not found.startswith(MARK):
        return None
    _, phase, number, _ = _LAYOUT.unpack(found)
    return phase, number


def request_id(trace: bytes) -> bytes:
    """32 hexadecimal digits, as of a random UUID: the collector looks for telephone numbers in there."""
    return hashlib.md5(trace, usedforsecurity=False).hexdigest().encode()
