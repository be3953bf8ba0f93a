"""Where SwanLab's data is: a changed namespace, mode or address would start empty, and is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from components.naming import STACK_LABEL, label_value, stack_label
from components.swanlab.names import CLAIMS, PLACES, place
from stacks.swanlab_arguments import claims
from stacks.swanlab_moves import MOVES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.swanlab.args import SwanlabArgs
    from stacks.cluster import Reader

Json = dict[str, Any]
_KEY: Final = "plumbline:swanlab"


def left_behind(reader: Reader, args: SwanlabArgs, live: dict[str, Json]) -> Iterator[str]:
    """One sentence per store whose data would stay behind. live: claims of this stack in SwanLab's namespace."""
    yield from _elsewhere(reader, args, live)
    before = _places(reader, args)
    for store, made in args.stores.items():
        if store not in args.own and _bound(live.get(CLAIMS[store])):
            yield _moved_out(args, store)
        old, new = before.get(store, CLAIMS[store]), place(store, made)
        filled = store in args.own and CLAIMS[store] in live
        # A place that is a claim's name is judged by the claim, which is there or is not.
        if old not in (CLAIMS[store], new, args.moved_from.get(store)) and not filled:
            yield _moved_in(args, store, old) if store in args.own else _moved(store, old, new)


def _bound(claim: Json | None) -> bool:
    """One that waits for its first pod has no data yet, and one that is `Lost` has none any more."""
    return claim is not None and (claim.get("status") or {}).get("phase") == "Bound"


def _elsewhere(reader: Reader, args: SwanlabArgs, live: dict[str, Json]) -> Iterator[str]:
    for claim in claims(args):
        if claim.name in live:
            continue
        others = set(reader.marked_claims(stack_label(args.stack), claim.name)) - {args.namespace}
        for other in sorted(others):
            yield (
                f"stack {args.stack} has data in claim {other}/{claim.name}, and SwanLab's namespace is now "
                f"{args.namespace}: it would start empty; accepted: the namespace of before; fix: set it back, "
                f"or disown the claim: kubectl -n {other} label pvc {claim.name} {STACK_LABEL}-"
            )


def _places(reader: Reader, args: SwanlabArgs) -> dict[str, str]:
    """Store → place, as the stack was deployed last; empty if it never was."""
    path = f"/api/v1/namespaces/{args.namespace}/configmaps?fieldSelector=metadata.name%3D{PLACES}"
    found = (item.get("data") for item in reader.listing(path) if item["metadata"]["name"] == PLACES)
    return dict(next(found, None) or {})


def _moved_out(args: SwanlabArgs, store: str) -> str:
    return (
        f"{_KEY}.stores.{store}.mode is `external`, and claim {args.namespace}/{CLAIMS[store]} holds data of "
        f"this stack: nothing moves it, and SwanLab would not see it; accepted: `chart`; fix: set it back. To "
        f"change it knowingly, with gateway, server, auth and house at 0 pods: {MOVES[store].out}; then disown "
        f"the claim: kubectl -n {args.namespace} label pvc {CLAIMS[store]} {STACK_LABEL}-"
    )


def _moved_in(args: SwanlabArgs, store: str, old: str) -> str:
    return (
        f"{_KEY}.stores.{store}.mode is `chart`, and the stack is deployed with `external` at {old}: the new store "
        f"would start empty; accepted: `external`; fix: set it back. To change it knowingly: make claim "
        f"{args.namespace}/{CLAIMS[store]} with label {STACK_LABEL}={label_value(args.stack)}, and move the "
        f"data into it: {MOVES[store].back}. If nothing was ever logged there: {_acknowledge(store, old)}"
    )


def _moved(store: str, old: str, new: str) -> str:
    return (
        f"{_KEY}.stores.{store} is at {new}, and the stack is deployed with {old}: nothing moves the data, and "
        f"SwanLab would not see it; accepted: {old}; fix: set it back. To change it knowingly, with gateway, server, "
        f"auth and house at 0 pods: move the data (docs/swanlab.md), then {_acknowledge(store, old)}"
    )


def _acknowledge(store: str, old: str) -> str:
    return f"pulumi config set --path '{_KEY}.stores.{store}.moved_from' '{old}'"
