"""Grafana as a system of the stack, and what the contract promises of it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from components.grafana import names as grafana
from components.grafana.args import Sqlite
from components.grafana.component import Grafana
from components.grafana.config import render
from components.grafana.datasources import datasources
from components.grafana.existing import render as render_existing
from components.grafana.existing_component import ExistingGrafana
from components.grafana.lint import lint
from components.grafana.manifests import derives, manifests
from components.secrets import Existing
from stacks.contract import Claim, Component, DataSource, Endpoint, SecretRef
from stacks.contract import Grafana as Promised
from stacks.grafana_arguments import board_files, existing_grafana_args, grafana_args, stores
from stacks.root_secret import check_root_secret, root_secret
from stacks.system import System, tier, workload

if TYPE_CHECKING:
    from components.grafana.args import GrafanaArgs
    from stacks.grafana import ExistingGrafana as Wanted
    from stacks.settings import Settings
    from stacks.system import Images


def managed_grafana(settings: Settings, images: Images) -> System:
    """Grafana of this stack. Only where a secret is derived does it need the root secret."""
    args = grafana_args(settings, images)
    rendered = render(args)
    runs = workload("Deployment", grafana.NAME, args.replicas, grafana.NAME, args.image)
    copied = args.plugins.image if args.plugins is not None else None
    helpers = (args.image.reference, *([copied] if copied else []))
    promise = Component(
        tier=tier(args.image),
        workloads=(runs.model_copy(update={"init_images": helpers}),),
        claims=_claims(args),
        endpoints={"http": Endpoint(service=grafana.NAME, port=grafana.PORT)},
        secrets={"admin": _admin(args)},
        revision=rendered.revision,
    )

    def judged() -> None:
        if derives(args):
            check_root_secret(settings)
        lint(args.stores, args.boards)

    return System(
        name=grafana.NAME,
        manifests=manifests(args, rendered),
        promise=promise,
        register=lambda opts: Grafana(grafana.NAME, args, root_secret(settings) if derives(args) else None, opts),
        lint=judged,
    )


def existing_grafana(settings: Settings, wanted: Wanted) -> System:
    """Part of the contract as `grafana`, like one of our own: who asks it must not care whose it is."""
    args = existing_grafana_args(settings, wanted)
    content = render_existing(args)
    asked = Endpoint(
        service=wanted.service, namespace=wanted.namespace, port=wanted.port, scheme=wanted.scheme, url=wanted.url
    )
    promise = Component(
        tier="live",
        managed=False,
        namespace=wanted.namespace,
        endpoints={"http": asked},
        revision=content.revision,
    )
    return System(
        name=grafana.NAME,
        manifests=content.manifests,
        promise=promise,
        register=lambda opts: ExistingGrafana(grafana.NAME, args, opts),
        lint=lambda: lint(args.stores, args.boards),
    )


def promised(settings: Settings) -> Promised | None:
    """What the contract promises beyond the component; None without Grafana.

    A Grafana of somebody else names folders itself: their sidecar makes them of the annotation.
    """
    if settings.grafana.mode == "off":
        return None
    return Promised(
        folder=grafana.FOLDER_UID if settings.grafana.mode == "managed" else None,
        datasources=tuple(
            DataSource(uid=source.uid, name=source.name, type=source.type, url=source.url)
            for source in datasources(stores(settings))
        ),
        boards={
            file.removesuffix(".json"): hashlib.sha256(text.encode()).hexdigest()
            for file, text in board_files(settings).items()
        },
    )


def _claims(args: GrafanaArgs) -> tuple[Claim, ...]:
    if not isinstance(args.database, Sqlite):
        return ()
    return (Claim(name=grafana.CLAIM, size=args.database.volume, mounted_at=grafana.DATA_PATH),)


def _admin(args: GrafanaArgs) -> SecretRef:
    if isinstance(args.admin, Existing):
        return SecretRef(namespace=args.namespace, name=args.admin.name, key=args.admin.key)
    return SecretRef(namespace=args.namespace, name=grafana.SECRET, key=grafana.ADMIN_FILE)
