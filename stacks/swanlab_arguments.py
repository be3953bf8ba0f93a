"""From the settings of SwanLab to the arguments of its component and to what the outputs contract promises of it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from components.errors import DeployError
from components.naming import swanlab_namespace_name
from components.object_store.identities import key_of
from components.swanlab import args as of
from components.swanlab.chart import known_keys
from components.swanlab.finding import at
from components.swanlab.names import (
    BUFFER,
    CLAIMS,
    DATA_PATHS,
    GATEWAY_PORT,
    GATEWAY_SERVICE,
    METRICS_PORTS,
    PORTS,
    SERVICES,
    STORES,
    buffer_claims,
    in_cluster_host,
    place,
    service_name,
)
from components.swanlab.values import roles as image_roles
from stacks.contract import Claim, Component, Endpoint, Experiments, Image, SecretRef, Store, Workload
from stacks.fields import duration_seconds, quantity_bytes
from stacks.images import VERSIONS
from stacks.swanlab_endpoints import in_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.images import ImagePin
    from stacks import swanlab
    from stacks.settings import Settings
    from stacks.swanlab import Swanlab

ROOT = Path(__file__).parents[1]
SDK_ROLE = "swanlab-sdk"
"""Role of the image with the pinned SDK, which the embedded cluster builds."""
INIT_ROLES = ("swanlab-helper", "swanlab-identify")
"""Roles of images that the chart's init containers run."""


class _Chart(BaseModel):
    """Table [charts.swanlab] of versions.toml."""

    model_config = ConfigDict(frozen=True, strict=True)

    repository: str
    version: str


def roles(wanted: Swanlab) -> tuple[str, ...]:
    """Images that SwanLab needs, by role; none if it is off."""
    if wanted.mode == "off":
        return ()
    return image_roles({store: getattr(wanted.stores, store).mode == "chart" for store in STORES})


def swanlab_args(settings: Settings, images: dict[str, ImagePin]) -> of.SwanlabArgs:
    """Arguments of the SwanLab component. images: role → image.

    Reads versions.toml, and the values of a chart that the settings name by a path. Raises DeployError.
    """
    wanted, existing = settings.swanlab, settings.existing_prometheus
    stores, buffer = wanted.stores, wanted.buffer
    return of.SwanlabArgs(
        stack=settings.stack,
        instance=settings.namespace,
        namespace=swanlab_namespace_name(settings.namespace),
        chart=_chart(wanted),
        images={role: images[role] for role in roles(wanted)},
        host=wanted.host or in_cluster_host(settings.namespace),
        public_host=wanted.public_host,
        postgres=_postgres(stores.postgres),
        redis=_redis(stores.redis),
        clickhouse=_clickhouse(stores.clickhouse),
        s3=_s3(settings, stores.s3),
        buffer=of.Buffer(replicas=buffer.replicas, volume=buffer.volume, max_size=buffer.max_size),
        scraped_from=existing.namespace if existing is not None else settings.namespace,
        storage_class=settings.storage.class_name,
        network_policies=settings.network.policies,
        durable=settings.profile == "durable",
        size=wanted.size,
        replicas=of.Replicas(**wanted.replicas.model_dump()),
        environment=tuple(of.Environment(**entry.model_dump()) for entry in wanted.environment_in),
        moved_from={name: old for name in STORES if (old := getattr(stores, name).moved_from) is not None},
    )


def component(args: of.SwanlabArgs) -> Component:
    """What the contract promises of the workloads, claims and Services. Simulated if any image stands in."""
    stand_in = any(pin.stand_in for pin in args.images.values())
    gateway = _endpoint(args, GATEWAY_SERVICE, GATEWAY_PORT)
    endpoints = {"http": gateway.model_copy(update={"url": args.public_host})}
    for program in (*(name for name in SERVICES if name != "gateway"), BUFFER, *args.own):
        endpoints[program] = _endpoint(args, service_name(program), PORTS[program])
    return Component(
        tier="simulated" if stand_in else "live",
        namespace=args.namespace,
        workloads=tuple(_workloads(args)),
        claims=claims(args),
        endpoints=endpoints,
    )


def claims(args: of.SwanlabArgs) -> tuple[Claim, ...]:
    """Every claim in SwanLab's namespace, those of the delivery buffer last."""
    found = [
        Claim(name=CLAIMS[store], size=own.volume, mounted_at=DATA_PATHS[store]) for store, own in args.own.items()
    ]
    buffers = [
        Claim(name=name, size=args.buffer.volume, mounted_at=DATA_PATHS[BUFFER])
        for name in buffer_claims(args.buffer.replicas)
    ]
    return (*found, *buffers)


def experiments(settings: Settings, images: dict[str, ImagePin]) -> Experiments:
    """What the contract promises beyond the component. images: role → image, with SDK_ROLE where one is built."""
    wanted = settings.swanlab
    made = _stores(settings)
    here = swanlab_namespace_name(settings.namespace)
    built = images[SDK_ROLE].reference if SDK_ROLE in images else None
    stores = {store: _store(store, found) for store, found in made.items()}
    stores["buffer"] = Store(mode="chart", claims=buffer_claims(wanted.buffer.replicas))
    return Experiments(
        sdk=wanted.sdk,
        host=wanted.host or in_cluster_host(settings.namespace),
        public_host=wanted.public_host,
        login=SecretRef(namespace=here, name=wanted.api_key.name, key=wanted.api_key.key),
        sdk_image=wanted.sdk_image or built,
        stores=stores,
        public_bucket=_public_bucket(wanted.stores.s3),
        body_limit=quantity_bytes(wanted.ingress.body_limit),
    )


