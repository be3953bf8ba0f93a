"""A journal and the SwanLab that holds all of it, made by hand. Moments count from T."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from smoke.drill import keys
from smoke.drill.model import Asked, Begin, Journal, Read, Restored, SdkRun, Sent
from smoke.sdk.model import LoggedFile, LoggedRun, ReadBack

KEY = "a1B2c3D4e5F6g7H8i9J0k"
T = 1_767_225_600.0
"""2026-01-01T00:00:00Z."""
SHA = {text: hashlib.sha256(text.encode()).hexdigest() for text in ("i0", "i10", "sdk")}

LOGGED = LoggedRun(
    label="first",
    project="plumbline-drill",
    name="drill-1-sdk",
    path="alice/plumbline-drill/s1",
    logged={"loss": ((0, "0.5"), (1, "-inf"), (2, "nan"))},
    media={"image": (LoggedFile(0, SHA["sdk"], 3),)},
    config={"lr": 0.1},
    lines=("line",),
    finished=True,
)
BEGIN = Begin("drill-1", "drill-1-sdk", "plumbline-drill", "alice", keys.mark(KEY))
SDK = SdkRun(began=T - 60, proven=T - 30, odd="nan", run_id="s1", run=LOGGED)
# Step n leaves at T+n, is acknowledged half a second later; step 4 never is. Images go with steps 0 and 10.
NUMBERS = tuple(
    Sent(
        step + 1,
        step,
        T + step,
        values={"drill/a": repr(step / 4), "drill/b": repr(-step / 8)},
        acked=None if step == 4 else T + step + 0.5,
    )
    for step in range(12)
)
IMAGES = (
    Sent(21, 0, T, files={"drill/image": SHA["i0"]}, acked=T + 0.75),
    Sent(22, 10, T + 10, files={"drill/image": SHA["i10"]}, acked=T + 10.75),
)
JOURNAL = Journal(begin=BEGIN, run_id="t1", sdk=SDK, sent=(*NUMBERS, *IMAGES), ended=True)
ASKED = Asked(disaster=T + 100)


def series(divisor: int, *without: int) -> tuple[tuple[int, str], ...]:
    """Points of the timed run, as an export writes them."""
    return tuple((step, f"{step / divisor}") for step in range(12) if step not in without)


TIMED = Read(
    series={"drill/a": series(4), "drill/b": series(-8)},
    files={"drill/image": ((0, SHA["i0"]), (10, SHA["i10"]))},
)
SDK_READ = Read(series={"loss": ((0, "0.5"), (1, "nan"), (2, "nan"))}, files={"image": ((0, SHA["sdk"]),)})
WHOLE = ReadBack(
    state="FINISHED",
    keys=frozenset({"loss", "image"}),
    series=dict(SDK_READ.series),
    media={"image": (SHA["sdk"],)},
    config={"lr": 0.1},
    lines=("line",),
)
RESTORED = Restored(
    login=True,
    old_key=True,
    runs={"drill-1": "t1", "drill-1-sdk": "s1"},
    timed=TIMED,
    sdk=SDK_READ,
    whole=WHOLE,
)


def timed(**changes: Any) -> Restored:  # noqa: ANN401  # fields of a reading
    """The restored SwanLab with another timed run."""
    return replace(RESTORED, timed=replace(TIMED, **changes))


def after(*steps: int) -> Restored:
    """The restored SwanLab without these steps of both series."""
    return timed(series={"drill/a": series(4, *steps), "drill/b": series(-8, *steps)})
