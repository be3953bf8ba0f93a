"""What SwanLab's claims allow: size and class, the template of the buffer's, and which password their data knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from components.errors import DeployError
from components.naming import STACK_LABEL
from components.swanlab.names import BUFFER, CLAIMS, RELEASE, service_name
from components.swanlab.values import generations
from stacks.claims import check_claim, given, lowered
from stacks.cluster import ForbiddenError
from stacks.fields import quantity_bytes
from stacks.swanlab_arguments import claims

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.swanlab.args import SwanlabArgs
    from stacks.cluster import Reader

Json = dict[str, Any]
_KEY: Final = "plumbline:swanlab"


def refused(reader: Reader, args: SwanlabArgs, live: dict[str, Json]) -> Iterator[str]:
    """One sentence per fault. live: claims of this stack in SwanLab's namespace."""
    yield from _sizes(reader, args)
    yield from _template(reader, args)
    for store, wanted in generations(args).items():
        if store in args.own and CLAIMS[store] in live:
            yield from _generation(reader, args, store, given(live[CLAIMS[store]]), wanted)
    yield from _fewer_buffers(args, live)


def _sizes(reader: Reader, args: SwanlabArgs) -> Iterator[str]:
    for claim in claims(args):
        try:
            check_claim(reader, args.namespace, claim.name, claim.size, args.storage_class)
        except ForbiddenError:
            raise
        except DeployError as error:
            yield str(error)


def _template(reader: Reader, args: SwanlabArgs) -> Iterator[str]:
    """Claims can grow, the template that names them cannot change: Kubernetes refuses it, and Helm stops half-way."""
    name, wanted = service_name(BUFFER), (args.buffer.volume, args.storage_class)
    for item in reader.listing(f"/apis/apps/v1/namespaces/{args.namespace}/statefulsets"):
        if item["metadata"]["name"] != name:
            continue
        for template in item["spec"].get("volumeClaimTemplates") or ():
            spec = template["spec"]
            there = (str(spec["resources"]["requests"]["storage"]), spec.get("storageClassName") or None)
            if quantity_bytes(there[0]) != quantity_bytes(wanted[0]) or there[1] != wanted[1]:
                yield (
                    f"{_KEY}.buffer.volume is {_shown(wanted)}, and StatefulSet {args.namespace}/{name} makes claims "
                    f"of {_shown(there)}, which it cannot change; accepted: {_shown(there)}; fix: set it back, or take "
                    "the StatefulSet away and leave its pods: "
                    f"kubectl -n {args.namespace} delete statefulset {name} --cascade=orphan"
                )


def _shown(volume: tuple[str, str | None]) -> str:
    size, storage_class = volume
    return f"{size} of {f'StorageClass {storage_class}' if storage_class else 'the default StorageClass'}"


def _generation(reader: Reader, args: SwanlabArgs, store: str, known: int, wanted: int) -> Iterator[str]:
    """PostgreSQL's data knows one password: the next is set in a PostgreSQL that runs. The others take it at start."""
    setting, claim = f"{_KEY}.stores.{store}.generation", f"{args.namespace}/{CLAIMS[store]}"
    if store != "postgres":
        yield from lowered(setting, claim, known, wanted)
    elif wanted not in (known, known + 1):
        yield (
            f"{setting} is {wanted}, and claim {claim} was given {known}: each password "
            f"is set by the one before it; accepted: {known} or {known + 1}; fix: pulumi config set --path '{setting}' "
            f"{known + 1 if wanted > known else known}"
        )
    elif wanted == known + 1 and not _runs(reader, args):
        yield (
            f"{setting} is {wanted}, claim {claim} was given {known}, and no PostgreSQL "
            f"runs that could be told; accepted: {known}; fix: `pulumi up` with {known} first, then raise it"
        )


def _runs(reader: Reader, args: SwanlabArgs) -> bool:
    """By the pods that are ready, not by the Service, which outlives them."""
    found = reader.listing(f"/apis/apps/v1/namespaces/{args.namespace}/deployments")
    name = service_name("postgres")
    return any(
        item["metadata"]["name"] == name and int((item.get("status") or {}).get("readyReplicas") or 0) > 0
        for item in found
    )


def _fewer_buffers(args: SwanlabArgs, live: dict[str, Json]) -> Iterator[str]:
    """What a buffer acknowledged and did not store yet is on its own claim, and no other pod reads that."""
    prefix = f"data-{RELEASE}-{BUFFER}-"
    numbers = [int(name.removeprefix(prefix)) for name in live if name.removeprefix(prefix).isdigit()]
    beyond = sorted(number for number in numbers if number >= args.buffer.replicas)
    if beyond:
        names = " ".join(f"{prefix}{number}" for number in beyond)
        yield (
            f"{_KEY}.buffer.replicas is {args.buffer.replicas}, and {names} may hold points that were acknowledged and "
            f"not stored; accepted: {max(beyond) + 1}; fix: set it back. To lower it knowingly: wait until the buffer "
            f"is empty, then kubectl -n {args.namespace} label pvc {names} {STACK_LABEL}-"
        )