def read_timeout_seconds(wanted: Swanlab) -> float:
    """How long a proxy before the gateway must wait for an answer."""
    return duration_seconds(wanted.ingress.read_timeout)


def metrics_pods(args: of.SwanlabArgs) -> Iterator[tuple[str, int]]:
    """Program and port of every /metrics of the release."""
    for program, port in METRICS_PORTS.items():
        if program not in STORES or program in args.own:
            yield program, port


def _public_bucket(wanted: swanlab.S3) -> str | None:
    """Its address; None for one of the chart or of the stack's own object store, or that pods alone reach."""
    public = wanted.public
    if wanted.mode == "chart" or wanted.secret is None or public is None or in_cluster(public.endpoint):
        return None
    scheme = "https" if public.ssl else "http"
    if public.path_style:
        return f"{scheme}://{public.endpoint}:{public.port}/{public.bucket}"
    return f"{scheme}://{public.bucket}.{public.endpoint}:{public.port}"


def _store(store: str, made: of.Store) -> Store:
    own = isinstance(made, of.OwnStore)
    return Store(mode="chart" if own else "external", claims=(CLAIMS[store],) if own else (), place=place(store, made))


def _stores(settings: Settings) -> dict[str, of.Store]:
    wanted = settings.swanlab.stores
    return {
        "postgres": _postgres(wanted.postgres),
        "redis": _redis(wanted.redis),
        "clickhouse": _clickhouse(wanted.clickhouse),
        "s3": _s3(settings, wanted.s3),
    }


def _endpoint(args: of.SwanlabArgs, service: str, port: int) -> Endpoint:
    return Endpoint(service=service, namespace=args.namespace, port=port)


def _workloads(args: of.SwanlabArgs) -> Iterator[Workload]:
    for name in SERVICES:
        yield _workload("Deployment", args, name, getattr(args.replicas, name))
    for name in args.own:
        yield _workload("Deployment", args, name, 1)
    yield _workload("StatefulSet", args, BUFFER, args.buffer.replicas)


def _workload(kind: str, args: of.SwanlabArgs, program: str, replicas: int) -> Workload:
    pin = args.images[f"swanlab-{program}"]
    image = Image(container=program, reference=pin.reference, image_id=pin.image_id)
    helpers = tuple(args.images[role].reference for role in INIT_ROLES)
    found = {"kind": kind, "name": service_name(program), "replicas": replicas, "images": (image,)}
    return Workload.model_validate({**found, "init_images": helpers})


def _chart(wanted: Swanlab) -> of.Chart:
    pinned, secrets = _pinned(), wanted.chart.pull_secrets
    if wanted.chart.path is None:
        return of.Chart(version=pinned.version, repository=pinned.repository, pull_secrets=secrets)
    # Relative to the repository, not to whatever directory the engine or its plugin runs in.
    here = of.Chart(version=pinned.version, path=str(ROOT / wanted.chart.path), pull_secrets=secrets)
    takes = at(known_keys(here), "dependencies.postgres.existingSecret") is not None
    return of.Chart(version=here.version, path=here.path, takes_secrets=takes, pull_secrets=secrets)


def _pinned() -> _Chart:
    try:
        return _Chart.model_validate(tomllib.loads(VERSIONS.read_text(encoding="utf-8"))["charts"]["swanlab"])
    except (OSError, tomllib.TOMLDecodeError, KeyError, ValidationError) as error:
        raise DeployError(
            f"{VERSIONS} does not pin SwanLab's chart ({type(error).__name__}); accepted: a table [charts.swanlab] "
            "with repository and version; fix: restore it from the repository."
        ) from error


def _postgres(wanted: swanlab.Postgres) -> of.OwnStore | of.ExternalPostgres:
    if wanted.mode == "chart":
        return of.OwnStore(volume=wanted.volume, generation=wanted.generation)
    host, secret = cast("str", wanted.host), cast("str", wanted.secret)
    return of.ExternalPostgres(host=host, port=wanted.port, database=wanted.database, secret=secret)


def _redis(wanted: swanlab.Redis) -> of.OwnStore | of.ExternalRedis:
    if wanted.mode == "chart":
        return of.OwnStore(volume=wanted.volume)
    host, secret = cast("str", wanted.host), cast("str", wanted.secret)
    return of.ExternalRedis(host=host, port=wanted.port, database=wanted.database, secret=secret)


def _clickhouse(wanted: swanlab.ClickHouse) -> of.OwnStore | of.ExternalClickHouse:
    if wanted.mode == "chart":
        return of.OwnStore(volume=wanted.volume, generation=wanted.generation)
    return of.ExternalClickHouse(
        host=cast("str", wanted.host),
        http_port=wanted.http_port,
        tcp_port=wanted.tcp_port,
        database=wanted.database,
        secret=cast("str", wanted.secret),
    )


def _s3(settings: Settings, wanted: swanlab.S3) -> of.OwnStore | of.ExternalS3:
    """That every part is there, and who owns the buckets, is asked in swanlab_relations.py."""
    if wanted.mode == "chart":
        return of.OwnStore(volume=wanted.volume, generation=wanted.generation)
    public, private = cast("swanlab.Bucket", wanted.public), cast("swanlab.Bucket", wanted.private)
    credentials: str | of.StoreKeys | None = wanted.secret
    if credentials is None:
        store = settings.object_store
        owner = next(b.owner or b.name for b in store.buckets if b.name == private.bucket)
        credentials = of.StoreKeys(access_key=owner, secret_key=key_of(owner, store.generation))
    return of.ExternalS3(
        public=of.Bucket(**public.model_dump()), private=of.Bucket(**private.model_dump()), credentials=credentials
    )
