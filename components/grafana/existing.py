"""What a Grafana is given that a team already runs: ConfigMaps that its sidecar selects, and a way to the stores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from components.errors import DeployError
from components.grafana.board_maps import LARGEST
from components.grafana.datasources import datasources_file
from components.grafana.names import FOLDER, NAME, object_labels
from components.naming import cluster_scoped_name, object_name
from components.network import allow_ingress
from components.objects import Manifest, config_map
from components.rendered import revision

if TYPE_CHECKING:
    from components.grafana.args import ExistingGrafanaArgs

_DATASOURCES: Final = "plumbline-datasources.yaml"


@dataclass(frozen=True, kw_only=True)
class Content:
    """manifests: role → manifest, in the order of registration. revision: changes with any datasource or board."""

    manifests: dict[str, Manifest]
    revision: str


def render(args: ExistingGrafanaArgs) -> Content:
    """Everything; there is no workload. Raises DeployError for a board that fits in no ConfigMap.

    The ConfigMaps lie in Grafana's own namespace, which its sidecar reads whatever else it is told, and may change: a
    sidecar knows them by name. One board each, so that a large one never costs another its place.
    """
    sources = {_DATASOURCES: datasources_file(args.stores, default=False)}
    openings = {f"network-policy-{name}": _opening(args, name) for name in args.opened}
    labels = args.datasource_labels
    found = {**openings, "datasources": _config_map(args, "datasources", labels, sources, {})}
    for file, text in sorted(args.boards.items()):
        name = file.removesuffix(".json")
        if len(text.encode()) > LARGEST:
            raise DeployError(f"board {file} is larger than a ConfigMap takes; accepted are {LARGEST} bytes")
        folder = {args.folder_annotation: FOLDER}
        found[f"board-{name}"] = _config_map(args, name, args.board_labels, {file: text}, folder)
    return Content(manifests=found, revision=revision({**sources, **args.boards}))


def _config_map(
    args: ExistingGrafanaArgs,
    what: str,
    selected_by: dict[str, str],
    files: dict[str, str],
    annotations: dict[str, str],
) -> Manifest:
    """Named after the stack's namespace: the other one is not the stack's, and may hold objects of anybody."""
    name = cluster_scoped_name(args.namespace, object_name(NAME, what))
    return config_map(
        name, args.grafana_namespace, {**selected_by, **object_labels(args.namespace)}, files, annotations
    )


def _opening(args: ExistingGrafanaArgs, name: str) -> Manifest:
    """The stack's own policies let in its own namespace; this Grafana is in another."""
    pods, ports = args.opened[name]
    return allow_ingress(
        object_name(NAME, name), args.namespace, object_labels(args.namespace), pods, ports, (args.grafana_namespace,)
    )
