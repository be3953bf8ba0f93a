"""Alerts about collectors: what they refuse, what they cannot deliver, what they lose, and what they cost.

A collector is healthy as its probe sees it while every export fails (signals/catalogue/otel_collector.py), so delivery
is judged by what waits and by what was taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.catalogue.otel_collector import AGENT, GATEWAY, ITEMS
from signals.rules.expressions import PROCESS, grew
from signals.rules.model import Alert, Group, Severity
from signals.rules.telemetry_records import FILES, INSTANCE, UNACCOUNTED, WITHHELD, telemetry_records
from signals.rules.telemetry_sampling import sampling_alerts
from signals.rules.telemetry_volume import collector_volumes

if TYPE_CHECKING:
    from signals.rules.inputs import RuleInputs, TelemetryPlans
    from signals.thresholds import Thresholds

_JOBS: Final = f'job=~"{AGENT.job}|{GATEWAY.job}"'
_GATEWAY: Final = f'job="{GATEWAY.job}"'
_AGE: Final = "otelcol_process_uptime"
_QUEUE: Final = f"{INSTANCE}, exporter, data_type"
_WHERE: Final = "{{ $labels.job }} {{ $labels.instance }} (cluster {{ $labels.cluster }})"


def telemetry_groups(inputs: RuleInputs) -> tuple[Group, ...]:
    """Every group of this file; none for a stack without collectors."""
    plans, limits = inputs.telemetry, inputs.thresholds
    if plans is None:
        return ()
    taking = (*_refused(), *_limited(), *_unreadable(), _memory(plans, limits), *_agents(inputs), _redaction())
    sending = (_not_sending(), _filling(limits), *_lost(), _unaccounted(limits), _restarted(plans))
    return (
        telemetry_records(inputs.jobs),
        Group(name="plumbline-telemetry-collectors", rules=taking),
        Group(name="plumbline-telemetry-delivery", rules=sending),
        Group(name="plumbline-telemetry-sampling", rules=sampling_alerts(limits, plans)),
        Group(name="plumbline-telemetry-volume", rules=collector_volumes(plans, limits)),
    )


def _refused() -> tuple[Alert, ...]:
    """Of senders: what is read from files waits there, and is another story. A refusal that was tried again is none."""
    return tuple(
        Alert(
            alert="TelemetryRefused",
            expr=f"sum by ({INSTANCE}) "
            f'(increase(otelcol_receiver_refused_{items}{{{_JOBS}, receiver!~"{FILES}"}}[5m]))\n> 0',
            wait="10m",
            severity=Severity.P2,
            labels={"signal": signal},
            summary=f"A collector refuses {signal}",
            description=f"{_WHERE} has refused {signal} for 10 minutes. Senders try again for a while, and then lose "
            "them. Likely causes: too little memory, a queue that is full because a backend does not take anything, "
            "redaction that fails.",
            runbook="telemetry-collector",
        )
        for signal, items in ITEMS.items()
    )


def _limited() -> tuple[Alert, ...]:
    return tuple(
        Alert(
            alert="TelemetryMemoryLimited",
            expr=grew(f"otelcol_processor_memory_limiter_refused_{items}{{{_JOBS}}}", "15m", _AGE),
            wait="0s",
            severity=Severity.P2,
            labels={"signal": signal},
            summary=f"A collector has too little memory for {signal}",
            description=f"{_WHERE} refused {signal} so as not to be killed for its memory. Senders try again for a "
            "while, and then lose them. Likely causes: more is sent than planned, one sender floods it, very large "
            "traces, a backend that is slow.",
            runbook="telemetry-collector",
        )
        for signal, items in ITEMS.items()
    )


def _unreadable() -> tuple[Alert, ...]:
    return tuple(
        Alert(
            alert="TelemetryReceiverFailing",
            expr=grew(f"otelcol_receiver_failed_{items}{{{_JOBS}}}", "15m", _AGE),
            wait="0s",
            severity=Severity.P2,
            labels={"signal": signal},
            summary=f"A collector cannot read {signal}",
            description=f"{_WHERE} could not read {signal} that receiver {{{{ $labels.receiver }}}} got. They are "
            "lost. Likely causes: a sender with another protocol or version, a log file whose name has another form.",
            runbook="telemetry-collector",
        )
        for signal, items in ITEMS.items()
    )


def _memory(plans: TelemetryPlans, limits: Thresholds) -> Alert:
    shares = (
        f'avg by ({INSTANCE}) (avg_over_time(otelcol_process_memory_rss{{job="{job}"}}[5m]))\n'
        f"/ {size} > {limits.telemetry_memory_high}"
        for job, size in ((AGENT.job, plans.agent_memory_bytes), (GATEWAY.job, plans.gateway_memory_bytes))
    )
    return Alert(
        alert="TelemetryMemoryHigh",
        expr="\nor\n".join(shares),
        wait="5m",
        severity=Severity.P2,
        summary="A collector will be killed for its memory",
        description=f"{_WHERE} uses {{{{ $value | humanizePercentage }}}} of its container's memory, more than its own "
        "limiter allows for. When it is killed, traces that wait for a decision are lost. Likely causes: very large "
        "traces, memory that the limiter does not see, a container whose limit was lowered.",
        runbook="telemetry-collector",
    )


def _agents(inputs: RuleInputs) -> tuple[Alert, ...]:
    """None where no agent runs. On every node there is a log file: that of the agent's own pod."""
    if AGENT.job not in inputs.jobs:
        return ()
    job = f'job="{AGENT.job}"'
    return (
        Alert(
            alert="TelemetryAgentReadsNothing",
            expr=f"max by ({INSTANCE}, node) (max_over_time(otelcol_fileconsumer_open_files{{{job}}}[10m]))\n== 0",
            wait="10m",
            severity=Severity.P2,
            summary="The agent on node {{ $labels.node }} reads no log file",
            description="Node {{ $labels.node }} (cluster {{ $labels.cluster }}): its agent has had no log file of a "
            "container open for 20 minutes. Lines are lost when files are rotated. Likely causes: the directory of "
            "logs is another one or not mounted, the agent may not read it.",
            runbook="telemetry-collector",
        ),
        Alert(
            alert="TelemetryAgentBehind",
            expr=f"sum by ({INSTANCE}, node) "
            f'(increase(otelcol_receiver_refused_log_records{{{job}, receiver=~"{FILES}"}}[5m]))\n> 0',
            wait="10m",
            severity=Severity.P2,
            summary="The agent on node {{ $labels.node }} cannot pass on what it reads",
            description="Node {{ $labels.node }} (cluster {{ $labels.cluster }}): for 10 minutes log lines were read "
            "and refused. They wait in their files, and are lost when those are rotated twice. Likely causes: the "
            "gateway is down, slow or refuses, the agent's queue is full, its memory is too small.",
            runbook="telemetry-collector",
        ),
    )


