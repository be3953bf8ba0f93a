"""Everything is started, filled, measured store by store, and ended."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.bench.recovery.figures import Report
from tests.bench.recovery.media import Media
from tests.bench.recovery.metadata import Metadata
from tests.bench.recovery.plan import check_room
from tests.bench.recovery.series import Series
from tests.bench.recovery.site import site
from tests.bench.recovery.steps import Bench, nothing

if TYPE_CHECKING:
    from sandbox.progress import Progress
    from tests.bench.recovery.plan import Plan
    from tests.bench.recovery.steps import Meanwhile, Store

STORES: Final = (Metadata, Series, Media)


def run(plan: Plan, progress: Progress, meanwhile: Meanwhile = nothing) -> Report:
    """All of it; nothing is left behind, whatever happens. Raises BenchError.

    meanwhile: called between steps; tests do damage there.
    """
    top = Path(tempfile.gettempdir())
    check_room(plan, top)
    begun, before = time.monotonic(), os.getloadavg()[0]
    temporary = tempfile.TemporaryDirectory(prefix="plumbline-bench-", ignore_cleanup_errors=True)
    with temporary as directory, site(Path(directory), progress.say) as found:
        bench = Bench(plan=plan, site=found, say=progress.say, meanwhile=meanwhile)
        stores: tuple[Store, ...] = tuple(kind(bench) for kind in STORES)
        for store in stores:
            with progress.step(f"{store.name}: making the data"):
                store.fill()
        measured = []
        for store in stores:
            with progress.step(f"{store.name}: measuring"):
                measured.append(store.measure())
        return Report(
            cores=os.cpu_count() or 1,
            load=(before, os.getloadavg()[0]),
            points=plan.points,
            objects=plan.objects,
            seconds=time.monotonic() - begun,
            disk=found.disk,
            stores=tuple(measured),
        )
