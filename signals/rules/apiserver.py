"""Alerts and records about the Kubernetes API server: errors, latency, its store, and whether work can be submitted."""

from __future__ import annotations

from signals.rules.model import Alert, Group, Record, Severity

_JOB = 'job="apiserver"'
_BY = "cluster, environment"
_REQUESTS = "apiserver_request_total"
_SUBMITTED = f'{_JOB}, verb="POST", resource=~"pods|.*jobs", subresource=""'
_SINGLE = f'{_JOB}, verb=~"GET|POST|PUT|PATCH|DELETE"'
_WHERE = "cluster {{ $labels.cluster }}"
_WEEK_SECONDS = 604800


def apiserver_groups() -> tuple[Group, ...]:
    """Every group of this file. Records come first in their group, so that alerts see this very evaluation."""
    alerts = (_errors(), _slow(), _store_slow(), _submission(), _certificate())
    return (Group(name="plumbline-apiserver", rules=(*_records(), *alerts)),)


def _records() -> tuple[Record, ...]:
    """Ratios and 99th percentiles per cluster; seconds for latencies.

    The objective of Kubernetes for requests on a single object is one second; lists may take thirty, and stay out. So
    do lists of the store, which grow with the number of objects.
    """
    return (
        Record(record="cluster:apiserver_errors:ratio", expr=_ratio(_JOB, "5..")),
        # A 429 is an API server that sheds load; other 4xx are the answer to a wrong request, or a quota.
        Record(record="cluster:apiserver_submit_errors:ratio", expr=_ratio(_SUBMITTED, "5..|429")),
        Record(
            record="cluster:apiserver_latency_seconds:p99",
            expr=_percentile(0.99, f"apiserver_request_sli_duration_seconds_bucket{{{_SINGLE}}}", "5m"),
        ),
        Record(
            record="cluster:etcd_latency_seconds:p99",
            expr=_percentile(0.99, f'etcd_request_duration_seconds_bucket{{{_JOB}, operation!~"list.*"}}', "5m"),
        ),
    )


def _ratio(selector: str, failed: str) -> str:
    bad = f'sum by ({_BY}) (rate({_REQUESTS}{{{selector}, code=~"{failed}"}}[5m]))'
    return f"{bad}\n/ sum by ({_BY}) (rate({_REQUESTS}{{{selector}}}[5m]))"


def _percentile(share: float, buckets: str, window: str) -> str:
    return f"histogram_quantile({share}, sum by ({_BY}, le) (rate({buckets}[{window}])))"


def _errors() -> Alert:
    return Alert(
        alert="ApiServerErrors",
        expr="cluster:apiserver_errors:ratio > 0.05",
        wait="5m",
        severity=Severity.P1,
        summary="The API server of {{ $labels.cluster }} answers with errors",
        description=f"{{{{ $value | humanizePercentage }}}} of the requests to the API server ({_WHERE}) end in a "
        "server error. Nothing is scheduled, moved or repaired reliably. Likely causes: etcd is slow, full or without "
        "a leader; an admission webhook or an aggregated API that does not answer; too little memory.",
        runbook="apiserver-errors",
    )


def _slow() -> Alert:
    return Alert(
        alert="ApiServerSlow",
        expr="cluster:apiserver_latency_seconds:p99 > 1",
        wait="15m",
        severity=Severity.P2,
        summary="The API server of {{ $labels.cluster }} is slow",
        description=f"One of a hundred requests on a single object takes over {{{{ $value | humanizeDuration }}}} "
        f"({_WHERE}), webhooks not counted. Likely causes: etcd is slow, clients that list everything again and again, "
        "too little CPU or memory.",
        runbook="apiserver-slow",
    )


def _store_slow() -> Alert:
    return Alert(
        alert="ApiServerStoreSlow",
        expr="cluster:etcd_latency_seconds:p99 > 0.4",
        wait="15m",
        severity=Severity.P2,
        summary="etcd of {{ $labels.cluster }} is slow",
        description=f"One of a hundred calls of the API server to etcd takes over {{{{ $value | humanizeDuration }}}} "
        f"({_WHERE}). Likely causes: a slow or shared disk under etcd, a network between its members that is slow, a "
        "store that is nearly full or was never defragmented.",
        runbook="apiserver-slow",
    )


def _submission() -> Alert:
    """A single failure in a quiet cluster is over before the wait is."""
    return Alert(
        alert="JobSubmissionFailing",
        expr="cluster:apiserver_submit_errors:ratio > 0.05",
        wait="5m",
        severity=Severity.P1,
        summary="Pods and jobs cannot be created in {{ $labels.cluster }}",
        description=f"{{{{ $value | humanizePercentage }}}} of the requests to create pods or jobs ({_WHERE}) fail for "
        "a fault of the server. Work that is submitted does not start. Likely causes: an admission webhook that does "
        "not answer, an API server that sheds load, etcd is slow or full.",
        runbook="apiserver-errors",
    )


def _certificate() -> Alert:
    """Of what clients presented within the hour: one that nobody uses may expire."""
    buckets = f"apiserver_client_certificate_expiration_seconds_bucket{{{_JOB}}}"
    return Alert(
        alert="ClientCertificateExpiring",
        expr=f"{_percentile(0.01, buckets, '1h')} < {_WEEK_SECONDS}",
        wait="15m",
        severity=Severity.P3,
        summary="A client of the API server of {{ $labels.cluster }} has a certificate that expires soon",
        description=f"A client of the API server ({_WHERE}) presents a certificate that is valid for less than "
        "a week. After that it is locked out. Likely causes: a certificate that nothing "
        "renews, a kubelet whose rotation fails, a user with certificates that are short-lived on purpose.",
        runbook="apiserver-certificates",
    )
