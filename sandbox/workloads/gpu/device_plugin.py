"""Device plugin that offers simulated GPUs to the kubelet: `python -m sandbox.workloads.gpu.device_plugin`.

Pods then request `nvidia.com/gpu`, the kubelet hands out devices, and PodResources names who holds which. A GPU is
lost, and found again, by what the file of --lost says: one index per line.
"""

from __future__ import annotations

import argparse
import ctypes
import logging
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

import grpc

from sandbox.workloads.gpu.api import deviceplugin_pb2 as plugin
from sandbox.workloads.gpu.identity import GPUS_AT_MOST, RESOURCE, gpu_uuid
from sandbox.workloads.gpu.kubelet import KubeletError, handlers, register

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ENDPOINT: Final = "plumbline-gpu.sock"
POLL_SECONDS: Final = 0.5
PR_SET_NAME: Final = 15
STREAMS: Final = 8  # a kubelet that restarts leaves its old stream for a moment
log = logging.getLogger("gpu-plugin")


class Gpus:
    """The node's GPUs, as the kubelet asks for them."""

    def __init__(self, node: str, count: int) -> None:
        """All `count` GPUs are healthy."""
        self.ids = tuple(gpu_uuid(node, index) for index in range(count))
        self._lost: frozenset[int] = frozenset()
        self._changed = threading.Condition()
        self._closed = False

    def options(self) -> plugin.DevicePluginOptions:
        """No optional call: devices are alike, and need no preparation."""
        return plugin.DevicePluginOptions()

    def lose(self, indices: frozenset[int]) -> None:
        """These GPUs are unhealthy from now on, all others healthy."""
        with self._changed:
            if indices != self._lost:
                self._lost = indices
                self._changed.notify_all()

    def close(self) -> None:
        """End every stream."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def devices(self) -> Iterator[plugin.ListAndWatchResponse]:
        """The list now, and whenever a GPU is lost or found again."""
        told: frozenset[int] | None = None
        while True:
            with self._changed:
                self._changed.wait_for(lambda seen=told: self._closed or self._lost != seen)  # type: ignore[misc]  # bound now
                if self._closed:
                    return
                told = self._lost
            yield self._listed(told)

    def _listed(self, lost: frozenset[int]) -> plugin.ListAndWatchResponse:
        return plugin.ListAndWatchResponse(
            devices=[
                plugin.Device(ID=device, health="Unhealthy" if index in lost else "Healthy")
                for index, device in enumerate(self.ids)
            ]
        )

    def allocate(self, request: plugin.AllocateRequest) -> plugin.AllocateResponse:
        """The environment by which NVIDIA's runtime is told the devices of a container. Raises ValueError."""
        answers = []
        for item in request.container_requests:
            unknown = [device for device in item.devices_ids if device not in self.ids]
            if unknown:
                raise ValueError(f"invalid allocation request for {RESOURCE}: unknown device {unknown[0]}")
            answers.append(
                plugin.ContainerAllocateResponse(envs={"NVIDIA_VISIBLE_DEVICES": ",".join(item.devices_ids)})
            )
        return plugin.AllocateResponse(container_responses=answers)


class Server:
    """The plugin's socket beside the kubelet's, and the registration there."""

    def __init__(self, gpus: Gpus, directory: Path) -> None:
        """directory: where kubelet.sock is, or will be."""
        self._gpus, self._directory = gpus, directory
        self._server: grpc.Server | None = None
        self._kubelet: tuple[int, int] | None = None

    def keep_registered(self) -> None:
        """Register with a kubelet that is new: it deletes all sockets beside its own when it starts."""
        try:
            status = (self._directory / "kubelet.sock").stat()
        except FileNotFoundError:
            return
        kubelet = (status.st_ino, status.st_ctime_ns)
        if kubelet == self._kubelet and (self._directory / ENDPOINT).exists():
            return
        self.stop()
        try:
            self._listen()
            register(str(self._directory / "kubelet.sock"), ENDPOINT, RESOURCE, self._gpus.options())
        except KubeletError as error:
            log.warning("%s; trying again", error)
            return
        self._kubelet = kubelet
        log.info("registered %d GPUs as %s", len(self._gpus.ids), RESOURCE)

    def _listen(self) -> None:
        (self._directory / ENDPOINT).unlink(missing_ok=True)
        server = grpc.server(ThreadPoolExecutor(max_workers=STREAMS))
        server.add_generic_rpc_handlers((handlers(self._gpus),))
        server.add_insecure_port(f"unix://{self._directory / ENDPOINT}")
        server.start()
        self._server = server

    def stop(self) -> None:
        """Stop listening; the kubelet then counts the devices as unhealthy."""
        if self._server is not None:
            self._server.stop(grace=None).wait()
            self._server = None


def read_lost(file: Path | None, count: int) -> frozenset[int]:
    """Indices of the lost GPUs; lines that are no index of a GPU are logged and left out."""
    if file is None or not file.exists():
        return frozenset()
    words = file.read_text().split()
    wrong = [word for word in words if not word.isdecimal() or int(word) >= count]
    if wrong:
        log.warning("%s: not an index from 0 to %d: %s", file, count - 1, " ".join(wrong))
    return frozenset(int(word) for word in words if word not in wrong)


def set_process_name(name: str) -> None:
    """Name that the kernel shows, 15 letters at most: the interpreter's would not tell what runs."""
    ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode(), 0, 0, 0)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Arguments. Exits with status 2 and a message when they are wrong."""
    parser = argparse.ArgumentParser(prog="gpu-plugin", description=__doc__, allow_abbrev=False)
    parser.add_argument("--node", required=True, help="name of the node: GPUs' UUIDs are derived from it")
    parser.add_argument("--count", type=int, required=True, help=f"number of GPUs, 1 to {GPUS_AT_MOST}")
    parser.add_argument("--directory", type=Path, default=Path("/var/lib/kubelet/device-plugins"))
    parser.add_argument("--lost", type=Path, help="file with the indices of lost GPUs, one per line")
    parser.add_argument("--process-name", default="gpu-plugin", help="name of the process")
    arguments = parser.parse_args(argv)
    if not 1 <= arguments.count <= GPUS_AT_MOST:
        parser.error(f"--count {arguments.count}: 1 to {GPUS_AT_MOST} are accepted")
    return arguments


def main(argv: Sequence[str]) -> int:
    """Serve until SIGTERM or SIGINT."""
    arguments = parse(argv)
    set_process_name(arguments.process_name)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    gpus = Gpus(arguments.node, arguments.count)
    server = Server(gpus, arguments.directory)
    log.info("offering %d GPUs of %s (process %d)", arguments.count, arguments.node, os.getpid())
    while not stopping.wait(POLL_SECONDS):
        gpus.lose(read_lost(arguments.lost, arguments.count))
        server.keep_registered()
    gpus.close()
    server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
