"""Arguments of Grafana as tests use them: on a claim, with a database elsewhere, and one that runs already."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from components.grafana.args import ExistingGrafanaArgs, External, GrafanaArgs, Plugins, Sqlite
from components.grafana.datasources import Stores
from components.images import ImagePin
from components.prometheus.args import Resources
from components.secrets import Existing, Generated

STORES = Stores(
    prometheus="http://prometheus.plumbline.svc:9090",
    interval="15s",
    alertmanager="http://alertmanager.plumbline.svc:9093",
    logs="http://victoria-logs.plumbline.svc:9428",
    traces="http://jaeger.plumbline.svc:16686",
)


def board(uid: str = "plumbline-one", title: str = "One", **keys: Any) -> str:  # noqa: ANN401  # any JSON
    """A board with one panel that asks Prometheus. keys: laid over it."""
    asks = {"uid": "plumbline-prometheus", "type": "prometheus"}
    panel = {"title": "Up", "datasource": asks, "targets": [{"datasource": asks, "expr": "up"}]}
    return json.dumps({"uid": uid, "title": title, "panels": [panel], **keys})


BOARDS = {"plumbline-one.json": board(), "plumbline-two.json": board("plumbline-two", "Two")}
SQLITE = GrafanaArgs(
    stack="local",
    namespace="plumbline",
    image=ImagePin(reference="registry.example.com/grafana/grafana:11.6.14"),
    replicas=1,
    database=Sqlite(volume="5Gi", storage_class=None),
    admin=Generated(role="grafana-admin", generation=3),
    generation=3,
    encryption=Generated(role="grafana-encryption"),
    root_url=None,
    open_to=(),
    plugins=None,
    stores=replace(STORES, logs=None),
    boards=BOARDS,
    resources=Resources(cpu_request="50m", memory_request="256Mi", memory_limit="512Mi"),
    network_policies=True,
)
"""All that has a default, on a claim, with derived secrets."""
DATABASE = External(
    kind="postgres",
    host="db.example.com",
    port=5432,
    name="grafana",
    user="grafana",
    password=Existing(name="grafana-db", key="password"),
    tls="verify",
    authority=Existing(name="grafana-db", key="ca.crt"),
)
ELSEWHERE = replace(
    SQLITE,
    replicas=2,
    database=DATABASE,
    admin=Existing(name="grafana-login", key="password"),
    encryption=Existing(name="grafana-encryption", key="key"),
    root_url="https://grafana.example.com",
    open_to=("ingress",),
    plugins=Plugins(
        names=("victoriametrics-logs-datasource@0.29.0",), image="registry.example.com/grafana-plugins:1", path="/opt/p"
    ),
    stores=STORES,
)
"""Everything by somebody else, and plugins from an image."""
EXISTING = ExistingGrafanaArgs(
    namespace="plumbline",
    grafana_namespace="team-grafana",
    board_labels={"grafana_dashboard": "1"},
    datasource_labels={"grafana_datasource": "1"},
    folder_annotation="grafana_folder",
    stores=STORES,
    boards=BOARDS,
    opened={
        "prometheus": (
            {"app.kubernetes.io/name": "prometheus", "app.kubernetes.io/instance": "plumbline"},
            (9090,),
        )
    },
)
