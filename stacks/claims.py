"""Compares wanted claims with live ones: what Kubernetes would refuse, or answer by deleting data, is refused first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from components.errors import DeployError
from components.naming import STACK_LABEL, label_value, stack_label
from components.storage import GENERATION
from stacks.fields import quantity_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stacks.cluster import LiveClaim, Reader

_FIX = "set the size back, or make a new claim and move the data (docs/operate.md)"


def check_claim(reader: Reader, namespace: str, name: str, size: str, storage_class: str | None) -> None:
    """size: wanted Kubernetes quantity. storage_class: wanted class, None for the default. Raises DeployError."""
    live = reader.claim(namespace, name)
    if live is None:
        return
    place = f"claim {namespace}/{name}"
    _check_class(place, live, storage_class)
    wanted, current = quantity_bytes(size), quantity_bytes(live.size)
    if wanted < current:
        raise DeployError(
            f"{place} is {live.size} and the settings want {size}: a claim cannot shrink; accepted: at least "
            f"{live.size}; fix: {_FIX}."
        )
    if wanted > current and live.expandable is False:
        raise DeployError(
            f"{place} is {live.size} and the settings want {size}, but its StorageClass `{live.storage_class}` does "
            f"not allow growth; accepted: {live.size}; fix: {_FIX}, or allow it with `allowVolumeExpansion: true`."
        )


def check_namespace(reader: Reader, stack: str, namespace: str, name: str) -> None:
    """A changed namespace would leave the data behind and start with an empty volume, without an error.

    Claims without the label of a stack are not judged. Raises DeployError with both namespaces.
    """
    marked = reader.marked_claims(stack_label(stack), name)
    if not marked or namespace in marked or reader.claim(namespace, name) is not None:
        return
    old = marked[0]
    raise DeployError(
        f"plumbline:namespace is `{namespace}`, but stack {stack} has its data in claim {old}/{name}: it would start "
        f"with an empty volume; accepted: `{old}`; fix: pulumi config set plumbline:namespace {old} --stack {stack}. "
        "To change it knowingly, move or retire the data (docs/operate.md), or leave it where it is and disown it: "
        f"kubectl -n {old} label pvc {name} {STACK_LABEL}-"
    )


def own_claims(reader: Reader, namespace: str, stack: str) -> dict[str, dict[str, Any]]:
    """Claims of the stack in a namespace that are not being deleted, by name. One without its label is not."""
    return {
        str(item["metadata"]["name"]): item
        for item in reader.listing(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims")
        if (item["metadata"].get("labels") or {}).get(STACK_LABEL) == label_value(stack)
        and not item["metadata"].get("deletionTimestamp")
    }


def given(claim: dict[str, Any]) -> int:
    """Generation of the password that a claim's data was given: 1 where nobody wrote it down."""
    text = str((claim["metadata"].get("annotations") or {}).get(GENERATION, "1"))
    return int(text) if text.isdecimal() else 1


def lowered(setting: str, claim: str, known: int, wanted: int) -> Iterator[str]:
    """A sentence if a generation falls: it would bring back a password that somebody replaced.

    known: generation that the claim was given. wanted: that of the settings.
    """
    if wanted < known:
        yield (
            f"{setting} is {wanted}, and claim {claim} was given {known}: a lower one brings back a password that was "
            f"replaced; nothing was changed; accepted: {known} or more; fix: pulumi config set --path '{setting}' "
            f"{known}"
        )


def _check_class(place: str, live: LiveClaim, storage_class: str | None) -> None:
    """The class of a claim is immutable: changing it would replace the claim, and with it the data."""
    if storage_class is not None and live.storage_class not in (None, storage_class):
        raise DeployError(
            f"{place} is of StorageClass `{live.storage_class}` and plumbline:storage.class_name wants "
            f"`{storage_class}`: a claim's class cannot change; accepted: `{live.storage_class}`; fix: set it back."
        )
