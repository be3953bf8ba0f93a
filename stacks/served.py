"""Whether the cluster knows every field of the custom resources that it would be given: pure functions over schemas.

Helm installs definitions once and never updates them. Kubernetes drops a field that a definition does not have, and a
monitor without its relabelling is a monitor of something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from components.objects import Manifest

Json = dict[str, Any]


def schema_of(manifest: Manifest, schemas: Mapping[str, Json]) -> Json | None:
    """The schema of a manifest's kind among those of its group and version; None if the cluster does not serve it."""
    group, _, version = str(manifest["apiVersion"]).rpartition("/")
    wanted = {"group": group, "version": version, "kind": manifest["kind"]}
    return next((s for s in schemas.values() if wanted in s.get("x-kubernetes-group-version-kind", ())), None)


def unknown_fields(manifest: Manifest, schema: Json) -> list[str]:
    """Paths under `spec` that the schema does not have, each once."""
    return list(dict.fromkeys(_unknown(manifest["spec"], schema.get("properties", {}).get("spec", {}), "spec")))


def _unknown(value: object, schema: Json, at: str) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _unknown(item, schema.get("items", {}), f"{at}[]")
    if not isinstance(value, dict):
        return
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    anything = bool(others) or bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    for key, inner in value.items():
        if key in known:
            yield from _unknown(inner, known[key], f"{at}.{key}")
        elif not anything:
            yield f"{at}.{key}"
