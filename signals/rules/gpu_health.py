"""Alerts about broken GPUs, links and exporters, from dcgm-exporter alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.rules.gpu_alerts import GPU_WHERE
from signals.rules.gpu_labels import GPU, NODE
from signals.rules.model import Alert, Group, Severity

if TYPE_CHECKING:
    from signals.rules.inputs import RuleInputs
    from signals.thresholds import Thresholds

_NODE_WHERE = "{{ $labels.node }} (cluster {{ $labels.cluster }})"
_SHORT = "GPU {{ $labels.gpu }} of {{ $labels.node }}"


def gpu_health_alerts(inputs: RuleInputs) -> Group:
    """Memory, verdicts of DCGM, links, lost GPUs, exporters that tell nothing new."""
    limits = inputs.thresholds
    return Group(
        name="plumbline-gpu-health",
        rules=(
            _ecc_double_bit(),
            _remap_failed(),
            _remap_pending(),
            _health_failed(),
            _health_warning(),
            _nvlink_errors(limits),
            _pcie_replays(limits),
            _lost(),
            _exporter_frozen(),
            _exporter_flapping(),
        ),
    )


def _ecc_double_bit() -> Alert:
    """The volatile count is a state, not an event: a reset of the GPU, which is the remedy, sets it to 0."""
    return Alert(
        alert="GpuEccDoubleBit",
        expr=f"max by ({GPU}) (max_over_time(DCGM_FI_DEV_ECC_DBE_VOL_TOTAL[10m])) > 0",
        wait="0s",
        severity=Severity.P1,
        summary=f"{_SHORT} has memory errors that cannot be corrected",
        description=f"{GPU_WHERE} has had {{{{ $value }}}} double-bit errors since its last reset. The process that "
        "hit them is dead or computes with wrong data. Likely causes: a failing memory cell or board, radiation.",
        runbook="gpu-memory-errors",
    )


def _remap_failed() -> Alert:
    return Alert(
        alert="GpuRowRemapFailed",
        expr=f"max by ({GPU}) (max_over_time(DCGM_FI_DEV_ROW_REMAP_FAILURE[10m])) > 0",
        wait="0s",
        severity=Severity.P1,
        summary=f"{_SHORT} has no spare memory row left",
        description=f"{GPU_WHERE} could not replace a damaged row of its memory and must be replaced itself. Likely "
        "causes: a failing memory stack.",
        runbook="gpu-memory-errors",
    )


def _remap_pending() -> Alert:
    pending = " or ".join(
        f"max by ({GPU}) (max_over_time({metric}[10m])) > 0"
        for metric in ("DCGM_FI_DEV_ROW_REMAP_PENDING", "DCGM_FI_DEV_RETIRED_PENDING")
    )
    return Alert(
        alert="GpuRowRemapPending",
        expr=pending,
        wait="15m",
        severity=Severity.P3,
        summary=f"{_SHORT} waits for a reset to replace damaged memory",
        description=f"{GPU_WHERE} has found damaged memory, which leaves use with the next reset; until then errors "
        "may come again. Likely causes: ageing memory, a burst of corrected errors.",
        runbook="gpu-memory-errors",
    )


def _health(name: str, bounds: str, wait: str, severity: Severity, words: str) -> Alert:
    """The error code is left out of the labels: it changes while the same part stays bad."""
    worst = f"max by ({GPU}, health_watch) (max_over_time(DCGM_EXP_GPU_HEALTH_STATUS[5m]))"
    return Alert(
        alert=name,
        expr=f"{worst} {bounds}",
        wait=wait,
        severity=severity,
        summary=f"DCGM {words} {{{{ $labels.health_watch }}}} of {_SHORT}",
        description=f"{GPU_WHERE}: DCGM's own check of {{{{ $labels.health_watch }}}} says {{{{ $value }}}} (10 is a "
        "warning, 20 a failure). Likely causes: stand in the label health_error_code of DCGM_EXP_GPU_HEALTH_STATUS.",
        runbook="gpu-health",
    )


def _health_failed() -> Alert:
    return _health("GpuHealthFailed", ">= 20", "2m", Severity.P1, "fails")


def _health_warning() -> Alert:
    return _health("GpuHealthWarning", ">= 10 < 20", "15m", Severity.P3, "warns about")


def _nvlink_errors(limits: Thresholds) -> Alert:
    """A link is trained when the driver loads, so a count that a new GPU brings along is no fault; growth is."""
    error = "DCGM_FI_DEV_NVLINK_{}_ERROR_COUNT_TOTAL"
    crc = " + ".join(f"max by ({GPU}) (rate({error.format(kind)}[10m]))" for kind in ("CRC_FLIT", "CRC_DATA"))
    return Alert(
        alert="GpuNvlinkErrors",
        expr=f"max by ({GPU}) (rate({error.format('RECOVERY')}[10m])) > 0\n"
        f"or\n{crc} > {limits.gpu_nvlink_crc_per_second}",
        wait="2m",
        severity=Severity.P2,
        summary=f"NVLink of {_SHORT} fails or loses data",
        description=f"{GPU_WHERE}: links were trained anew, or damaged packets came faster than the limit "
        "({{ $value | humanize }} a second). Collectives slow down or hang. Likely causes: a worn connector, a failing "
        "link or switch, a GPU at the other end that failed.",
        runbook="gpu-link-errors",
    )


def _pcie_replays(limits: Thresholds) -> Alert:
    return Alert(
        alert="GpuPcieReplays",
        expr=f"max by ({GPU}) (rate(DCGM_FI_DEV_PCIE_REPLAY_COUNTER[10m])) * 60 > {limits.gpu_pcie_replays_per_minute}",
        wait="5m",
        severity=Severity.P3,
        summary=f"PCIe of {_SHORT} repeats packets",
        description=f"{GPU_WHERE} repeats {{{{ $value | humanize }}}} packets a minute on PCIe. Loading of data is "
        "slow, and the GPU may fall off the bus. Likely causes: a badly seated board, a failing cable or slot.",
        runbook="gpu-link-errors",
    )


def _lost() -> Alert:
    """Compared with what the node itself showed, so it needs no inventory. A node that shows nothing is not judged."""
    return Alert(
        alert="GpuLost",
        expr="max_over_time(node:gpus:count[5m]) < max_over_time(node:gpus:count[6h])",
        wait="5m",
        severity=Severity.P1,
        summary="{{ $labels.node }} has lost a GPU: {{ $value }} are left",
        description=f"{_NODE_WHERE} shows {{{{ $value }}}} GPUs, fewer than within the last 6 hours. Jobs on the "
        "missing one are dead or hang. Likely causes: a GPU that fell off the bus (XID 79), a driver that gave it up, "
        "a board taken out on purpose.",
        runbook="gpu-lost",
    )


def _exporter_frozen() -> Alert:
    """Energy only counts up, even on an idle GPU: ten minutes without a change are repeated values, not a measurement.

    Per board, not per series: a pod that takes over a GPU starts a new series.
    """
    energy, board = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", f"{NODE}, UUID"
    return Alert(
        alert="GpuExporterFrozen",
        expr=f"count by ({NODE}) (\n"
        f"  max by ({board}) (changes({energy}[10m])) == 0\n"
        f"  and on ({board}) max by ({board}) (present_over_time({energy}[5m] offset 10m))\n"
        f"  and on ({board}) max by ({board}) (present_over_time({energy}[2m]))\n)",
        wait="5m",
        severity=Severity.P2,
        summary="dcgm-exporter of {{ $labels.node }} repeats old values",
        description=f"{_NODE_WHERE}: {{{{ $value }}}} GPUs are exposed with values that have not moved for 15 minutes, "
        "though every scrape succeeds. Every other alert about them is blind. Likely causes: the host engine has died "
        "or was restarted below the exporter, the driver hangs.",
        runbook="gpu-exporter",
    )


def _exporter_flapping() -> Alert:
    """Each restart is two changes. It has no start time of its own to go by."""
    return Alert(
        alert="GpuExporterFlapping",
        expr=f'max by ({NODE}) (changes(up{{job="dcgm-exporter"}}[1h])) >= 6',
        wait="0s",
        severity=Severity.P3,
        summary="dcgm-exporter of {{ $labels.node }} comes and goes",
        description=f"{_NODE_WHERE}: scrapes of dcgm-exporter changed between failing and answering {{{{ $value }}}} "
        "times within an hour. Likely causes: it is killed for its memory, a collection takes longer than the timeout "
        "of the scrape, the driver hangs at times.",
        runbook="gpu-exporter",
    )
