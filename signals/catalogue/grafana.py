"""What Grafana tells of itself: who asks it, how long it takes, and what its datasources answer."""

from __future__ import annotations

from typing import Final

from signals.catalogue.model import Budget, Described, Drop, Metric, MetricType, Producer
from signals.catalogue.process import PROCESS_METRICS

_VERSION: Final = "github.com/grafana/grafana v11.6"
_CORE: Final = Described("grafana_", f"{_VERSION} pkg/infra/metrics/metrics.go")
_SOURCES: Final = Described(
    "grafana_datasource_", f"{_VERSION} pkg/infra/httpclient/httpclientprovider/datasource_metrics_middleware.go"
)
_ASKED: Final = "the first question to a datasource"

_METRICS: Final = (
    Metric(
        name="grafana_build_info",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Always 1; the version is in the labels.",
        labels=("version", "edition"),
        low=1.0,
        high=1.0,
        source=f"{_VERSION} pkg/infra/metrics/metrics.go",
    ),
    _CORE.gauge("stat_totals_dashboard", "Boards that its database has, those of this stack among them."),
    _CORE.counter("api_login_post_total", "Logins by form that were tried."),
    Metric(
        name="grafana_http_request_duration_seconds",
        type=MetricType.HISTOGRAM,
        unit="seconds",
        meaning="Time of requests by page or call; `status_code` 500 and above are faults of Grafana or a datasource.",
        labels=("handler", "status_code", "method", "le"),
        event="the first request of a page or a call",
        source=f"{_VERSION} pkg/middleware/request_metrics.go",
    ),
    _SOURCES.counter(
        "request_total",
        "Questions to datasources, by answer.",
        ("datasource", "code", "method"),
        event=_ASKED,
    ),
)

PRODUCER: Final = Producer(
    job="grafana",
    title="Grafana",
    versions="Grafana 11.6",
    target_labels=("cluster", "environment"),
    per_node=False,
    metrics=(*_METRICS, *PROCESS_METRICS),
    drops=(
        Drop(
            metric="grafana_http_request_duration_seconds_bucket",
            buckets=("0.005", "0.01", "0.025", "0.05", "0.25", "2.5"),
            why="People notice from a tenth of a second on; 0.1, 0.5, 1 and 5 s stay.",
        ),
        Drop(
            metric="grafana_(feature_toggles_info|plugin_build_info|apiserver_.+)",
            why="Switches and plugins by name, and a server inside of Grafana: hundreds of series that stand still.",
        ),
        Drop(
            metric="grafana_(datasource_(request|response)_.+|plugin_request_.+|database_.+|frontend_.+)_bucket",
            why="Steps of latencies and sizes per datasource, plugin and page. Sums and counts stay.",
        ),
    ),
    # Reckoned: 400 of its own, and 100 pages and calls with 7 series each, in two outcomes.
    budget=Budget(per_target=2000),
)
