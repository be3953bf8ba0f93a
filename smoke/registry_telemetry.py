"""Checks of traces and logs; a part of the page in registry.py."""

from __future__ import annotations

from smoke.conformance import SERVICES
from smoke.model import Check, Impact

COLLECTOR = "otel-collector"
LOGS = "victoria-logs"
TRACES = "jaeger"
TELEMETRY = ("telemetry",)
FOLLOW = (
    "health says nothing of delivery: look at `otelcol_exporter_queue_size`, `otelcol_exporter_send_failed_*` and "
    "`otelcol_receiver_refused_*` of agent and gateway, then read their logs"
)


def telemetry() -> tuple[Check, ...]:
    """What is kept, what is hidden, and that all of it is counted."""
    return (*_running(), *_arriving(), *_deciding(), *_stores(), *_disruptive())


def _disruptive() -> tuple[Check, ...]:
    """What outlives a gateway."""
    return (
        Check(
            id="telemetry.survives_kill",
            requirement="A6",
            claim="A gateway that is killed under load loses no log record, and no traces but those that waited for "
            "their decision",
            remedy="see that the gateway's queue is on its claim and the agent's on its node, and that both try again "
            "for ever (`max_elapsed_time: 0s`)",
            impact=Impact.DISRUPTIVE,
            needs=(*TELEMETRY, "disruptive"),
            component=COLLECTOR,
            may_skip="neither logs nor traces go to a store of this stack",
        ),
    )


def _running() -> tuple[Check, ...]:
    return (
        Check(
            id="telemetry.config",
            requirement="A6",
            claim="Every pod of agent and gateway runs the configuration that the stack rendered, which nobody changed",
            remedy="run `make up`: it puts the ConfigMap back, and starts pods anew that were made for another one; if "
            "a pod stays behind, delete it",
            needs=TELEMETRY,
            component=COLLECTOR,
        ),
        Check(
            id="telemetry.accounting",
            requirement="D9",
            claim="What agents, gateways and stores take is accounted for by their own counters, and nothing is lost",
            remedy=FOLLOW,
            impact=Impact.SENTINEL,
            needs=TELEMETRY,
            component=COLLECTOR,
        ),
    )


def _arriving() -> tuple[Check, ...]:
    return (
        Check(
            id="telemetry.trace",
            requirement="B6",
            claim="A trace that a workload sends to its agent is at the store, whole, with the keys of its workload",
            remedy=FOLLOW,
            impact=Impact.SENTINEL,
            needs=(*TELEMETRY, "traces"),
            component=COLLECTOR,
        ),
        Check(
            id="telemetry.log",
            requirement="B6",
            claim="A line that a pod prints is at the store of logs once, with its pod, node, run and trace",
            remedy="see that an agent runs on the pod's node and reads /var/log/pods; then " + FOLLOW,
            impact=Impact.SENTINEL,
            needs=(*TELEMETRY, "logs"),
            component=COLLECTOR,
        ),
        Check(
            id="telemetry.redaction",
            requirement="C9",
            claim="What must be hidden is at no store, in whatever field of a trace, log record or metric it was sent",
            remedy="the line names field and store: add the field to the gateway's redaction, whose coverage changes "
            "with the collector's version; treat what was stored until then as disclosed",
            impact=Impact.SENTINEL,
            needs=TELEMETRY,
            component=COLLECTOR,
        ),
    )


def _deciding() -> tuple[Check, ...]:
    return (
        Check(
            id="telemetry.sampling",
            requirement="B6",
            claim="Every trace that failed or was slow is kept whole, and of the others the promised share",
            remedy="look at `otelcol_processor_tail_sampling_*`: traces dropped too early need more memory, halves of "
            "traces come from several gateways that do not route by trace; traces with a late root are missing where "
            "the gateway decides before it has come (`decision_wait`)",
            impact=Impact.SENTINEL,
            needs=(*TELEMETRY, "traces"),
            component=COLLECTOR,
        ),
        Check(
            id="telemetry.span_metrics",
            requirement="B6",
            claim="Metrics of spans count every span that was sent, whether its trace is kept or not",
            remedy="see that spans are counted before they are sampled, and that Prometheus scrapes every gateway",
            impact=Impact.SENTINEL,
            needs=(*TELEMETRY, "traces", "metrics"),
            component=COLLECTOR,
            conformance=(SERVICES,),
        ),
    )


def _stores() -> tuple[Check, ...]:
    return (
        Check(
            id="logs.retention",
            requirement="C16",
            claim="VictoriaLogs runs with the promised retention, by age and by size",
            remedy="run `make up`; a flag that somebody changed by hand is put back",
            needs=("logs",),
            component=LOGS,
        ),
        Check(
            id="traces.retention",
            requirement="C16",
            claim="Jaeger runs the file that the stack rendered, with the promised retention",
            remedy="run `make up`: it puts the ConfigMap back; a pod that was made for another one starts anew",
            needs=("traces",),
            component=TRACES,
        ),
    )
