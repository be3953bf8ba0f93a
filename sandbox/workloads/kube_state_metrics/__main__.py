"""Run the stand-in: `python3 -P -m sandbox.workloads.kube_state_metrics --help`."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sandbox.workloads.kube_state_metrics import VERSION
from sandbox.workloads.kube_state_metrics.access import AccessError, from_kubeconfig, in_cluster
from sandbox.workloads.kube_state_metrics.api import Api
from sandbox.workloads.kube_state_metrics.families import RESOURCES
from sandbox.workloads.kube_state_metrics.options import OptionError, Options, parse
from sandbox.workloads.kube_state_metrics.reflector import Backoff, Reflector
from sandbox.workloads.kube_state_metrics.server import Server, metrics_routes, telemetry_routes
from sandbox.workloads.kube_state_metrics.store import Store
from sandbox.workloads.kube_state_metrics.telemetry import Counters

if TYPE_CHECKING:
    from collections.abc import Sequence

_log = logging.getLogger(__name__)
_USAGE: Final = 2
_POLL: Final = 0.1
"""Seconds after which a server notices at the latest that it is to end."""


@dataclass(frozen=True)
class Program:
    """All parts, connected and not yet running."""

    reflectors: tuple[Reflector, ...]
    metrics: Server
    telemetry: Server


def build(options: Options, api: Api) -> Program:
    """Connect the parts; both ports listen from here on. Raises OSError when one is taken."""
    counters = Counters()
    stores: dict[str, list[Store]] = {}
    reflectors = []
    for name in options.resources:
        resource = RESOURCES[name]
        families = tuple(f for f in resource.families(options.labels.get(name, ())) if options.exposes(f.name))
        for namespace in (options.namespaces if resource.namespaced else ()) or ("",):
            store = Store(resource, families)
            stores.setdefault(name, []).append(store)
            reflectors.append(Reflector(api, resource.path(namespace), store, counters, Backoff()))
    return Program(
        reflectors=tuple(reflectors),
        metrics=Server(options.host, options.port, metrics_routes(stores, api)),
        telemetry=Server(options.telemetry_host, options.telemetry_port, telemetry_routes(reflectors, counters)),
    )


def run(program: Program, stop: threading.Event) -> bool:
    """Serve and follow until `stop`; False when a part died, which no retry mends and the kubelet's restart might."""
    healthy = True

    def guarded(reflector: Reflector) -> None:
        nonlocal healthy
        try:
            reflector.run(stop)
        except Exception:
            _log.exception("a resource is no longer followed: ending, since what is exposed would grow old unseen")
            healthy = False
            stop.set()

    servers = (program.metrics, program.telemetry)
    for server in servers:
        threading.Thread(target=server.serve_forever, args=(_POLL,), daemon=True).start()
    for reflector in program.reflectors:
        threading.Thread(target=guarded, args=(reflector,), daemon=True).start()
    stop.wait()
    for server in servers:
        server.shutdown()
        server.server_close()
    return healthy


def main(arguments: Sequence[str]) -> int:
    """The program. 0 = told to end, 1 = it cannot go on, 2 = a flag is wrong."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    try:
        options = parse(arguments)
        access = from_kubeconfig(options.kubeconfig) if options.kubeconfig else in_cluster(os.environ)
        program = build(options, Api(access))
    except OptionError as error:
        _log.error("%s", error)
        return _USAGE
    except (AccessError, OSError) as error:
        _log.error("cannot start: %s", error)
        return 1
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    _log.info(
        "stand-in for kube-state-metrics %s follows %s in %s",
        VERSION,
        ", ".join(options.resources),
        ", ".join(options.namespaces) or "all namespaces",
    )
    return 0 if run(program, stop) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