def _redaction() -> Alert:
    """Both counts are read one after the other, so that a moment may show any difference; minutes do not."""
    least = f"min_over_time({WITHHELD}[3m])"
    return Alert(
        alert="TelemetryRedactionFailing",
        expr=f"{least} > max_over_time({WITHHELD}[3m] offset 15m)\nor\n"
        f"({least} > 0 and on ({PROCESS}) {_AGE}{{{_JOBS}}} < 15m)",
        wait="0s",
        severity=Severity.P1,
        summary="Redaction fails, and what it cannot redact is refused",
        description=f"{_WHERE}: {{{{ $labels.processor }}}} failed on {{{{ $labels.otel_signal }}}}. Nothing leaves "
        "unredacted: the whole batch is refused. Likely causes: a statement that does not fit a value, as after a "
        "change of the redaction or of the collector's version; a sender with values of another type.",
        runbook="telemetry-redaction",
    )


def _not_sending() -> Alert:
    """Both look at five minutes and never at the last sample, so that a crash loop does not end the wait."""
    held = (
        f"max by ({_QUEUE}) (\n"
        f'  min_over_time(otelcol_exporter_queue_size{{{_JOBS}, data_type="{signal}"}}[5m])\n) > 0\n'
        f"unless on ({INSTANCE}, exporter)\n"
        f"increase(otelcol_exporter_sent_{items}{{{_JOBS}}}[5m]) > 0"
        for signal, items in ITEMS.items()
    )
    return Alert(
        alert="TelemetryNotSending",
        expr="\nor\n".join(f"({each})" for each in held),
        wait="10m",
        severity=Severity.P2,
        summary="{{ $labels.data_type }} do not arrive at {{ $labels.exporter }}",
        description=f"{_WHERE} has held {{{{ $labels.data_type }}}} for {{{{ $labels.exporter }}}} for 15 minutes and "
        "delivered none; its probe says that it is well. They wait on disk. Likely causes: the backend is down, full "
        "or read-only, its address or certificate is wrong, it refuses the credentials.",
        runbook="telemetry-collector",
    )


