"""Simulated dcgm-exporter: `python -m sandbox.workloads.gpu.exporter`, with upstream's flags and variables.

GPUs are those that the kubelet offers, pods those that hold them, both asked over PodResources. Values move every
interval. One deviation: GPUs that come later are found too, upstream looks for them once.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import time
from typing import TYPE_CHECKING

from sandbox.workloads.gpu import control, counters, web
from sandbox.workloads.gpu.collector import Shape
from sandbox.workloads.gpu.exposition import CONTENT_TYPE
from sandbox.workloads.gpu.identity import MODEL
from sandbox.workloads.gpu.kubelet import KubeletError, Pod, PodResources
from sandbox.workloads.gpu.node import Node
from sandbox.workloads.gpu.settings import Settings, SettingsError, parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STARTING_SECONDS = 2.0  # between attempts while the kubelet offers no GPU yet
NOSNIFF = "X-Content-Type-Options: nosniff\r\n"
log = logging.getLogger("dcgm-exporter")


def shape(settings: Settings, counted: counters.Counters) -> Shape:
    """What is exported."""
    return Shape(
        node=settings.node,
        hostname=settings.hostname,
        counters=counted,
        hostname_label=settings.hostname_label,
        xid_window=settings.xid_window,
        clock_window=settings.clock_window,
        model=MODEL.replace(" ", "-") if settings.replace_blanks else MODEL,
    )


class Exporter:
    """The exporter's process: samples, answers scrapes, reloads its counters file."""

    def __init__(self, settings: Settings) -> None:
        """Raises CountersError for a counters file that upstream would refuse."""
        self._settings = settings
        self._text = self._read()
        self.node = Node(
            shape(settings, counters.parse(self._text, str(settings.collectors))), time.time(), settings.sliced
        )
        self._kubelet = PodResources(str(settings.socket), settings.resources)
        self.found = False

    def _read(self) -> str:
        try:
            return self._settings.collectors.read_text()
        except OSError as error:
            raise counters.CountersError(
                f"Could not read metrics file '{self._settings.collectors}'; err: {error.strerror}"
            ) from error

    def pods(self) -> Mapping[str, Pod]:
        """Who holds which device; nobody when the kubelet does not say."""
        if not self._settings.kubernetes:
            return {}
        try:
            return self._kubelet.pods()
        except KubeletError as error:
            log.warning("Failed to get pod mappings: %s", error)
            return {}

    def sample(self) -> None:
        """Look for GPUs and let DCGM sample them."""
        self._reload()
        now = time.time()
        try:
            devices = self._kubelet.devices()
            self.node.devices(devices, now)
            self.found = bool(devices)
        except KubeletError as error:
            log.warning("Failed to get the node's GPUs: %s", error)
        self.node.tick(now, self.pods())

    def _reload(self) -> None:
        """Take a changed counters file, as upstream does; a wrong one is logged and the old one stays."""
        try:
            text = self._read()
            if text != self._text:
                self._text = text
                self.node.reshape(shape(self._settings, counters.parse(text, str(self._settings.collectors))))
                log.info("Metric file changed - reloaded")
        except counters.CountersError as error:
            log.error("Hot reload failed: %s", error)  # noqa: TRY400  the message says it all

    def answer(self, request: web.Request) -> web.Response:
        """Answer a request on the exporter's own address."""
        if request.path == "/metrics":
            page = self.node.page(self.pods(), time.time())
            return web.Response(page.status, page.body.encode(), CONTENT_TYPE, page.delay, NOSNIFF)
        if request.path == "/health":
            return web.Response(200, b"OK", headers=f"{NOSNIFF}X-Registry-Available: true\r\n")
        if request.path == "/":
            return web.Response(200, b"<html><body><h1>GPU Exporter</h1></body></html>", "text/html", headers=NOSNIFF)
        return web.NOT_FOUND


async def run(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT. Raises CountersError, OSError for an address that cannot be bound."""
    exporter = Exporter(settings)
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)

    async def scraped(request: web.Request) -> web.Response:
        return await asyncio.to_thread(exporter.answer, request)

    async def controlled(request: web.Request) -> web.Response:
        return await asyncio.to_thread(control.answer, exporter.node, request, exporter.sample)

    await asyncio.to_thread(exporter.sample)
    servers = [await web.serve(settings.listen, scraped), await web.serve(settings.control, controlled)]
    log.info("HTTP server started - ready to serve metrics")
    while not stopping.is_set():
        pause = settings.interval if exporter.found else min(STARTING_SECONDS, settings.interval)
        try:
            await asyncio.wait_for(stopping.wait(), pause)
        except TimeoutError:
            await asyncio.to_thread(exporter.sample)
    for server in servers:
        server.close()


def main(arguments: Sequence[str]) -> int:
    """Run; 1 with a message for wrong settings, a wrong counters file or a taken address."""
    logging.basicConfig(
        level=logging.INFO, stream=sys.stderr, format='time=%(asctime)s level=%(levelname)s msg="%(message)s"'
    )
    try:
        asyncio.run(run(parse(arguments, os.environ)))
    except (SettingsError, counters.CountersError, OSError) as error:
        log.error("%s", error)  # noqa: TRY400  the message says it all
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
