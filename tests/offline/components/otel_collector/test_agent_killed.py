"""An agent that is killed while it reads: every line of its files arrives all the same."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

from tests.offline.components.otel_collector.node import Node
from tests.offline.components.otel_collector.program import eventually

if TYPE_CHECKING:
    from pathlib import Path

LINES: Final = 37 * 400
STEP: Final = 37
"""Lines at a time: no divisor of a batch, so that something is always on its way."""
KILLS: Final = 5


def test_no_line_is_lost_of_an_agent_that_is_killed_while_it_reads(tmp_path: Path) -> None:
    """What it has read and not yet written down it must not have ticked off. Some lines may come twice."""
    node = Node(tmp_path)
    ended = threading.Event()

    def write() -> None:
        for first in range(0, LINES, STEP):
            node.write([f"line {number}" for number in range(first, first + STEP)])
            time.sleep(0.02)
        ended.set()

    with node.backend.up(), node.gateway.running():
        writer = threading.Thread(target=write)
        writer.start()
        for _ in range(KILLS):
            with node.agent.running():
                time.sleep(0.7)
                node.agent.kill()
        with node.agent.running():
            writer.join()
            assert ended.is_set()
            wanted = {f"line {number}" for number in range(LINES)}
            eventually(
                lambda: wanted <= set(node.bodies()), lambda: f"{len(wanted - set(node.bodies()))} lines are lost"
            )
