"""Asked before recovery is changed, and only asked: its claim, the root secret that its keys follow from, accounts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.errors import DeployError
from components.naming import recovery_namespace_name, swanlab_namespace_name
from components.object_store.names import claim_name
from components.recovery.names import ACCESS_KEY, SECRET_KEY, STORE
from stacks.claims import check_claim, given, lowered, own_claims
from stacks.root_secret import check_same_root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stacks.cluster import Reader
    from stacks.recovery import ExternalTarget
    from stacks.settings import Settings

KEY: Final = "plumbline:recovery.target"
_KEYS: Final = (ACCESS_KEY, SECRET_KEY)


def check_recovery(reader: Reader, settings: Settings) -> None:
    """Raises DeployError: a claim cannot be as wanted, keys would be others than those of now, a Secret is missing."""
    target = settings.recovery.target
    if target.own is not None:
        namespace, claim = recovery_namespace_name(settings.namespace), claim_name(STORE)
        check_claim(reader, namespace, claim, target.own.volume, settings.storage.class_name)
        live = own_claims(reader, namespace, settings.stack)
        check_same_root(settings, namespace, live)
        known = given(live[claim]) if claim in live else 1
        for line in lowered(f"{KEY}.own.generation", f"{namespace}/{claim}", known, target.own.generation):
            raise DeployError(line)
    missing = list(_missing(reader, settings, target.external)) if target.external is not None else []
    missing += _grafana(reader, settings)
    if missing:
        lines = "\n".join(f"- {line}" for line in missing)
        raise DeployError(f"Secrets that recovery needs are not there; nothing was changed:\n{lines}")


def _grafana(reader: Reader, settings: Settings) -> Iterator[str]:
    """Points are made in SwanLab's namespace, and a pod mounts no Secret of another."""
    secret = settings.grafana.admin.secret
    if settings.grafana.mode != "managed" or secret is None:
        return
    lab = swanlab_namespace_name(settings.namespace)
    there = reader.secret_keys(lab, secret.name)
    if there is None or secret.key not in there:
        what = "is missing" if there is None else f"has no key {secret.key}"
        yield (
            f"Secret {lab}/{secret.name} {what}: a copy of the one in {settings.namespace} that "
            "plumbline:grafana.admin.secret names, with which restore points ask Grafana; fix: kubectl -n "
            f"{lab} create secret generic {secret.name} --from-file={secret.key}=<file> (if the namespace is missing: "
            f"kubectl create namespace {lab})"
        )


def _missing(reader: Reader, settings: Settings, wanted: ExternalTarget) -> Iterator[str]:
    own, lab = recovery_namespace_name(settings.namespace), swanlab_namespace_name(settings.namespace)
    for field, name, namespaces in (
        ("writer_secret", wanted.writer_secret, (lab, own)),
        ("reader_secret", wanted.reader_secret, (lab, own)),
        ("pruner_secret", wanted.pruner_secret, (own,)),
    ):
        for namespace in namespaces:
            there = reader.secret_keys(namespace, name)
            absent = [key for key in _KEYS if there is None or key not in there]
            if absent:
                what = "is missing" if there is None else f"has no key {', '.join(absent)}"
                literals = " ".join(f"--from-file={key}=<file>" for key in _KEYS)
                yield (
                    f"Secret {namespace}/{name} {what}, which {KEY}.external.{field} names; fix: kubectl -n "
                    f"{namespace} create secret generic {name} {literals} (if the namespace is missing: kubectl "
                    f"create namespace {namespace})"
                )
