"""What is measured beside each other: the same program, with the configuration of the stack and with ever less of it.

AS_RENDERED: all of it; only addresses and directories are moved to this machine. SAME_QUEUE: receiver and exporter,
with the stack's queue on the disk and its batches, and no processor: what it differs by is the cost of processors
alone. DEFAULTS: receiver and exporter as the program has them unless told otherwise: a queue in memory, no batches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import yaml

from components.otel_collector.agent_config import LOGS as AGENT_LOGS
from components.otel_collector.agent_config import OFFSETS
from components.otel_collector.config import no_windows, render_agent, render_gateway
from components.otel_collector.gateway_config import exporter_name
from components.otel_collector.names import CONFIG_FILE, POD_LOGS, QUEUE_PATH
from components.otel_collector.parts import HEALTH, QUEUE
from signals.yamltext import dump
from stacks.telemetry_arguments import collector_args
from tests.offline.ports import free_port
from tests.offline.stacks.examples import BUILT, settings

if TYPE_CHECKING:
    from pathlib import Path

    from components.otel_collector.args import Backend, OtelCollectorArgs
    from tests.bench.telemetry.plan import Plan

Json = dict[str, Any]
AS_RENDERED, SAME_QUEUE, DEFAULTS = "as rendered", "no processors, same queue", "no processors, defaults"
SIDES: Final = (AS_RENDERED, SAME_QUEUE, DEFAULTS)
GATEWAY, AGENT = "gateway", "agent"
STACK: Final = "local"
Change = Callable[[str, str, Json], None]
"""Called with collector, side and configuration before a collector starts; tests break it there."""


@dataclass(frozen=True, kw_only=True)
class Ports:
    """Where a collector listens."""

    grpc: int = field(default_factory=free_port)
    http: int = field(default_factory=free_port)
    own: int = field(default_factory=free_port)
    spans: int = field(default_factory=free_port)
    health: int = field(default_factory=free_port)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a collector is. directory: for its files. sink_http, sink_grpc: ports of the sink."""

    directory: Path
    ports: Ports
    sink_http: int
    sink_grpc: int


def unchanged(collector: str, side: str, document: Json) -> None:
    """What is done to a configuration in a bench."""


def arguments(plan: Plan) -> OtelCollectorArgs:
    """What the stack tells its collectors, but for the plan's own times."""
    found = collector_args(settings(STACK), BUILT)
    sampling = found.sampling
    if plan.wait is not None:
        sampling = replace(sampling, decision_wait_seconds=plan.wait, decision_wait_after_root_seconds=plan.wait)
    return replace(found, sampling=sampling, scrape_interval_seconds=plan.scrape or found.scrape_interval_seconds)


def files(collector: str, side: str, plan: Plan, place: Place, change: Change) -> dict[str, str]:
    """Files of a collector in their order, by name. change: see Change."""
    args = arguments(plan)
    document, more = _gateway(args, side, place) if collector == GATEWAY else _agent(args, side, place)
    change(collector, side, document)
    return {CONFIG_FILE: dump(document), **more}


def _gateway(args: OtelCollectorArgs, side: str, place: Place) -> tuple[Json, dict[str, str]]:
    assert args.logs is not None
    assert args.traces is not None
    logs = replace(args.logs, endpoint=f"http://127.0.0.1:{place.sink_http}/v1/logs")
    traces = replace(args.traces, endpoint=f"127.0.0.1:{place.sink_grpc}")
    found = _moved(render_gateway(replace(args, logs=logs, traces=traces)).files[CONFIG_FILE], place)
    found["exporters"]["prometheus"]["endpoint"] = f"127.0.0.1:{place.ports.spans}"
    if side == AS_RENDERED:
        return found, {}
    ways = {signal: exporter_name(signal, backend) for signal, backend in _backends(logs, traces)}
    return _bare(found, side, {signal: ("otlp", exporter) for signal, exporter in ways.items()}), {}


def _backends(logs: Backend, traces: Backend) -> tuple[tuple[str, Backend], ...]:
    return ("logs", logs), ("traces", traces)


def _agent(args: OtelCollectorArgs, side: str, place: Place) -> tuple[Json, dict[str, str]]:
    found = _moved(render_agent(args).files[CONFIG_FILE], place)
    for exporter in found["exporters"].values():
        exporter["endpoint"] = f"127.0.0.1:{place.sink_grpc}"
    if side == AS_RENDERED:
        return found, no_windows(args).files
    reader = found["receivers"]["file_log"]
    # Without this one a line would be the runtime's, with its time and stream, and a long one would be several.
    reader["operators"] = [one for one in reader["operators"] if one["type"] == "container"]
    if side == DEFAULTS:
        reader.pop("storage")
    return _bare(found, side, {"logs": ("file_log", AGENT_LOGS)}), {}


def _bare(found: Json, side: str, ways: dict[str, tuple[str, str]]) -> Json:
    """Receiver and exporter alone. ways: signal → name of its receiver and of its exporter."""
    receivers, exporters = ({way[place] for way in ways.values()} for place in (0, 1))
    extensions = (
        [HEALTH] if side == DEFAULTS else [name for name in (HEALTH, QUEUE, OFFSETS) if name in found["extensions"]]
    )
    kept = {name: found["exporters"][name] for name in sorted(exporters)}
    if side == DEFAULTS:
        queues = ("sending_queue", "retry_on_failure", "timeout")
        kept = {name: {key: value for key, value in one.items() if key not in queues} for name, one in kept.items()}
    pipelines = {signal: {"receivers": [way[0]], "exporters": [way[1]]} for signal, way in ways.items()}
    return {
        "receivers": {name: found["receivers"][name] for name in sorted(receivers)},
        "exporters": kept,
        "extensions": {name: found["extensions"][name] for name in extensions},
        "service": {**found["service"], "extensions": extensions, "pipelines": pipelines},
    }


def _moved(text: str, place: Place) -> Json:
    """What is rendered for a pod, with its directories and what it listens on moved to this machine."""
    own = text.replace(QUEUE_PATH, str(place.directory / "state")).replace(POD_LOGS, str(place.directory / "pods"))
    found: Json = yaml.safe_load(own)
    protocols = found["receivers"]["otlp"]["protocols"]
    protocols["grpc"]["endpoint"] = f"127.0.0.1:{place.ports.grpc}"
    protocols["http"]["endpoint"] = f"127.0.0.1:{place.ports.http}"
    found["extensions"][HEALTH]["endpoint"] = f"127.0.0.1:{place.ports.health}"
    (reader,) = found["service"]["telemetry"]["metrics"]["readers"]
    reader["pull"]["exporter"]["prometheus"] |= {"host": "127.0.0.1", "port": place.ports.own}
    return found
