"""Grafana as Kubernetes objects: pure functions from arguments to dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.exporters import service
from components.fixed_config import fixed_config_map
from components.grafana.args import Sqlite
from components.grafana.board_maps import packed
from components.grafana.names import (
    ADMIN_FILE,
    BOARDS_CONFIG_MAP,
    CLAIM,
    CONFIG_MAP,
    ENCRYPTION_FILE,
    NAME,
    PORT,
    PORT_NAME,
    SECRET,
    object_labels,
    selector,
)
from components.grafana.pod import pod_spec
from components.grafana.validate import validate
from components.naming import stack_label
from components.network import allow_ingress
from components.objects import Manifest, metadata
from components.prometheus.manifests import REVISION_ANNOTATION
from components.secrets import Generated, password, secret_manifest
from components.storage import GENERATION, claim

if TYPE_CHECKING:
    import pulumi

    from components.grafana.args import GrafanaArgs
    from components.rendered import Rendered

_PATIENCE_SECONDS: Final = 900
"""For images, plugins, and the first start, which makes some hundred tables."""


def manifests(args: GrafanaArgs, rendered: Rendered) -> dict[str, Manifest]:
    """Role of the object in the component → manifest, in the order of registration, without what `secrets` makes.

    Raises DeployError.
    """
    validate(args)
    own, pods = object_labels(args.namespace), selector(args.namespace)
    boards = packed(args.boards)
    found = {"config": fixed_config_map(CONFIG_MAP, args.namespace, own, rendered)}
    for number, one in enumerate(boards):
        found[f"boards-{number}"] = fixed_config_map(BOARDS_CONFIG_MAP, args.namespace, own, one)
    if isinstance(args.database, Sqlite):
        found["data"] = _claim(args, args.database)
    found["service"] = service(NAME, args.namespace, own, pods, {PORT_NAME: PORT})
    found["deployment"] = _deployment(args, rendered, boards)
    if args.network_policies:
        found["network-policy"] = allow_ingress(NAME, args.namespace, own, pods, (PORT,))
        if args.open_to:
            name = f"{NAME}-opened"
            found["network-policy-opened"] = allow_ingress(name, args.namespace, own, pods, (PORT,), args.open_to)
    return found


def secrets(args: GrafanaArgs, root: pulumi.Output[str]) -> dict[str, Manifest]:
    """Role → Secret of what is derived, if anything is. root: the root secret of the stack."""
    sources = {ADMIN_FILE: args.admin, ENCRYPTION_FILE: args.encryption}
    data = {key: password(root, source) for key, source in sources.items() if isinstance(source, Generated)}
    return {"secret": secret_manifest(SECRET, args.namespace, object_labels(args.namespace), data)} if data else {}


def derives(args: GrafanaArgs) -> bool:
    """Whether anything follows from the root secret."""
    return any(isinstance(source, Generated) for source in (args.admin, args.encryption))


def _claim(args: GrafanaArgs, wanted: Sqlite) -> Manifest:
    own = object_labels(args.namespace) | stack_label(args.stack)
    generation = args.generation if isinstance(args.admin, Generated) else None
    return claim(CLAIM, args.namespace, own, wanted.volume, wanted.storage_class, generation=generation)


def _deployment(args: GrafanaArgs, rendered: Rendered, boards: tuple[Rendered, ...]) -> Manifest:
    """Pods start anew with other files, whose ConfigMaps have other names, and with another generation of the password.

    No sidecar looks for changed boards: one that lost its watch says nothing and looks no more.
    """
    labels_ = object_labels(args.namespace, args.image.version)
    annotations = {
        "kubectl.kubernetes.io/default-container": NAME,
        REVISION_ANNOTATION: rendered.revision,
        GENERATION: str(args.generation),
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(NAME, labels_, args.namespace),
        "spec": {
            "replicas": args.replicas,
            "strategy": _strategy(args),
            "progressDeadlineSeconds": _PATIENCE_SECONDS,
            "selector": {"matchLabels": selector(args.namespace)},
            "template": {
                "metadata": {"labels": labels_, "annotations": annotations},
                "spec": pod_spec(args, rendered, boards),
            },
        },
    }


def _strategy(args: GrafanaArgs) -> Manifest:
    """Two writers of one SQLite file break it. A database of its own takes both, so that people notice nothing."""
    if isinstance(args.database, Sqlite):
        return {"type": "Recreate"}
    return {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
