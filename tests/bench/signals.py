"""Thousands of simulated GPUs in a Prometheus: `python -m tests.bench.signals --prometheus PATH --out FILE`.

Real: Prometheus, the rules, scrape jobs and relabelling of a durable stack, HTTP scrapes. Made up: the GPUs (the fleet
of sandbox/workloads/gpu) and the Kubernetes objects (a static page). It is a program of its own below tests/, because
it joins the sandbox with components and stacks, which no other room may. Nothing is asserted on time; a run that
measured nothing fails and says why.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import requests

from components.dcgm_exporter.counters import counters_csv
from components.errors import DeployError
from components.prometheus.names import CONFIG_FILE
from components.prometheus.names import arguments as prometheus_flags
from sandbox.progress import Progress
from tests.bench import configuration, expansion, interrupt, kubernetes, measure, queries
from tests.bench.boards import board_panels
from tests.bench.client import Client
from tests.bench.configuration import Addresses
from tests.bench.errors import BenchError
from tests.bench.figures import Load, Report
from tests.bench.panels import panels, rival
from tests.bench.plan import TWENTY, XIDS, Plan, check_memory, counters, every_field
from tests.bench.processes import free_address, running, served
from tests.bench.table import table
from tests.bench.verdict import problems

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.bench.expansion import Recorded
    from tests.bench.figures import Asked
    from tests.bench.panels import Panel

_FLEET_SECONDS: Final = 120.0
_FULL_SECONDS: Final = 180.0
_RELOAD_SECONDS: Final = 30.0
_SETTLE_SECONDS: Final = 15.0
INTERRUPTED: Final = 130


def run(plan: Plan, progress: Progress) -> Report:
    """Start everything, measure with rules and without, end everything. Raises BenchError."""
    at = Addresses(fleet=free_address(), objects=free_address(), prometheus=free_address())
    with ExitStack() as stack:
        directory = tempfile.TemporaryDirectory(prefix="plumbline-bench-", ignore_cleanup_errors=True)
        work = Path(stack.enter_context(directory))
        _start_fleet(stack, plan, at, work, progress)
        pid = _start_prometheus(stack, plan, at, work, progress)
        return _measure(plan, Client(at.prometheus), pid, work / CONFIG_FILE, progress)


def _start_fleet(stack: ExitStack, plan: Plan, at: Addresses, work: Path, progress: Progress) -> None:
    """GPUs, and beside them the Kubernetes objects that hold them."""
    file = work / "counters.csv"
    file.write_text(counters_csv(counters(plan.fields)), encoding="utf-8")
    argv = [sys.executable, "-m", "sandbox.workloads.gpu.fleet", f"--nodes={plan.nodes}", f"--gpus={plan.gpus}"]
    argv += [f"--port={at.fleet.rpartition(':')[2]}", f"--collectors={file}"]
    discovery = f"http://{at.fleet}/sd"
    with progress.step(f"starting {plan.boards} simulated GPUs on {plan.nodes} nodes"):
        stack.enter_context(running(argv, discovery, work / "fleet.log", _FLEET_SECONDS))
        names = [found["labels"]["__meta_plumbline_node"] for found in requests.get(discovery, timeout=30).json()]
        stack.enter_context(served(kubernetes.page(names, plan.gpus), at.objects))
    for name, code in zip(names, XIDS, strict=False):
        incident = {"kind": "xid", "gpu": 0, "code": code}
        requests.post(f"http://{at.fleet}/nodes/{name}/incidents", json=incident, timeout=30).raise_for_status()


def _start_prometheus(stack: ExitStack, plan: Plan, at: Addresses, work: Path, progress: Progress) -> int:
    """Process id. The flags are the stack's, with paths and address of the bench."""
    for name, text in configuration.files(plan, at).items():
        (work / name).write_text(text, encoding="utf-8")
    own = {"config.file": work / CONFIG_FILE, "storage.tsdb.path": work / "data", "web.listen-address": at.prometheus}
    kept = [flag for flag in prometheus_flags() if flag.removeprefix("--").partition("=")[0] not in own]
    argv = [str(plan.prometheus), *kept, *(f"--{name}={value}" for name, value in own.items())]
    with progress.step("starting Prometheus"):
        return stack.enter_context(
            running(argv, f"http://{at.prometheus}/-/ready", work / "prometheus.log", _FLEET_SECONDS)
        )


