"""From the settings of recovery to the arguments of its component and to what the outputs contract promises of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from components.alertmanager import names as am
from components.grafana import names as gf
from components.naming import recovery_namespace_name
from components.object_store import names as store_of
from components.prometheus.args import Resources
from components.pushgateway import names as push
from components.recovery import args as of
from components.recovery import names
from components.recovery.store import own_endpoint, own_region, own_store_args
from components.swanlab import names as lab
from components.swanlab.args import ExternalClickHouse, ExternalPostgres, ExternalRedis, OwnStore, StoreKeys
from components.swanlab.resources import given
from signals.rules.inputs import RecoveryAims
from stacks.contract import Claim, Component, Endpoint, Image, RecoveryJob, SecretRef
from stacks.contract import Recovery as Promised
from stacks.cron import longest_gap_seconds
from stacks.fields import duration_seconds, quantity_bytes
from stacks.grafana_pods import admin_password, grafana_resources
from stacks.swanlab_arguments import swanlab_args
from stacks.system import tier, workload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.object_store.args import ObjectStoreArgs
    from components.swanlab.args import Bucket, SwanlabArgs
    from stacks.recovery import ExternalTarget, Recovery
    from stacks.settings import Settings
    from stacks.system import Images

STOP_ORDER: Final = ("gateway", "server", "auth", "house")
"""Programs of SwanLab that write, as they are stopped: from the door inwards."""
QUIESCE_SECONDS: Final = 600
_RESOURCES: Final = Resources(cpu_request="100m", memory_request="128Mi", memory_limit="1Gi")
_ALERTMANAGER: Final = Resources(cpu_request="10m", memory_request="32Mi", memory_limit="128Mi")
_SCRATCH_ROLES: Final = ("swanlab-postgres", "swanlab-clickhouse", "swanlab-redis")


def roles(settings: Settings) -> tuple[str, ...]:
    """Images that recovery needs besides its own, by role; none if it is off."""
    if settings.recovery.mode == "off":
        return ()
    own = (store_of.NAME,) if settings.recovery.target.own is not None else ()
    alerting = (am.NAME,) if settings.alertmanager.mode == "managed" else ()
    boards = (gf.NAME,) if settings.grafana.mode == "managed" else ()
    return (*own, *alerting, *boards, *_SCRATCH_ROLES)


def recovery_args(settings: Settings, images: Images) -> of.RecoveryArgs:
    """Arguments of the recovery component. images: role → image."""
    wanted, source = settings.recovery, swanlab_args(settings, images)
    stores = tuple(_stores(settings, source))
    live = tuple(dict.fromkeys(store.secret for store in stores if not isinstance(store, of.Alertmanager)))
    api_key = settings.swanlab.api_key.name
    return of.RecoveryArgs(
        stack=settings.stack,
        cluster_uid=settings.cluster.uid or "",
        instance=settings.namespace,
        namespace=recovery_namespace_name(settings.namespace),
        swanlab_namespace=source.namespace,
        image=images[names.NAME],
        target=_target(settings, images),
        stores=stores,
        sealed=(*live, api_key, names.SIGNING),
        may_be_absent=(api_key,),
        scratch=_scratch(settings, images),
        schedules=_schedules(wanted),
        retention=of.Retention(keep_last=wanted.retention.keep_last, keep_days=wanted.retention.keep_days),
        rpo_seconds=int(duration_seconds(wanted.rpo)),
        rto_seconds=int(duration_seconds(wanted.rto)),
        recovery_public_key=wanted.recovery_public_key,
        cross_check=wanted.cross_check,
        metrics_url=f"http://{push.NAME}.{settings.namespace}.svc:{push.PORT}",
        quiesce=of.Quiesce(
            order=tuple(lab.service_name(program) for program in STOP_ORDER),
            buffer=lab.service_name(lab.BUFFER),
            seconds=QUIESCE_SECONDS,
        ),
        resources=_RESOURCES,
        volume_work=wanted.scratch.work,
        storage_class=settings.storage.class_name,
        network_policies=settings.network.policies,
        alertmanager_pods=am.selector(settings.namespace) if settings.alertmanager.mode == "managed" else None,
        grafana_pods=gf.selector(settings.namespace) if settings.grafana.mode == "managed" else None,
    )


def aims(settings: Settings) -> RecoveryAims | None:
    """What rules hold restore points to, None where none are made."""
    wanted = settings.recovery
    if wanted.mode == "off":
        return None
    return RecoveryAims(
        rpo_seconds=int(duration_seconds(wanted.rpo)),
        rto_seconds=int(duration_seconds(wanted.rto)),
        verify_period_seconds=longest_gap_seconds(wanted.schedule.verify),
        small=(gf.NAME,) if settings.grafana.mode == "managed" else (),
    )


def component(args: of.RecoveryArgs) -> Component:
    """What the contract promises of the workload and the claim, where the bucket is the stack's own.

    Without a workload it names no namespace: pods are there while a job runs, and nobody may expect one.
    """
    own = args.target.own
    if own is None:
        return Component(tier=tier(args.image))
    store = workload("StatefulSet", names.STORE, 1, names.STORE, own.image)
    keeper = Image(container=names.KEEPER, reference=args.image.reference, image_id=args.image.image_id)
    return Component(
        tier=tier(args.image),
        namespace=args.namespace,
        workloads=(store.model_copy(update={"images": (*store.images, keeper)}),),
        claims=(Claim(name=store_of.claim_name(names.STORE), size=own.volume, mounted_at=store_of.DATA_PATH),),
        endpoints={"http": Endpoint(service=names.STORE, namespace=args.namespace, port=store_of.PORT)},
    )


def promised(args: of.RecoveryArgs, settings: Settings) -> Promised:
    """What the contract promises of the restore points."""
    target, own = args.target, args.namespace
    lab = args.swanlab_namespace
    here: dict[of.Command, str] = {"create": lab, "verify": own, "prune": own, "restore": lab}
    image = Image(container=names.CONTAINER, reference=args.image.reference, image_id=args.image.image_id)
    return Promised(
        namespace=own,
        jobs={
            command: RecoveryJob(
                namespace=namespace,
                name=names.CRON_JOBS[command],
                period_seconds=args.schedules[command].period_seconds if command in args.schedules else None,
                image=image,
            )
            for command, namespace in here.items()
        },
        target=target.endpoint,
        bucket=target.bucket,
        region=target.region,
        own=target.own is not None,
        reader_access=SecretRef(namespace=own, name=target.reader.secret, key=target.reader.access_key),
        reader_secret=SecretRef(namespace=own, name=target.reader.secret, key=target.reader.secret_key),
        signing=SecretRef(namespace=own, name=names.SIGNING, key=names.SIGNING_KEY),
        lock_days=target.lock_days,
        rpo_seconds=args.rpo_seconds,
        rto_seconds=args.rto_seconds,
        gate_max_age_seconds=int(duration_seconds(settings.recovery.gate_max_age)),
        sealed=args.recovery_public_key is not None,
    )


def own_store(settings: Settings, images: Images) -> ObjectStoreArgs | None:
    """Arguments of the stack's own target, None where it is somebody else's."""
    own = settings.recovery.target.own
    if own is None:
        return None
    return own_store_args(
        stack=settings.stack,
        instance=settings.namespace,
        namespace=recovery_namespace_name(settings.namespace),
        image=images[store_of.NAME],
        volume=own.volume,
        volume_bytes=quantity_bytes(own.volume),
        storage_class=settings.storage.class_name,
        network_policies=settings.network.policies,
        generation=own.generation,
    )


def _target(settings: Settings, images: Images) -> of.Target:
    """That there is exactly one is asked in recovery_relations.py."""
    lock_days = settings.recovery.retention.lock_days
    own = own_store(settings, images)
    if own is not None:
        return of.Target(
            endpoint=own_endpoint(own.namespace),
            bucket=names.BUCKET,
            region=own_region(),
            lock_days=lock_days,
            own=own,
        )
    elsewhere = cast("ExternalTarget", settings.recovery.target.external)
    return of.Target(
        endpoint=elsewhere.endpoint.rstrip("/"),
        bucket=elsewhere.bucket,
        region=elsewhere.region,
        lock_days=lock_days,
        writer=of.Account(secret=elsewhere.writer_secret),
        reader=of.Account(secret=elsewhere.reader_secret),
        pruner=of.Account(secret=elsewhere.pruner_secret),
    )


def _schedules(wanted: Recovery) -> dict[of.Command, of.Schedule]:
    given: dict[of.Command, str] = {
        "create": wanted.schedule.create,
        "verify": wanted.schedule.verify,
        "prune": wanted.schedule.prune,
    }
    return {name: of.Schedule(cron=cron, period_seconds=longest_gap_seconds(cron)) for name, cron in given.items()}


def _scratch(settings: Settings, images: Images) -> of.ScratchStores:
    """As large as what they are a copy of, and with as much memory."""
    told, stores = settings.recovery.scratch, settings.swanlab.stores

    def made(store: str, volume: str) -> of.Scratch:
        return of.Scratch(
            image=images[f"swanlab-{store}"], volume=volume, resources=given(settings.swanlab.size, store)
        )

    watched, shown = settings.alertmanager.mode == "managed", settings.grafana.mode == "managed"
    return of.ScratchStores(
        postgres=made("postgres", told.postgres or stores.postgres.volume),
        clickhouse=made("clickhouse", told.clickhouse or stores.clickhouse.volume),
        redis=made("redis", told.redis or stores.redis.volume),
        alertmanager=of.Scratch(image=images[am.NAME], volume="", resources=_ALERTMANAGER) if watched else None,
        grafana=of.Scratch(image=images[gf.NAME], volume="", resources=grafana_resources(settings.grafana))
        if shown
        else None,
    )


def _stores(settings: Settings, args: SwanlabArgs) -> Iterator[of.Store]:
    """Every live store: at the Service of the chart, or where the settings say."""
    yield _postgres(args)
    yield _clickhouse(args)
    secret = args.redis.secret if isinstance(args.redis, ExternalRedis) else lab.SECRETS["redis"]
    yield of.Redis(name="swanlab-redis", secret=secret)
    yield from _buckets(args)
    if settings.alertmanager.mode == "managed":
        yield of.Alertmanager(name=am.NAME, url=f"http://{am.NAME}.{settings.namespace}.svc:{am.PORT}")
    if settings.grafana.mode == "managed":
        yield of.Grafana(
            name=gf.NAME,
            url=f"http://{gf.NAME}.{settings.namespace}.svc:{gf.PORT}",
            login=gf.LOGIN,
            folder=gf.FOLDER_UID,
            password=admin_password(settings.grafana),
        )


def _postgres(args: SwanlabArgs) -> of.Postgres:
    name, found = "swanlab-postgres", args.postgres
    if isinstance(found, ExternalPostgres):
        return of.Postgres(name=name, host=found.host, port=found.port, database=found.database, secret=found.secret)
    host, secret = lab.service_name("postgres"), lab.SECRETS["postgres"]
    return of.Postgres(name=name, host=host, port=lab.PORTS["postgres"], database=lab.DATABASE, secret=secret)


def _clickhouse(args: SwanlabArgs) -> of.ClickHouse:
    name, found = "swanlab-clickhouse", args.clickhouse
    if isinstance(found, ExternalClickHouse):
        url = f"http://{found.host}:{found.http_port}"
        return of.ClickHouse(name=name, url=url, database=found.database, secret=found.secret)
    url = f"http://{lab.service_name('clickhouse')}:{lab.PORTS['clickhouse']}"
    return of.ClickHouse(name=name, url=url, database=lab.DATABASE, secret=lab.SECRETS["clickhouse"])


def _buckets(args: SwanlabArgs) -> Iterator[of.Objects]:
    """Both buckets with one key, reached as the servers reach the private one: the public address is for browsers."""
    found = args.s3
    if isinstance(found, OwnStore):
        endpoint = f"http://{lab.service_name('s3')}:{lab.PORTS['s3']}"
        for side, bucket in lab.CHART_BUCKETS.items():
            yield _objects(side, endpoint, bucket, "us-east-1", lab.SECRETS["s3"])
        return
    secret = lab.SECRETS["s3"] if isinstance(found.credentials, StoreKeys) else found.credentials
    for side, wanted in (("private", found.private), ("public", found.public)):
        yield _objects(side, _address(found.private), wanted.bucket, wanted.region, secret)


def _objects(side: str, endpoint: str, bucket: str, region: str, secret: str) -> of.Objects:
    return of.Objects(name=f"swanlab-{side}", endpoint=endpoint, bucket=bucket, region=region, secret=secret)


def _address(bucket: Bucket) -> str:
    return f"{'https' if bucket.ssl else 'http'}://{bucket.endpoint}:{bucket.port}"
