"""What the Kubernetes API server exposes."""

from __future__ import annotations

from signals.catalogue.model import Budget, Drop, Metric, MetricType, Producer
from signals.catalogue.process import PROCESS_METRICS

_MODULE = "k8s.io/apiserver v0.34.4 "
_ENDPOINTS = _MODULE + "pkg/endpoints/metrics/metrics.go"
_ETCD = _MODULE + "pkg/storage/etcd3/metrics/metrics.go"

_REQUESTS = (
    Metric(
        name="apiserver_request_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Requests by verb, resource and status code.",
        labels=("verb", "group", "version", "resource", "subresource", "scope", "component", "code"),
        source=_ENDPOINTS,
    ),
    Metric(
        name="apiserver_request_duration_seconds",
        type=MetricType.HISTOGRAM,
        unit="seconds",
        meaning="Duration of requests, waiting and webhooks included. Stored without buckets: use the SLI histogram.",
        labels=("verb", "group", "version", "resource", "subresource", "scope", "component"),
        source=_ENDPOINTS,
    ),
    Metric(
        name="apiserver_request_sli_duration_seconds",
        type=MetricType.HISTOGRAM,
        unit="seconds",
        meaning="Duration of requests without queueing and webhooks: what the server itself answers for.",
        labels=("verb", "group", "version", "resource", "subresource", "scope", "component", "le"),
        source=_ENDPOINTS,
    ),
    Metric(
        name="apiserver_current_inflight_requests",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Highest number of requests in flight in the last second, mutating and read-only.",
        labels=("request_kind",),
        source=_ENDPOINTS,
    ),
    Metric(
        name="apiserver_longrunning_requests",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Open watches, logs, exec sessions and port-forwards.",
        labels=("verb", "group", "version", "resource", "scope", "component"),
        source=_ENDPOINTS,
    ),
    Metric(
        name="apiserver_request_terminations_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Requests that the server cut off to protect itself.",
        labels=("verb", "component", "code"),
        event="the server sheds its first request",
        source=_ENDPOINTS,
    ),
    Metric(
        name="apiserver_tls_handshake_errors_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Connections that failed in the TLS handshake; grows when a client's authority has expired.",
        source=_ENDPOINTS,
    ),
    Metric(
        name="apiserver_client_certificate_expiration_seconds",
        type=MetricType.HISTOGRAM,
        unit="seconds",
        meaning="Remaining lifetime of the client certificates that were presented.",
        labels=("le",),
        source=_MODULE + "pkg/authentication/request/x509/x509.go",
    ),
)

_STORE = (
    Metric(
        name="apiserver_resource_objects",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Stored objects per resource at the last count; -1 if counting failed.",
        labels=("group", "resource"),
        low=-1.0,
        source=_ETCD,
    ),
    Metric(
        name="etcd_request_duration_seconds",
        type=MetricType.HISTOGRAM,
        unit="seconds",
        meaning="Duration of the server's calls to etcd.",
        labels=("operation", "group", "resource", "le"),
        source=_ETCD,
    ),
    Metric(
        name="etcd_requests_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Calls to etcd.",
        labels=("operation", "group", "resource"),
        source=_ETCD,
    ),
    Metric(
        name="etcd_request_errors_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Failed calls to etcd.",
        labels=("operation", "resource"),
        event="the first call to etcd of that kind fails",
        source=_ETCD,
    ),
)

_SERVER = (
    Metric(
        name="kubernetes_build_info",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Always 1; the version is in the labels.",
        labels=("git_version", "git_commit"),
        low=1.0,
        high=1.0,
        source="k8s.io/component-base v0.34.4 metrics/prometheus/version/metrics.go",
    ),
)

_DROPS = (
    Drop(
        metric="apiserver_request_duration_seconds_bucket",
        why="24 buckets for every verb and resource, the largest family of all. Quantiles come from "
        "apiserver_request_sli_duration_seconds, means from the sum and count that stay.",
    ),
    Drop(
        metric="apiserver_request_sli_duration_seconds_bucket",
        buckets=("0.05", "0.2", "0.6", "0.8", "1.25", "1.5", "2", "3", "4", "6", "8", "15", "20", "45"),
        why="Objectives are set at 0.1, 0.4, 1, 5, 10, 30 and 60 s; finer steps are never asked for.",
    ),
    Drop(
        metric="etcd_request_duration_seconds_bucket",
        buckets=(
            *("0.05", "0.2", "0.6", "0.8", "1.25", "1.5", "2", "3"),
            *("4", "6", "8", "10", "15", "20", "30", "45", "60"),
        ),
        why="A healthy etcd answers within 25 ms, a sick one takes seconds: 0.005, 0.025, 0.1, 0.4, 1 and 5 s stay.",
    ),
    Drop(
        metric="apiserver_(response_sizes|watch_events_sizes|watch_list_duration_seconds|watch_cache_.+)_bucket",
        why="Sizes and watch internals per resource, for developers of the server. Sums and counts stay.",
    ),
    Drop(
        metric="apiserver_(request_body_size_bytes|flowcontrol_.+|admission_.+|request_filter_.+)_bucket",
        why="Internals of admission and fairness per plugin and flow. Sums and counts stay.",
    ),
)

PRODUCER = Producer(
    job="apiserver",
    title="Kubernetes API server",
    versions="Kubernetes 1.34",
    target_labels=("cluster", "environment"),
    per_node=False,
    metrics=(*_REQUESTS, *_STORE, *_SERVER, *PROCESS_METRICS),
    drops=_DROPS,
    # By structure: 12 buckets and more for each of 300 resources and verbs, 8 for each of 250 calls to etcd, counters
    # per resource, verb and code; an operator brings 20 resources of its own.
    budget=Budget(per_api_server=15000),
)
