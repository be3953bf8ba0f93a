"""From settings to the arguments of Grafana, and to what its boards are made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from components.alertmanager import names as alertmanager
from components.grafana import args as of
from components.grafana.boards import board_json
from components.grafana.datasources import Stores, datasources
from components.grafana.names import ENCRYPTION_ROLE, LOGS_PLUGIN, NAME
from components.logs import names as logs
from components.prometheus import names as prometheus
from components.secrets import Existing
from components.traces import names as traces
from signals.dashboards import boards
from signals.dashboards.inputs import BoardInputs
from stacks.grafana_pods import admin_password, grafana_resources, source
from stacks.scraping import rule_inputs, scrape_jobs

if TYPE_CHECKING:
    from components.images import ImagePin
    from stacks.alerting import SecretEntry
    from stacks.grafana import ExistingGrafana, Grafana, GrafanaDatabase
    from stacks.settings import Settings

_RUN_PAGE = "/@{team}/{job_id}/runs/{run_id}/chart"
"""Of SwanLab's web pages, below its address."""


def grafana_args(settings: Settings, images: dict[str, ImagePin]) -> of.GrafanaArgs:
    """Arguments of Grafana, where the stack deploys it. images: role → image."""
    wanted = settings.grafana
    return of.GrafanaArgs(
        stack=settings.stack,
        namespace=settings.namespace,
        image=images[NAME],
        replicas=wanted.replicas,
        database=_database(settings, wanted.database),
        admin=admin_password(wanted),
        generation=wanted.admin.generation,
        encryption=source(wanted.encryption, ENCRYPTION_ROLE, 1),
        root_url=wanted.root_url,
        open_to=wanted.open_to,
        plugins=_plugins(wanted),
        stores=stores(settings),
        boards=board_files(settings),
        resources=grafana_resources(wanted),
        network_policies=settings.network.policies,
    )


def existing_grafana_args(settings: Settings, wanted: ExistingGrafana) -> of.ExistingGrafanaArgs:
    """Arguments of what a Grafana is given that runs already."""
    return of.ExistingGrafanaArgs(
        namespace=settings.namespace,
        grafana_namespace=wanted.namespace,
        board_labels=dict(wanted.dashboard_labels),
        datasource_labels=dict(wanted.datasource_labels),
        folder_annotation=wanted.folder_annotation,
        stores=stores(settings),
        boards=board_files(settings),
        opened=_opened(settings) if settings.network.policies else {},
    )


def board_inputs(settings: Settings) -> BoardInputs:
    """What every board is made from."""
    lab = settings.swanlab
    people = lab.public_host if lab.mode == "managed" else None
    return BoardInputs(
        rules=rule_inputs(settings, scrape_jobs(settings)),
        sources=frozenset(source.uid for source in datasources(stores(settings))),
        run_url=f"{people.rstrip('/')}{_RUN_PAGE}" if people else "",
    )


def board_files(settings: Settings) -> dict[str, str]:
    """File name → JSON of each board that the stack has."""
    found: dict[str, str] = {}
    for board in boards(board_inputs(settings)):
        # A second board of one uid must not take the first one's place here: the lint names both.
        name = f"{board.uid}.json" if f"{board.uid}.json" not in found else f"{board.uid}-{len(found)}.json"
        found[name] = board_json(board)
    return found


def stores(settings: Settings) -> Stores:
    """What Grafana can ask. Logs are left out where it has not the plugin: each panel of theirs would be an error."""
    stack = settings.namespace
    tells = settings.alertmanager.mode == "managed"
    shown = settings.logs.mode == "managed" and _has_logs_plugin(settings.grafana)
    return Stores(
        prometheus=_prometheus_url(settings),
        interval=_interval(settings),
        alertmanager=f"http://{alertmanager.NAME}.{stack}.svc:{alertmanager.PORT}" if tells else None,
        logs=logs.url(stack) if shown else None,
        traces=traces.query_url(stack) if settings.traces.mode == "managed" else None,
    )


def _has_logs_plugin(wanted: Grafana) -> bool:
    return LOGS_PLUGIN in {name.partition("@")[0] for name in wanted.plugins.names}


def _prometheus_url(settings: Settings) -> str:
    """By its Service: another address of it may be one for people."""
    existing = settings.existing_prometheus
    if existing is None:
        return f"http://{prometheus.NAME}.{settings.namespace}.svc:{prometheus.PORT}"
    return f"{existing.scheme}://{existing.service}.{existing.namespace}.svc:{existing.port}"


def _interval(settings: Settings) -> str:
    """Of exactly one Prometheus the settings tell, see existing_relations.py."""
    existing = settings.existing_prometheus
    if existing is not None:
        return existing.interval
    return settings.prometheus.scrape_interval if settings.prometheus is not None else "30s"


def _database(settings: Settings, wanted: GrafanaDatabase) -> of.Sqlite | of.External:
    """That every part is there is asked in grafana_relations.py."""
    if wanted.kind == "sqlite":
        return of.Sqlite(volume=wanted.volume, storage_class=settings.storage.class_name)
    secret = cast("SecretEntry", wanted.secret)
    authority = wanted.authority_key
    return of.External(
        kind=wanted.kind,
        host=cast("str", wanted.host),
        port=wanted.listens,
        name=cast("str", wanted.name),
        user=cast("str", wanted.user),
        password=Existing(name=secret.name, key=secret.key),
        tls=wanted.tls,
        authority=None if authority is None else Existing(name=secret.name, key=authority),
    )


def _plugins(wanted: Grafana) -> of.Plugins | None:
    plugins = wanted.plugins
    if plugins.source == "none":
        return None
    return of.Plugins(names=plugins.names, image=plugins.image, path=plugins.path)


def _opened(settings: Settings) -> dict[str, tuple[dict[str, str], tuple[int, ...]]]:
    """Stores of this stack that Grafana asks → whom the policy selects, and the ports."""
    stack, known = settings.namespace, stores(settings)
    ours = settings.prometheus is not None
    found: dict[str, tuple[str | None, dict[str, str], int]] = {
        prometheus.NAME: (known.prometheus if ours else None, prometheus.selector(stack), prometheus.PORT),
        alertmanager.NAME: (known.alertmanager, alertmanager.selector(stack), alertmanager.PORT),
        logs.NAME: (known.logs, logs.selector(stack), logs.PORT),
        traces.NAME: (known.traces, traces.selector(stack), traces.QUERY_PORT),
    }
    return {name: (pods, (port,)) for name, (url, pods, port) in found.items() if url is not None}
