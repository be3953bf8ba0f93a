"""Systems that keep what training runs log: the object store, SwanLab, and what watches SwanLab."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.images import ImagePin
from components.object_store import names as store
from components.object_store.component import ObjectStore
from components.object_store.manifests import manifests as object_store_manifests
from components.prometheus.args import Resources
from components.recovery import names as recovery
from components.secrets import Existing
from components.swanlab import names as lab
from components.swanlab.args import ExternalClickHouse, ExternalPostgres, ExternalRedis, ExternalS3, StoreKeys
from components.swanlab.component import Swanlab
from components.swanlab.lint import lint as lint_swanlab
from components.swanlab.manifests import manifests as swanlab_manifests
from components.swanlab_gate import names as gate
from components.swanlab_gate.args import SwanlabGateArgs
from components.swanlab_gate.component import SwanlabGate
from components.swanlab_gate.manifests import manifests as gate_manifests
from components.swanlab_gate.parts import Stores, parts
from stacks.contract import Bucket as PromisedBucket
from stacks.contract import Claim, Component, Endpoint, SecretRef
from stacks.contract import ObjectStore as PromisedStore
from stacks.object_store import buckets, object_store_args
from stacks.root_secret import check_root_secret, root_secret
from stacks.swanlab_arguments import component as promised_swanlab
from stacks.swanlab_arguments import swanlab_args
from stacks.system import System, tier, workload

if TYPE_CHECKING:
    from components.swanlab.args import SwanlabArgs
    from stacks.settings import Settings
    from stacks.system import Images

_GATE_RESOURCES = Resources(cpu_request="10m", memory_request="48Mi", memory_limit="128Mi")


def object_store(settings: Settings, images: Images) -> System:
    """S3 of the stack's own."""
    args = object_store_args(settings, settings.object_store, images)
    promise = Component(
        tier=tier(args.image),
        workloads=(workload("StatefulSet", store.NAME, 1, store.NAME, args.image),),
        claims=(Claim(name=store.CLAIM, size=args.volume, mounted_at=store.DATA_PATH),),
        endpoints={"http": Endpoint(service=store.NAME, port=store.PORT)},
    )
    return System(
        name=store.NAME,
        manifests=object_store_manifests(args),
        promise=promise,
        register=lambda opts: ObjectStore(store.NAME, args, root_secret(settings), opts),
        lint=lambda: check_root_secret(settings),
    )


def promised_buckets(settings: Settings) -> PromisedStore:
    """What the contract promises of the object store beyond the component: its buckets, and whose key opens which."""

    def entry(key: str) -> SecretRef:
        return SecretRef(namespace=settings.namespace, name=store.KEYS_SECRET, key=key)

    return PromisedStore(
        buckets=tuple(
            PromisedBucket(
                name=bucket.name,
                owner=bucket.owner,
                access=entry(store.access_key_entry(bucket.owner)),
                secret=entry(store.secret_key_entry(bucket.owner)),
                public_read=bucket.public_read,
            )
            for bucket in buckets(settings.object_store)
        )
    )


def swanlab(settings: Settings, images: Images) -> System:
    """SwanLab by its chart. The gate's address is in its promise: who asks for SwanLab asks there how it is.

    An object store of the stack that it uses comes first: media that a run logs before that would be lost.
    """
    args = swanlab_args(settings, images)
    promise = promised_swanlab(args)
    if has_gate(settings):
        asked = Endpoint(service=gate.NAME, namespace=args.namespace, port=gate.PORT)
        promise = promise.model_copy(update={"endpoints": {**promise.endpoints, "gate": asked}})
    return System(
        name=lab.NAME,
        manifests=swanlab_manifests(args),
        promise=promise,
        register=lambda opts: Swanlab(lab.NAME, args, root_secret(settings), opts),
        lint=lambda: _lint_swanlab(settings, args),
        after=(store.NAME,) if isinstance(args.s3, ExternalS3) and isinstance(args.s3.credentials, StoreKeys) else (),
    )


def swanlab_gate(settings: Settings, images: Images) -> System:
    """What waits for SwanLab, and watches it and its licence. Its image is ours: there is none at an upstream."""
    lab_args, wanted = swanlab_args(settings, images), settings.swanlab
    args = SwanlabGateArgs(
        namespace=settings.namespace,
        swanlab_namespace=lab_args.namespace,
        image=images[gate.NAME],
        parts=parts(lab.RELEASE, _stores(lab_args)),
        licence_url=f"http://{lab.service_name('gateway')}",
        api_key=Existing(name=wanted.api_key.name, key=wanted.api_key.key),
        resources=_GATE_RESOURCES,
        network_policies=settings.network.policies,
    )
    promise = Component(
        tier=tier(args.image),
        namespace=args.swanlab_namespace,
        workloads=(workload("Deployment", gate.NAME, 1, gate.CONTAINER, args.image),),
        endpoints={"http": Endpoint(service=gate.NAME, namespace=args.swanlab_namespace, port=gate.PORT)},
    )
    return System(
        name=gate.NAME,
        manifests=gate_manifests(args),
        promise=promise,
        register=lambda opts: SwanlabGate(gate.NAME, args, opts),
        after=(lab.NAME,),
    )


def named_images(settings: Settings) -> Images:
    """Images that the settings name themselves, role → image."""
    named = {gate.NAME: settings.swanlab.gate_image, recovery.NAME: settings.recovery.image}
    return {role: ImagePin(reference=image) for role, image in named.items() if image is not None}


def has_gate(settings: Settings) -> bool:
    """Whether the gate's image can be had: it is built for the embedded cluster, elsewhere it is named."""
    return settings.images.source == "file" or settings.swanlab.gate_image is not None


def _lint_swanlab(settings: Settings, args: SwanlabArgs) -> None:
    check_root_secret(settings)
    lint_swanlab(args)


def _stores(args: SwanlabArgs) -> Stores:
    """Where the gate asks for each store: at the chart's Service, or where the settings say."""
    own = Stores.of_chart(lab.RELEASE)
    postgres, redis, clickhouse, s3 = args.postgres, args.redis, args.clickhouse, args.s3
    return Stores(
        postgres=f"{postgres.host}:{postgres.port}" if isinstance(postgres, ExternalPostgres) else own.postgres,
        redis=f"{redis.host}:{redis.port}" if isinstance(redis, ExternalRedis) else own.redis,
        clickhouse=f"{clickhouse.host}:{clickhouse.http_port}"
        if isinstance(clickhouse, ExternalClickHouse)
        else own.clickhouse,
        s3=f"{s3.private.endpoint}:{s3.private.port}" if isinstance(s3, ExternalS3) else own.s3,
    )