def _filling(limits: Thresholds) -> Alert:
    """A level, or a line: half full, and full within the hour at the pace of the last quarter of one."""
    high = limits.telemetry_queue_high
    size = f"otelcol_exporter_queue_size{{{_JOBS}}}"
    most = f"max by ({_QUEUE}) (max_over_time(otelcol_exporter_queue_capacity{{{_JOBS}}}[5m]))"
    share = f"max by ({_QUEUE}) (max_over_time({size}[5m]))\n/ {most}"
    soon = f"max by ({_QUEUE}) (predict_linear({size}[15m], 3600))"
    return Alert(
        alert="TelemetryQueueFilling",
        expr=f"{share}\n> {high}\nor\n({share}\n> {high / 2} and {soon} >= {most})",
        wait="5m",
        severity=Severity.P1,
        summary="The queue of {{ $labels.data_type }} for {{ $labels.exporter }} runs full",
        description=f"{_WHERE}: {{{{ $value | humanizePercentage }}}} of the queue of {{{{ $labels.data_type }}}} for "
        "{{ $labels.exporter }} are used. When it is full, they are thrown away or refused. Likely causes: the backend "
        "is down, slow or read-only, more is sent than planned.",
        runbook="telemetry-loss",
    )


def _lost() -> tuple[Alert, ...]:
    kinds = (
        ("enqueue_failed", "queue", "its queue was full", "a backend that was away for longer than the queue is large"),
        ("send_failed", "backend", "the backend refused them for ever", "a form or size that it does not take"),
    )
    return tuple(
        Alert(
            alert="TelemetryLost",
            expr=grew(f"otelcol_exporter_{metric}_{items}{{{_JOBS}}}", "15m", _AGE),
            wait="0s",
            severity=Severity.P1,
            labels={"signal": signal, "why": why},
            summary=f"A collector has thrown {signal} away",
            description=f"{_WHERE}, exporter {{{{ $labels.exporter }}}}: {signal} that it had taken were thrown away, "
            f"because {reason}. Nobody else has them. Likely causes: {cause}.",
            runbook="telemetry-loss",
        )
        for signal, items in ITEMS.items()
        for metric, why, reason, cause in kinds
    )


def _unaccounted(limits: Thresholds) -> Alert:
    """Where the signal's queues are empty, everything that was taken must be somewhere; see UNACCOUNTED."""
    now, before = f"min_over_time({UNACCOUNTED}[15m])", f"max_over_time({UNACCOUNTED}[15m] offset 1h)"
    taken = f"increase(instance:telemetry_taken:items{{{_JOBS}}}[1h])"
    held = f"max_over_time(otelcol_exporter_queue_size{{{_JOBS}}}[15m])"
    waiting = f'label_replace({held}, "signal", "$1", "data_type", "(.*)")'
    empty = f"max by ({INSTANCE}, signal) ({waiting}) == 0"
    return Alert(
        alert="TelemetryUnaccounted",
        expr=f"({now}\n- {before}) / ({taken} > 0)\n> {limits.telemetry_unaccounted_high}\n"
        f"and on ({INSTANCE}, signal)\n{empty}\nand on ({INSTANCE})\n{_AGE}{{{_JOBS}}} > 75m",
        wait="5m",
        severity=Severity.P2,
        summary="{{ $labels.signal }} vanish in a collector",
        description=f"{_WHERE}: of what it took of {{{{ $labels.signal }}}} in the last hour, "
        "{{ $value | humanizePercentage }} were neither sent nor dropped on purpose nor counted as lost. Likely "
        "causes: a processor that drops, a pipeline without an exporter, a fault of the collector's version.",
        runbook="telemetry-loss",
    )


def _restarted(plans: TelemetryPlans) -> Alert:
    """Of a gateway that was there before, so that a new stack begins in silence."""
    uptime = f"otelcol_process_uptime{{{_GATEWAY}}}"
    return Alert(
        alert="TelemetryGatewayRestarted",
        expr=f"max by ({INSTANCE}) ({uptime}) < 15m\nand on (cluster, environment)\n{uptime} offset 15m > 0",
        wait="0s",
        severity=Severity.P3,
        summary="The gateway of the collectors was started anew",
        description=f"{_WHERE} was started {{{{ $value | humanizeDuration }}}} ago. If it was killed, spans of "
        "traces that waited for a decision are lost, which came in the "
        f"{plans.decision_wait_seconds} seconds before; logs and what was decided are on its claim. Likely causes: a "
        "new configuration or image, its node was drained, it was killed for its memory.",
        runbook="telemetry-loss",
    )