def _measure(plan: Plan, client: Client, pid: int, config: Path, progress: Progress) -> Report:
    known = expansion.records(configuration.inputs(plan), f"{plan.interval}s")
    with progress.step("waiting until every target is up"):
        _until(lambda: client.count(f"up{{{measure.JOB}}} == 1") == plan.nodes, _FULL_SECONDS)
    with progress.step(f"steady for {plan.steady} s"):
        measure.watch(client, plan.steady - plan.window, progress)
        with_rules = measure.load(client, pid, plan.window)
    groups, scrapes, truth = measure.groups(client, plan), measure.scrapes(client, plan), measure.truth(client, plan)
    share = measure.record_share(client.rules())
    ours = _ask(client, panels(configuration.inputs(plan).thresholds), known, plan, progress)
    theirs = _ask(client, rival(), known, plan, progress)
    board = _ask_board(client, board_panels(configuration.inputs(plan)), plan, progress)
    return Report(
        nodes=plan.nodes,
        gpus_per_node=plan.gpus,
        fields=plan.fields,
        cores=os.cpu_count() or 1,
        interval=plan.interval,
        truth=truth,
        with_rules=with_rules,
        without_rules=_without_rules(plan, client, pid, config, progress),
        groups=groups,
        record_share=share,
        scrapes=scrapes,
        panels=ours,
        rival=theirs,
        board=board,
    )


def _ask(
    client: Client, asked: Sequence[Panel], known: Mapping[str, Recorded], plan: Plan, progress: Progress
) -> tuple[Asked, ...]:
    found = []
    for panel in asked:
        progress.say(f"    panel: {panel.title}")
        found.append(queries.ask(client, panel, known, plan))
    return tuple(found)


def _ask_board(client: Client, asked: Sequence[Panel], plan: Plan, progress: Progress) -> tuple[Asked, ...]:
    found = []
    for panel in asked:
        progress.say(f"    board: {panel.title}")
        found.append(queries.as_it_is(client, panel, plan))
    return tuple(found)


def _without_rules(plan: Plan, client: Client, pid: int, config: Path, progress: Progress) -> Load:
    """The same fleet and the same process, its configuration reloaded without rule files, as it does by itself."""
    config.write_text(configuration.without_rules(config.read_text(encoding="utf-8")), encoding="utf-8")
    with progress.step(f"without rules for {plan.without} s"):
        _until(lambda: not client.rules(), _RELOAD_SECONDS)
        time.sleep(_SETTLE_SECONDS)
        return measure.load(client, pid, plan.without)


def _until(holds: Callable[[], bool], seconds: float) -> None:
    """Wait; what still does not hold at the end is told by the verdict."""
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(1)


def parse(arguments: Sequence[str]) -> Plan:
    """The plan. Exits with status 2 and a message when it is wrong."""
    parser = argparse.ArgumentParser(prog="signals", description=__doc__, allow_abbrev=False)
    parser.add_argument("--prometheus", type=Path, required=True, help="path of the program")
    parser.add_argument("--out", type=Path, required=True, help="path of the report")
    parser.add_argument("--nodes", type=int, default=1024, help="nodes of the fleet")
    parser.add_argument("--gpus", type=int, default=8, help="GPUs of each")
    parser.add_argument("--fields", choices=("20", "all"), default="20", help="of the counters file")
    given = parser.parse_args(arguments)
    if given.nodes < len(XIDS) or given.gpus < 1:
        parser.error(f"accepted are at least {len(XIDS)} nodes with 1 GPU")
    fields = TWENTY if given.fields == "20" else every_field()
    return Plan(prometheus=given.prometheus, out=given.out, nodes=given.nodes, gpus=given.gpus, fields=fields)


def write(report: Report, path: Path) -> None:
    """The report as JSON, with what follows from its figures."""
    document = {**asdict(report), "net": asdict(report.net), "problems": problems(report)}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def judged(report: Report) -> int:
    """1 with every reason when nothing was measured."""
    found = problems(report)
    for line in found:
        print(f"error: {line}", file=sys.stderr)
    if found:
        print("error: the figures above stand for nothing; nothing else may run on this machine", file=sys.stderr)
    return 1 if found else 0


def main(arguments: Sequence[str]) -> int:
    """Measure, print, write; 1 with a message when it cannot be done or stands for nothing, 130 after Ctrl-C."""
    plan = parse(arguments)
    interrupt.listen()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # the fleet holds one connection per node
    try:
        check_memory(plan, Path("/proc/meminfo").read_text(encoding="utf-8"))
        report = run(plan, Progress())
    except (BenchError, DeployError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; what the bench had started is ended", file=sys.stderr)
        return INTERRUPTED
    print(table(report))
    write(report, plan.out)
    return judged(report)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
