"""What the Pushgateway exposes: about itself, about every group that was pushed, and the conventions of this bundle."""

from __future__ import annotations

from signals.catalogue.model import Budget, Metric, MetricType, Producer
from signals.catalogue.process import PROCESS_METRICS
from signals.catalogue.recovery import METRICS as RECOVERY_METRICS
from signals.pushed_jobs import JOB_PERIOD, JOB_SUCCESS

_STORAGE = "github.com/prometheus/pushgateway v1.11.1 storage/diskmetricstore.go"
_HANDLER = "github.com/prometheus/pushgateway v1.11.1 handler/metrics.go"
_CONVENTION = "github.com/prometheus/pushgateway v1.11.1 handler/push.go"

PAGE_PROOF = "plumbline_page_proof"
"""Pushed by smoke to prove that a page arrives; see signals/rules/page_proof.py."""

_SELF = (
    Metric(
        name="pushgateway_build_info",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Always 1; the version is in the labels.",
        labels=("version", "goversion"),
        optional=("revision",),
        low=1.0,
        high=1.0,
        source="github.com/prometheus/common v0.63.0 version/info.go",
    ),
    Metric(
        name="pushgateway_http_requests_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Requests, scrapes apart; 400 is a push that was refused whole.",
        labels=("handler", "code", "method"),
        event="the first request of that kind",
        source=_HANDLER,
    ),
)

_GROUPS = (
    Metric(
        name="push_time_seconds",
        type=MetricType.GAUGE,
        unit="seconds",
        meaning="When a group was last pushed with success, since 1970; 0 if never.",
        event="the first group is pushed",
        source=_STORAGE,
    ),
    Metric(
        name="push_failure_time_seconds",
        type=MetricType.GAUGE,
        unit="seconds",
        meaning="When a push of a group was last refused, since 1970; 0 if never.",
        event="the first group is pushed",
        source=_STORAGE,
    ),
)

_PUSHED = (
    Metric(
        name=JOB_SUCCESS,
        type=MetricType.GAUGE,
        unit="seconds",
        meaning="When the job of this group last succeeded, since 1970; 0 means never.",
        event="a job pushes it",
        source=_CONVENTION,
    ),
    Metric(
        name=JOB_PERIOD,
        type=MetricType.GAUGE,
        unit="seconds",
        meaning="How often the job of this group means to succeed.",
        event="a job pushes it",
        low=1.0,
        source=_CONVENTION,
    ),
    Metric(
        name=PAGE_PROOF,
        type=MetricType.GAUGE,
        unit="1",
        meaning="1 while smoke proves that a page of this severity arrives, 0 while it proves labels alone; `proof` is "
        "the word that it looks for.",
        labels=("severity", "proof"),
        event="smoke proves a page or the labels of what is pushed",
        high=1.0,
        source=_CONVENTION,
    ),
)

PRODUCER = Producer(
    job="pushgateway",
    title="Pushgateway",
    versions="Pushgateway 1.11",
    target_labels=("cluster", "environment"),
    per_node=False,
    honor_labels=True,
    metrics=(*_SELF, *_GROUPS, *_PUSHED, *RECOVERY_METRICS, *PROCESS_METRICS),
    # By structure: 60 series of its own, and 100 groups of 20 series that jobs push.
    budget=Budget(fixed=2000, per_target=100),
)
