"""What rules are made from: which jobs there are, the stack's numbers, and how pods say whose they are."""

from __future__ import annotations

from dataclasses import dataclass, field

from signals.catalogue.labels import WORKLOAD_IDENTITY
from signals.thresholds import Thresholds

POD_LABELS: dict[str, str] = {key: f"plumbline.dev/{key.replace('_', '-')}" for key in WORKLOAD_IDENTITY}
"""Identity label → label that a pod carries, unless the stack's settings say otherwise."""


@dataclass(frozen=True, kw_only=True)
class RecoveryAims:
    """What restore points are held to, in seconds.

    rpo_seconds: how much may be lost. rto_seconds: how long a restore may take. verify_period_seconds: how often a
    restore point is verified. small: stores that hold a lot in few bytes, what people wrote by hand.
    """

    rpo_seconds: int
    rto_seconds: int
    verify_period_seconds: int
    small: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TelemetryPlans:
    """What collectors and their stores are planned for.

    agent_memory_bytes, gateway_memory_bytes: limit of each container. decision_wait_seconds: from a trace's first span
    to the decision at most, which is what a killed gateway may lose. traces_in_memory: that may wait for theirs in one
    gateway. log_records_per_second, log_bytes_per_second and
    spans_per_second: of the whole cluster, as in the sizing. logs_retention_seconds: of the stack's own store of logs,
    None where it has none.
    """

    agent_memory_bytes: int
    gateway_memory_bytes: int
    decision_wait_seconds: int
    traces_in_memory: int
    log_records_per_second: int
    log_bytes_per_second: int
    spans_per_second: int
    logs_retention_seconds: int | None = None


@dataclass(frozen=True, kw_only=True)
class RuleInputs:
    """Inputs of every rule file.

    jobs: scrape jobs that exist; a file whose jobs are missing is not rendered. pod_labels: identity label → pod
    label. budgets: job → series that are planned for. runbooks: base address in front of `docs/runbooks`, empty for
    paths relative to the repository. alert_pipeline: an Alertmanager receives what fires. cluster: value of the label
    `cluster` that every selector must match, None where the Prometheus holds series of this stack alone. may_be_empty:
    jobs that may have no target as long as no node offers a GPU. recovery: None where no restore points are made.
    telemetry: None where no collector runs.
    """

    jobs: tuple[str, ...]
    thresholds: Thresholds = field(default_factory=Thresholds)
    pod_labels: dict[str, str] = field(default_factory=lambda: dict(POD_LABELS))
    budgets: dict[str, int] = field(default_factory=dict)
    runbooks: str = ""
    alert_pipeline: bool = False
    cluster: str | None = None
    may_be_empty: tuple[str, ...] = ()
    recovery: RecoveryAims | None = None
    telemetry: TelemetryPlans | None = None
