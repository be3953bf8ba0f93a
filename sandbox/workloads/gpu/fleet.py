"""Exporters of many more nodes in one process, to be scraped alone: `python -m sandbox.workloads.gpu.fleet`.

/nodes/<name>/metrics is a node's page, /nodes/<name>/incidents its control interface, /sd answers Prometheus' http_sd.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sandbox.workloads.gpu import control, counters, web
from sandbox.workloads.gpu.collector import Shape
from sandbox.workloads.gpu.counters import Counter, Counters, CountersError
from sandbox.workloads.gpu.exposition import CONTENT_TYPE
from sandbox.workloads.gpu.identity import GPUS_AT_MOST, gpu_uuid
from sandbox.workloads.gpu.kubelet import Pod
from sandbox.workloads.gpu.node import Node

if TYPE_CHECKING:
    from collections.abc import Sequence

TEAMS: Final = ("research", "speech", "vision", "serving")
GPUS_OF_A_JOB: Final = 4
# Twenty fields of the exporter's default file, which a bench without a file of its own scrapes.
DEFAULT: Final = (
    *(("DCGM_FI_DEV_SM_CLOCK", "gauge"), ("DCGM_FI_DEV_MEM_CLOCK", "gauge"), ("DCGM_FI_DEV_MEMORY_TEMP", "gauge")),
    *(("DCGM_FI_DEV_GPU_TEMP", "gauge"), ("DCGM_FI_DEV_POWER_USAGE", "gauge"), ("DCGM_FI_DEV_GPU_UTIL", "gauge")),
    *(("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter"), ("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "counter")),
    *(("DCGM_FI_DEV_MEM_COPY_UTIL", "gauge"), ("DCGM_FI_DEV_FB_FREE", "gauge"), ("DCGM_FI_DEV_FB_USED", "gauge")),
    *(("DCGM_FI_DEV_FB_RESERVED", "gauge"), ("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "gauge")),
    *(("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "counter"), ("DCGM_FI_DEV_ROW_REMAP_FAILURE", "gauge")),
    *(("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gauge"), ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "gauge")),
    *(("DCGM_FI_PROF_DRAM_ACTIVE", "gauge"), ("DCGM_FI_PROF_PCIE_TX_BYTES", "gauge")),
    ("DCGM_FI_PROF_PCIE_RX_BYTES", "gauge"),
)
log = logging.getLogger("gpu-fleet")


@dataclass(frozen=True)
class Plan:
    """What the fleet is. interval in seconds, as DCGM samples. listen: host and port."""

    nodes: int
    gpus: int
    counters: Counters
    interval: float
    listen: tuple[str, int]


class Member:
    """One node of the fleet."""

    def __init__(self, number: int, plan: Plan, now: float) -> None:
        """number: from 0; decides the name and who holds the GPUs."""
        self.name = f"gpu-node-{number:04d}"
        self._interval = plan.interval
        uuids = [gpu_uuid(self.name, index) for index in range(plan.gpus)]
        self.pods = {uuid: pod for index, uuid in enumerate(uuids) if (pod := holder(number, index)) is not None}
        self.node = Node(Shape(self.name, self.name, plan.counters), now)
        self.node.devices(uuids, now)
        self.node.tick(now, self.pods)

    def answer(self, request: web.Request, below: str) -> web.Response:
        """Answer a request; below: its path below the node's. Values move when they are looked at."""
        if below == "/metrics":
            now = time.time()
            if now - self.node.ticked >= self._interval:
                self.node.tick(now, self.pods)
            page = self.node.page(self.pods, now)
            return web.Response(page.status, page.body.encode(), CONTENT_TYPE, page.delay)
        if below == "/health":
            return web.Response(200, b"OK")
        asked = web.Request(request.method, below, request.body)
        return control.answer(self.node, asked, lambda: self.node.tick(time.time(), self.pods))


def holder(number: int, index: int) -> Pod | None:
    """The pod that has a GPU, by a fixed pattern: jobs of four GPUs, each of one team; every fifth node is free."""
    if number % 5 == 4:  # noqa: PLR2004  every fifth
        return None
    job = index // GPUS_OF_A_JOB
    team = TEAMS[(number + job) % len(TEAMS)]
    return Pod(f"train-{number:04d}-{job}", f"team-{team}", "worker")


class Fleet:
    """All nodes by name."""

    def __init__(self, plan: Plan, now: float) -> None:
        """Every node is well."""
        self._members = {member.name: member for member in (Member(i, plan, now) for i in range(plan.nodes))}

    def discovery(self, host: str) -> list[dict[str, object]]:
        """Answer to Prometheus' http_sd: one group per node. host: <host>:<port> to scrape."""
        return [
            {
                "targets": [host],
                "labels": {"__metrics_path__": f"/nodes/{name}/metrics", "__meta_plumbline_node": name},
            }
            for name in self._members
        ]

    def answer(self, request: web.Request, host: str) -> web.Response:
        """Answer a request. host: <host>:<port> under which the fleet is reached."""
        if request.path == "/sd":
            return web.document(200, self.discovery(host))
        _, _, rest = request.path.partition("/nodes/")
        name, slash, below = rest.partition("/")
        member = self._members.get(name)
        return member.answer(request, slash + below) if member is not None else web.NOT_FOUND


async def run(plan: Plan, advertise: str) -> None:
    """Serve until SIGTERM or SIGINT. advertise: what /sd tells, <host>:<port>. Raises OSError."""
    fleet = Fleet(plan, time.time())
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)

    async def answer(request: web.Request) -> web.Response:
        return fleet.answer(request, advertise)

    server = await web.serve(plan.listen, answer)
    log.info("%d nodes with %d GPUs on %s", plan.nodes, plan.gpus, advertise)
    await stopping.wait()
    server.close()


def parse(arguments: Sequence[str]) -> tuple[Plan, str]:
    """Plan and advertised address. Exits with status 2 and a message when they are wrong."""
    parser = argparse.ArgumentParser(prog="gpu-fleet", description=__doc__, allow_abbrev=False)
    parser.add_argument("--nodes", type=int, default=1024, help="number of nodes")
    parser.add_argument("--gpus", type=int, default=8, help=f"GPUs of each, 1 to {GPUS_AT_MOST}")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, required=True, help="port of all nodes")
    parser.add_argument("--advertise", help="host:port that /sd tells; the one listened on when left out")
    parser.add_argument("--interval", type=int, default=30000, help="milliseconds between DCGM's samples")
    parser.add_argument("--collectors", "-f", type=Path, help="counters file; twenty common fields when left out")
    given = parser.parse_args(arguments)
    if given.nodes < 1 or not 1 <= given.gpus <= GPUS_AT_MOST or given.interval < 1:
        parser.error(f"accepted are at least 1 node, 1 to {GPUS_AT_MOST} GPUs, an interval above 0")
    counted = Counters(tuple(Counter(n, k, f"{n}, simulated.") for n, k in DEFAULT), ("DCGM_FI_DRIVER_VERSION",))
    if given.collectors is not None:
        try:
            counted = counters.read(given.collectors)
        except CountersError as error:
            parser.error(str(error))
    plan = Plan(given.nodes, given.gpus, counted, given.interval / 1000, (given.host, given.port))
    return plan, given.advertise or f"{given.host}:{given.port}"


def main(arguments: Sequence[str]) -> int:
    """Run; 1 with a message when the address is taken."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    try:
        asyncio.run(run(*parse(arguments)))
    except OSError as error:
        log.error("%s", error)  # noqa: TRY400  the message says it all
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
