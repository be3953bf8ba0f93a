"""Asked before SwanLab is changed, and only asked: where its data is, which password it knows, who answers.

All faults are told at once. What leaves data behind is refused with the commands that move it.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from components.errors import DeployError
from components.swanlab.args import ExternalClickHouse, ExternalPostgres, ExternalRedis, ExternalS3
from components.swanlab.lint_state import disagreements
from components.swanlab.names import RELEASE, SECRET_KEYS
from components.swanlab.values import values
from stacks.claims import own_claims
from stacks.cluster import ForbiddenError
from stacks.swanlab_claims import refused
from stacks.swanlab_data import left_behind
from stacks.swanlab_endpoints import ask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from components.swanlab.args import SwanlabArgs
    from stacks.cluster import Reader
    from stacks.swanlab_endpoints import Answers

Json = dict[str, Any]
KEY: Final = "plumbline:swanlab"
_PENDING: Final = ("pending-install", "pending-upgrade", "pending-rollback")
_URL_KEYS: Final = {"postgres": ("primaryUrl", "replicaUrl"), "redis": ("url",)}


def check_swanlab(
    reader: Reader,
    args: SwanlabArgs,
    warn: Callable[[str], object],
    endpoints: Callable[[SwanlabArgs], Answers] = ask,
) -> None:
    """Raises DeployError with every fault. warn: takes what could not be judged. endpoints: asks stores elsewhere."""
    live = own_claims(reader, args.namespace, args.stack)
    answers = endpoints(args)
    faults = [
        *_interrupted(reader, args, warn),
        *left_behind(reader, args, live),
        *refused(reader, args, live),
        *_secrets(reader, args),
        *_agreement(reader, args, warn),
        *_namespaces(reader, args),
        *answers.faults,
    ]
    for line in answers.unasked:
        warn(line)
    if faults:
        raise DeployError("SwanLab cannot be deployed like this; nothing was changed:\n" + _listed(faults))


def _listed(faults: list[str]) -> str:
    return "\n".join(f"- {fault}" for fault in faults)


def _interrupted(reader: Reader, args: SwanlabArgs, warn: Callable[[str], object]) -> Iterator[str]:
    """A release whose deployment was killed stays pending, and Helm refuses every later one until somebody clears it.

    Helm keeps each revision in a Secret with the labels owner, name and status.
    """
    selector = quote(f"owner=helm,name={RELEASE},status in ({','.join(_PENDING)})")
    try:
        found = reader.listing(f"/api/v1/namespaces/{args.namespace}/secrets?labelSelector={selector}")
    except ForbiddenError:
        warn(f"Secrets of {args.namespace} may not be listed, so nobody knows whether an earlier deployment was killed")
        return
    for item in found:
        name, status = item["metadata"]["name"], (item["metadata"].get("labels") or {}).get("status")
        if status in _PENDING:
            yield (
                f"release {args.namespace}/{RELEASE} is {status}: a deployment of it runs, or was killed, and Helm "
                "refuses another; accepted: none that is pending; fix: let it end; if none runs, take its record away, "
                f"which takes no pod and no data: kubectl -n {args.namespace} delete secret {name}"
            )


def _existing(args: SwanlabArgs) -> dict[str, str]:
    """Store → name of the Secret that somebody else keeps."""
    found = {
        name: store.secret
        for name, store in args.stores.items()
        if isinstance(store, ExternalPostgres | ExternalRedis | ExternalClickHouse)
    }
    if isinstance(args.s3, ExternalS3) and isinstance(args.s3.credentials, str):
        found["s3"] = args.s3.credentials
    return found


def _secrets(reader: Reader, args: SwanlabArgs) -> Iterator[str]:
    for store, name in _existing(args).items():
        there = reader.secret_keys(args.namespace, name)
        absent = [key for key in SECRET_KEYS[store] if there is None or key not in there]
        if absent:
            what = "is missing" if there is None else f"has no key {', '.join(absent)}"
            literals = " ".join(f"--from-file={key}=<file>" for key in SECRET_KEYS[store])
            yield (
                f"Secret {args.namespace}/{name} {what}, which {KEY}.stores.{store}.secret names; fix: kubectl -n "
                f"{args.namespace} create secret generic {name} {literals} (if the namespace is missing: kubectl "
                f"create namespace {args.namespace})"
            )
    for name in args.chart.pull_secrets:
        if reader.secret_keys(args.namespace, name) is None:
            yield (
                f"Secret {args.namespace}/{name} is missing, which {KEY}.chart.pull_secrets names; fix: kubectl -n "
                f"{args.namespace} create secret docker-registry {name} --docker-server=<host> …"
            )


def _agreement(reader: Reader, args: SwanlabArgs, warn: Callable[[str], object]) -> Iterator[str]:
    """Programs use the Secret's address, what waits for the store uses the settings': two stores, half of them idle."""
    integrations = values(args)["integrations"]
    for store, name in _existing(args).items():
        for key in _URL_KEYS.get(store, ()):
            try:
                url = _url(reader, args.namespace, name, key)
            except ForbiddenError:
                warn(f"Secret {args.namespace}/{name} may not be read, so its {key} was not compared with the settings")
                continue
            if url is not None:
                place = f"key {key} of Secret {args.namespace}/{name}"
                yield from _compared(store, integrations[store], url, place)


def _compared(store: str, integration: Json, url: str, place: str) -> Iterator[str]:
    try:
        found = disagreements(store, integration, url) if urlsplit(url).hostname else None
    except ValueError:
        found = None
    if found is None:
        yield f"{place} is not an address; accepted: a URL with a host, as SwanLab's chart reads it; fix: correct it"
    for line in found or ():
        yield f"{line} ({place}, {KEY}.stores.{store}); accepted: the same; fix: correct one"


def _url(reader: Reader, namespace: str, name: str, key: str) -> str | None:
    """The address in a Secret; what is returned holds a password and is for comparing alone."""
    listed = reader.listing(f"/api/v1/namespaces/{namespace}/secrets?fieldSelector=metadata.name%3D{name}")
    found = next((item for item in listed if item["metadata"]["name"] == name), None)
    encoded = ((found or {}).get("data") or {}).get(key)
    try:
        return None if encoded is None else base64.b64decode(encoded).decode().strip()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _namespaces(reader: Reader, args: SwanlabArgs) -> Iterator[str]:
    for wanted in args.environment:
        if wanted.namespace in (args.namespace, args.instance):
            continue
        try:
            reader.namespace_uid(wanted.namespace)
        except ForbiddenError:
            raise
        except DeployError:
            yield (
                f"namespace {wanted.namespace}, which {KEY}.environment_in names, is missing; accepted: one that is "
                f"there; fix: kubectl create namespace {wanted.namespace}, or another name"
            )
