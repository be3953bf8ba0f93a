"""GPU fleet: how many there are, who holds them, how busy, how hot, and which are in trouble."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.dashboards.model import Board, Good, Kind, Limits, Panel, Query, Row, Unit
from signals.dashboards.panels import stat
from signals.dashboards.variables import CLUSTER, ENVIRONMENT, FLEET_CHOICE, TEAM, chosen
from signals.rules.gpu_labels import FLEET

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs
    from signals.thresholds import Thresholds

_NOBODY: Final = "nothing until a pod holds a GPU"


def gpu_fleet(inputs: BoardInputs) -> Board:
    """From the whole to one GPU. Colours change where alerts do."""
    limits = inputs.rules.thresholds
    return Board(
        uid="plumbline-gpu-fleet",
        title="GPU fleet",
        meaning="GPUs of the chosen clusters: how many are held, how busy they are, what they draw, which are unwell.",
        rows=(_whole(), _teams(), _use(), _heat(limits), _faults(limits)),
        variables=(CLUSTER, ENVIRONMENT, TEAM),
        needs=frozenset({"dcgm-exporter", "kube-state-metrics"}),
    )


def _whole() -> Row:
    allocatable, allocated = (f"sum({chosen(f'fleet:gpu_{what}:sum')})" for what in ("allocatable", "allocated"))
    weighted = f"sum({chosen('node:gpu_utilization:avg')} * {chosen('node:gpu_devices:count')})"
    return Row(
        title="Fleet",
        panels=(
            stat("GPUs offered", allocatable, "Devices that nodes offer to pods: boards, MIG instances, shares."),
            stat("GPUs held", allocated, "Devices that pods hold which have not finished."),
            stat(
                "Held share",
                f"{allocated} / ({allocatable} > 0)",
                "Below nine tenths there are GPUs that nobody uses; above, pods will wait.",
                Unit.RATIO,
            ),
            stat(
                "Utilization",
                f"{weighted} / (sum({chosen('node:gpu_devices:count')}) > 0)",
                "Of all devices, held or not, each with the same weight.",
                Unit.RATIO,
            ),
            stat("Power", f"sum({chosen('fleet:gpu_power_watts:sum')})", "All boards together.", Unit.WATTS),
            stat(
                "Hottest GPU",
                f"max({chosen('fleet:gpu_temperature_celsius:max')})",
                "Where it is: the table of temperatures below.",
                Unit.CELSIUS,
            ),
        ),
    )


def _teams() -> Row:
    team = 'team=~"$team"'
    return Row(
        title="Teams",
        panels=(
            Panel(
                title="GPUs held by team",
                kind=Kind.TIMESERIES,
                unit=Unit.COUNT,
                meaning="`unattributed` are pods without the label of a team.",
                empty=_NOBODY,
                queries=(Query(expr=f"sum by (team) ({chosen('team:gpu_allocated:sum', team)})", legend="{{team}}"),),
                width=12,
            ),
            Panel(
                title="Utilization by team",
                kind=Kind.TIMESERIES,
                unit=Unit.RATIO,
                meaning="Of the devices that a team holds, each with the same weight.",
                empty=_NOBODY,
                queries=(
                    Query(
                        expr=f"sum by (team) ({chosen('team:gpu_busy:sum', team)})\n/\n"
                        f"(sum by (team) ({chosen('team:gpu_devices:count', team)}) > 0)",
                        legend="{{team}}",
                    ),
                ),
                width=12,
                high=1,
            ),
        ),
    )


def _use() -> Row:
    parts = (("sm_active", "multiprocessors"), ("tensor_active", "tensor cores"), ("dram_active", "memory"))
    return Row(
        title="Use",
        panels=(
            Panel(
                title="Activity of the fleet",
                kind=Kind.TIMESERIES,
                unit=Unit.RATIO,
                meaning="Multiprocessors that are busy while tensor cores are not: a program that computes in the "
                "wrong precision, or is held up by memory.",
                queries=tuple(
                    Query(expr=f"avg({chosen(f'fleet:gpu_{name}:avg')})", legend=legend) for name, legend in parts
                ),
                width=12,
                high=1,
            ),
            Panel(
                title="Used memory of the fleet",
                kind=Kind.TIMESERIES,
                unit=Unit.RATIO,
                meaning="Of all framebuffers. Inference servers take theirs when they start.",
                queries=(
                    Query(expr=f"avg by ({FLEET}) ({chosen('fleet:gpu_memory_used:avg')})", legend="{{cluster}}"),
                ),
                width=12,
                high=1,
            ),
        ),
    )


def _heat(limits: Thresholds) -> Row:
    return Row(
        title="Heat and power",
        panels=(
            Panel(
                title="Temperature by node",
                kind=Kind.TIMESERIES,
                unit=Unit.CELSIUS,
                meaning="The hottest board of each node. Above the line the alert GpuHot is near.",
                queries=(Query(expr=chosen("node:gpu_temperature_celsius:max"), legend="{{node}}"),),
                limits=Limits(warn=limits.gpu_temperature_celsius),
                width=12,
            ),
            Panel(
                title="Held back by heat",
                kind=Kind.TIMESERIES,
                unit=Unit.RATIO,
                meaning="Share of time in which heat held a node's clocks back. All ranks of a job wait.",
                queries=(Query(expr=chosen("node:gpu_thermal_throttle:ratio"), legend="{{node}}"),),
                limits=Limits(warn=limits.gpu_thermal_throttle),
                width=12,
                high=1,
            ),
        ),
    )


def _faults(limits: Thresholds) -> Row:
    firing = f'count by (alertname, node) (ALERTS{{{FLEET_CHOICE}, alertstate="firing", alertname=~"Gpu.*"}})'
    seen = f"sum by ({FLEET}) ({chosen('node:gpu_devices:count')}) * {limits.gpu_replicas}"
    should = f"sum by ({FLEET}) ({chosen('node:gpu_capacity:sum')})"
    return Row(
        title="Faults",
        panels=(
            Panel(
                title="Alerts about GPUs",
                kind=Kind.TABLE,
                unit=Unit.COUNT,
                meaning="What fires now. Each has a runbook.",
                queries=(Query(expr=firing, instant=True),),
                empty="no alert about a GPU fires",
                width=12,
            ),
            Panel(
                title="GPUs present of those there should be",
                kind=Kind.TIMESERIES,
                unit=Unit.RATIO,
                meaning="Below one a board has fallen off its bus; zero where no exporter answers.",
                queries=(
                    Query(
                        expr=f"({seen}\n  or 0 * {should})\n/\n({should} > 0)",
                        legend="{{cluster}}",
                    ),
                ),
                limits=Limits(warn=1.0, good=Good.HIGH),
                width=12,
            ),
        ),
    )
