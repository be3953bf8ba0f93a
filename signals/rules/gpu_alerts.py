"""Alerts about how GPUs are used and how hot they run, from dcgm-exporter alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from signals.rules.gpu_labels import GPU, POD
from signals.rules.model import Alert, Group, Severity

if TYPE_CHECKING:
    from signals.rules.inputs import RuleInputs
    from signals.thresholds import Thresholds

GPU_WHERE = "GPU {{ $labels.gpu }} of {{ $labels.node }} (cluster {{ $labels.cluster }}, {{ $labels.UUID }})"
_POD_WHERE = "{{ $labels.namespace }}/{{ $labels.pod }} (cluster {{ $labels.cluster }})"


def gpu_alerts(inputs: RuleInputs) -> Group:
    """Idle, full, stalled, hot, throttled."""
    limits = inputs.thresholds
    return Group(
        name="plumbline-gpu",
        rules=(
            _utilization_low(limits),
            _memory_high(limits),
            _stalled(),
            _hot(limits),
            _thermal_throttling(limits),
            _power_throttling(limits),
            _hardware_slowdown(),
        ),
    )


def _utilization_low(limits: Thresholds) -> Alert:
    """An average, so that one lost scrape or one short burst changes nothing; a pause of ten minutes an hour does not
    bring it below. A pod must have held the GPU for the whole time, and hold it still.
    """
    held = 'gpu:utilization:ratio{pod!=""}'
    return Alert(
        alert="GpuUtilizationLow",
        expr=f"count by ({POD}, node) (\n"
        f"  avg_over_time({held}[25m]) < {limits.gpu_utilization_low}\n"
        f"  and present_over_time({held}[5m] offset 25m)\n"
        f"  and present_over_time({held}[5m])\n)",
        wait="5m",
        severity=Severity.P3,
        summary="{{ $value }} GPUs of {{ $labels.namespace }}/{{ $labels.pod }} have been idle for 30 minutes",
        description=f"{_POD_WHERE} holds {{{{ $value }}}} GPUs of {{{{ $labels.node }}}} that did nearly nothing for "
        "30 minutes. Nobody else can use them. Likely causes: a job that waits for data or for other ranks, a "
        "notebook left open, a service without traffic, more GPUs requested than the program uses.",
        runbook="gpu-utilization-low",
    )


def _memory_high(limits: Thresholds) -> Alert:
    """Full is normal for programs that take their memory when they start: inference servers, caching allocators.

    What runs out is memory whose peak still rises: compared with the hour before, of a pod that is older than that.
    """
    held = 'gpu:memory_used:ratio{pod!=""}'
    peak = f"max_over_time({held}[10m])"
    return Alert(
        alert="GpuMemoryHigh",
        expr=f"{peak} > {limits.gpu_memory_high}\n"
        f"and\n{peak} - max_over_time({held}[1h] offset 10m) > 0.01\n"
        f"and\npresent_over_time({held}[5m] offset 1h)",
        wait="10m",
        severity=Severity.P3,
        summary="Memory of GPU {{ $labels.gpu }} of {{ $labels.node }} is nearly full and still rises",
        description=f"{_POD_WHERE} uses {{{{ $value | humanizePercentage }}}} of the memory of {GPU_WHERE}, more than "
        "ever in the hour before. When it is full, the program ends with an out-of-memory error. Likely causes: a "
        "leak, longer inputs than before, fragmentation in the allocator.",
        runbook="gpu-memory-high",
    )


def _stalled() -> Alert:
    """Throughput is judged by the activity of the multiprocessors, until workloads report their own.

    A checkpoint of ten minutes does not bring an average of 15 minutes below a fifth of the hour before. What is left
    in the averages of a pod that has ended with a checkpoint does: so it must be there still.
    """
    memory = "workload:gpu_memory_used:avg"
    power, active = "workload:gpu_power_watts:sum", "workload:gpu_sm_active:avg"
    return Alert(
        alert="GpuStalled",
        expr=f"avg_over_time({power}[15m]) < 0.5 * avg_over_time({power}[1h] offset 15m)\n"
        f"and\navg_over_time({active}[15m]) < 0.2 * (avg_over_time({active}[1h] offset 15m) > 0.3)\n"
        f"and\navg_over_time({memory}[15m]) > 0.5\nand\npresent_over_time({memory}[3m])",
        wait="5m",
        severity=Severity.P2,
        summary="{{ $labels.namespace }}/{{ $labels.pod }} holds its GPU memory and has stopped computing",
        description=f"{_POD_WHERE} was busy in the hour before; now its GPUs draw {{{{ $value | humanize }}}} W, less "
        "than half, do less than a fifth of the work, and their memory is still in use. Likely causes: a collective "
        "that waits for a rank that is gone, storage that does not answer, a program that has ended its work.",
        runbook="gpu-stalled",
    )


def _hot(limits: Thresholds) -> Alert:
    """An average of five minutes: neither a peak nor a value at the limit makes it come and go."""
    exceptions = limits.gpu_temperature_celsius_by_model
    others = ", ".join(f"modelName!={json.dumps(model)}" for model in exceptions)
    parts = [(others, limits.gpu_temperature_celsius)]
    parts += [(f"modelName={json.dumps(model)}", limit) for model, limit in exceptions.items()]
    series = (f"DCGM_FI_DEV_GPU_TEMP{{{which}}}" if which else "DCGM_FI_DEV_GPU_TEMP" for which, _ in parts)
    compared = (
        f"max by ({GPU}) (avg_over_time({one}[5m])) > {limit}" for one, (_, limit) in zip(series, parts, strict=True)
    )
    return Alert(
        alert="GpuHot",
        expr="\nor\n".join(compared),
        wait="5m",
        severity=Severity.P2,
        summary="GPU {{ $labels.gpu }} of {{ $labels.node }} is at {{ $value | humanize }} °C",
        description=f"{GPU_WHERE}, a {{{{ $labels.modelName }}}}, has been at {{{{ $value | humanize }}}} °C for 10 "
        "minutes. It slows down soon, and switches off in the end. Likely causes: a fan or pump that failed, hot air "
        "at the inlet, a cold plate that lost contact, a neighbour that failed.",
        runbook="gpu-hot",
    )


def _thermal_throttling(limits: Thresholds) -> Alert:
    return Alert(
        alert="GpuThermalThrottling",
        expr=f"max by ({GPU}) (rate(DCGM_FI_DEV_THERMAL_VIOLATION[10m])) / 1e9 > {limits.gpu_thermal_throttle}",
        wait="5m",
        severity=Severity.P2,
        summary="Heat slows GPU {{ $labels.gpu }} of {{ $labels.node }} down",
        description=f"{GPU_WHERE} was held back by its temperature for {{{{ $value | humanizePercentage }}}} of the "
        "last 10 minutes. In training, all ranks wait for it. Likely causes: cooling that failed or is too weak, hot "
        "air at the inlet.",
        runbook="gpu-throttled",
    )


def _power_throttling(limits: Thresholds) -> Alert:
    """Running into the power limit is normal under full load; for most of half an hour it costs throughput."""
    return Alert(
        alert="GpuPowerThrottling",
        expr=f"max by ({GPU}) (rate(DCGM_FI_DEV_POWER_VIOLATION[30m])) / 1e9 > {limits.gpu_power_throttle}",
        wait="15m",
        severity=Severity.P3,
        summary="The power limit slows GPU {{ $labels.gpu }} of {{ $labels.node }} down",
        description=f"{GPU_WHERE} was held back by its power limit for {{{{ $value | humanizePercentage }}}} of the "
        "last 30 minutes. Likely causes: a limit set below that of the board, a rack that is short of power.",
        runbook="gpu-throttled",
    )


def _hardware_slowdown() -> Alert:
    slowdowns = 'DCGM_EXP_CLOCK_EVENTS_COUNT{clock_event=~"hw_slowdown|hw_thermal|hw_power_brake"}'
    return Alert(
        alert="GpuHardwareSlowdown",
        expr=f"max by ({GPU}, clock_event) (max_over_time({slowdowns}[5m])) > 0",
        wait="10m",
        severity=Severity.P2,
        summary="Hardware halves the clocks of GPU {{ $labels.gpu }} of {{ $labels.node }}: {{ $labels.clock_event }}",
        description=f"{GPU_WHERE} has run at half its clocks or less for 10 minutes: {{{{ $labels.clock_event }}}}. "
        "Likely causes: hw_thermal, cooling; hw_power_brake, the power supply asks for it; hw_slowdown, either.",
        runbook="gpu-throttled",
    )
