"""Which runs hold GPUs now, and the way from each of them to its page, its logs and its traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.catalogue.labels import INFO_METRIC
from signals.dashboards.links import log_lines, run_page, run_traces, runbook
from signals.dashboards.model import WIDTH, Good, Kind, Limits, Panel, Query, Row, Unit
from signals.dashboards.panels import stat
from signals.dashboards.variables import chosen
from signals.rules.gpu_labels import POD

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs

_RUN: Final = "team, job_id, run_id"
_BY: Final = f"cluster, environment, {_RUN}, workload"
_NONE: Final = "no run holds a GPU"
_FEW: Final = 15
"""Bars that a person looks at."""


def runs(inputs: BoardInputs) -> Row:
    """A run is what its pods name as such; pods that have finished hold nothing."""
    return Row(
        title="Runs on GPUs now",
        panels=(*_numbers(), _idle(inputs), _table(inputs)),
        needs=frozenset({"dcgm-exporter", "kube-state-metrics"}),
    )


def _of_runs(record: str, by: str = _BY) -> str:
    """A record of pods, summed for each run. The identity has one series for each pod."""
    told = chosen(INFO_METRIC, 'team=~"$team", run_id!=""')
    return f"sum by ({by}) ({chosen(record)}\n* on ({POD}) group_left ({_RUN}, workload)\n{told})"


def _numbers() -> tuple[Panel, ...]:
    held = _of_runs("workload:gpu_allocated:sum")
    told = chosen("up", 'job="kube-state-metrics"')
    nothing = f"0 * count({told} == 1)"
    of_teams = chosen("team:gpu_allocated:sum", 'team=~"$team"')
    allocated = f"(sum({of_teams}) or {nothing})"
    return (
        stat(
            "Runs on GPUs",
            f"count({held} > 0) or {nothing}",
            "Each counts once, however many pods it has.",
        ),
        stat(
            "GPUs held by runs",
            f"sum({held}) or {nothing}",
            "Devices of pods that name a run.",
        ),
        stat(
            "GPUs held without a run",
            f"{allocated}\n-\n(sum({held}) or {nothing})",
            "Notebooks and servers, or trainings whose pods do not name their run: nothing leads from them to SwanLab.",
        ),
    )


def _idle(inputs: BoardInputs) -> Panel:
    by = f"cluster, environment, {_RUN}"
    busy, devices = (_of_runs(record, by) for record in ("workload:gpu_busy:sum", "workload:gpu_devices:count"))
    return Panel(
        title="Least busy runs",
        kind=Kind.BARS,
        unit=Unit.RATIO,
        meaning="Utilization of all GPUs of a run. Near nothing it waits: for data, for a rank that is gone, for its "
        "owner.",
        queries=(
            Query(expr=f"bottomk({_FEW}, {busy}\n/\n({devices} > 0))", legend="{{team}} {{run_id}}", instant=True),
        ),
        limits=Limits(warn=inputs.rules.thresholds.gpu_utilization_low, good=Good.HIGH),
        links=(*run_page(inputs), *runbook(inputs, "gpu-utilization-low")),
        empty=_NONE,
        width=12,
        high=1,
    )


def _table(inputs: BoardInputs) -> Panel:
    links = (
        *run_page(inputs),
        *log_lines(inputs, 'run_id:"${__field.labels.run_id}"'),
        *run_traces(inputs, "${__field.labels.workload}"),
    )
    return Panel(
        title="Runs and their GPUs",
        kind=Kind.TABLE,
        unit=Unit.COUNT,
        meaning="A click leads to the run's page, to its log lines of the board's time, and to traces of the service "
        "that is named like its workload.",
        queries=(Query(expr=_of_runs("workload:gpu_allocated:sum"), legend="{{team}} {{run_id}}", instant=True),),
        links=links,
        empty=_NONE,
        width=WIDTH,
        height=10,
    )
