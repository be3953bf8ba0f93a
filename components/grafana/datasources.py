"""Datasources as Grafana is provisioned with them, each by a uid that never changes.

A changed uid would be the end of the rest of the file: Grafana looks for the old row with the new uid, finds none, and
reads no further, without an error that anybody sees (grafana/grafana#110740).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from components.grafana.names import LOGS_PLUGIN
from signals.dashboards.model import ALERTMANAGER, LOGS, PROMETHEUS, TRACES
from signals.yamltext import dump

if TYPE_CHECKING:
    from collections.abc import Iterator

_EARLIER, _LATER = "-5m", "5m"
"""Added to a span's time where its log lines are looked for: clocks differ, and lines are written late."""


@dataclass(frozen=True, kw_only=True)
class Stores:
    """Addresses that Grafana's pods reach, None where the stack has no such store. interval: between two scrapes."""

    prometheus: str
    interval: str
    alertmanager: str | None = None
    logs: str | None = None
    traces: str | None = None


@dataclass(frozen=True, kw_only=True)
class DataSource:
    """name: unique in a Grafana, where a team may have a `Prometheus` of its own. options: `jsonData`, by its type."""

    uid: str
    name: str
    type: str
    url: str
    options: dict[str, Any]


def datasources(stores: Stores) -> tuple[DataSource, ...]:
    """One for each store that there is."""
    return tuple(_all(stores))


def datasources_file(stores: Stores, *, default: bool) -> str:
    """The provisioning file. default: whether Prometheus is what a new panel asks; a Grafana has one such alone."""
    found = [_entry(source, default=default and source.uid == PROMETHEUS) for source in datasources(stores)]
    return dump({"apiVersion": 1, "datasources": found})


def _entry(source: DataSource, *, default: bool) -> dict[str, Any]:
    return {
        "uid": source.uid,
        "name": source.name,
        "type": source.type,
        "access": "proxy",
        "orgId": 1,
        "url": source.url,
        "isDefault": default,
        "editable": False,
        "jsonData": source.options,
    }


def _all(stores: Stores) -> Iterator[DataSource]:
    yield DataSource(
        uid=PROMETHEUS,
        name="Plumbline Prometheus",
        type="prometheus",
        url=stores.prometheus,
        options=_prometheus(stores),
    )
    if stores.alertmanager is not None:
        # Silences are made there; Grafana's own alerts are not sent to it, since none are evaluated.
        options = {"implementation": "prometheus", "handleGrafanaManagedAlerts": False}
        name, url = "Plumbline Alertmanager", stores.alertmanager
        yield DataSource(uid=ALERTMANAGER, name=name, type="alertmanager", url=url, options=options)
    if stores.logs is not None:
        name, url = "Plumbline VictoriaLogs", stores.logs
        yield DataSource(uid=LOGS, name=name, type=LOGS_PLUGIN, url=url, options=_logs(stores))
    if stores.traces is not None:
        name, url = "Plumbline Jaeger", stores.traces
        yield DataSource(uid=TRACES, name=name, type="jaeger", url=url, options=_traces(stores))


def _prometheus(stores: Stores) -> dict[str, Any]:
    found: dict[str, Any] = {
        "httpMethod": "POST",
        "prometheusType": "Prometheus",
        # Grafana asks for no finer steps, and `$__rate_interval` follows from it.
        "timeInterval": stores.interval,
        "manageAlerts": True,
    }
    if stores.alertmanager is not None:
        found["alertmanagerUid"] = ALERTMANAGER
    if stores.traces is not None:
        found["exemplarTraceIdDestinations"] = [{"name": "trace_id", "datasourceUid": TRACES}]
    return found


_DOLLAR: Final = "$$"
"""In provisioning files `$` begins a variable of the environment; doubled it stays, for Grafana's own words."""


def _logs(stores: Stores) -> dict[str, Any]:
    if stores.traces is None:
        return {}
    link = {
        "name": "Trace",
        "matcherType": "label",
        "matcherRegex": "trace_id",
        "url": f"{_DOLLAR}{{__value.raw}}",
        "urlDisplayLabel": "Trace",
        "datasourceUid": TRACES,
    }
    return {"derivedFields": [link]}


def _traces(stores: Stores) -> dict[str, Any]:
    if stores.logs is None:
        return {}
    return {
        "tracesToLogsV2": {
            "datasourceUid": LOGS,
            "spanStartTimeShift": _EARLIER,
            "spanEndTimeShift": _LATER,
            "customQuery": True,
            "query": f'trace_id:="{_DOLLAR}{{__span.traceId}}"',
        }
    }
