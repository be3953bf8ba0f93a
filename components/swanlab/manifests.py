"""What lies around SwanLab's release as Kubernetes objects: pure functions from arguments to dictionaries.

Secrets are not among them: what they hold is known to the engine alone, see credentials.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from components.naming import PART_OF, labels, stack_label
from components.objects import KEPT, Manifest, config_map, metadata
from components.storage import claim
from components.swanlab.credentials import rotates
from components.swanlab.names import CLAIMS, ENVIRONMENT, PLACES, buffer_claims, object_labels, place
from components.swanlab.network import policies
from components.swanlab.rotation import job, script
from components.swanlab.values import generations

if TYPE_CHECKING:
    from components.swanlab.args import Environment, SwanlabArgs

POD_SECURITY: Final = {"enforce": "baseline", "audit": "restricted", "warn": "restricted"}
"""Not `restricted` everywhere: containers of the chart prepare volumes as root."""
ROTATION_ROLE: Final = "postgres-rotation"


def manifests(args: SwanlabArgs) -> dict[str, Manifest]:
    """Role → manifest, in the order in which they are registered: the namespace first, the rotation last."""
    found = {"namespace": namespace(args), "places": places(args)}
    found |= {f"claim-{store}": found_claim for store, found_claim in _store_claims(args).items()}
    for number, name in enumerate(buffer_claims(args.buffer.replicas)):
        found[f"claim-buffer-{number}"] = _claim(args, name, args.buffer.volume)
    if args.network_policies:
        found |= policies(args)
    for wanted in args.environment:
        found[f"environment-{wanted.namespace}"] = environment(args, wanted)
    if rotates(args):
        found["rotation-script"] = script(args)
        found[ROTATION_ROLE] = job(args)
    return found


def namespace(args: SwanlabArgs) -> Manifest:
    """SwanLab's namespace. Retained: deleting a namespace takes every claim in it along, outside Pulumi's view."""
    levels = {f"pod-security.kubernetes.io/{mode}": level for mode, level in POD_SECURITY.items()}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": metadata(args.namespace, labels(PART_OF, args.instance, "namespace") | levels, annotations=KEPT),
    }


def places(args: SwanlabArgs) -> Manifest:
    """Where each store is, for the next deployment to compare. Retained, since the data outlives the stack as well."""
    data = {store: place(store, made) for store, made in args.stores.items()}
    return config_map(PLACES, args.namespace, object_labels(args.instance), data, KEPT)


def environment(args: SwanlabArgs, wanted: Environment) -> Manifest:
    """What a training pod must know, but the key: mounted with `envFrom`, beside the key from a Secret of the team."""
    host = urlsplit(args.host).hostname or ""
    data = {
        "SWANLAB_API_HOST": args.host,
        "SWANLAB_WEB_HOST": args.public_host or args.host,
        "NO_PROXY": f"{host},.svc,.cluster.local",
    }
    optional = {
        # The SDK reads the first, the callback of transformers the second.
        "SWANLAB_PROJ_NAME": wanted.project,
        "SWANLAB_PROJECT": wanted.project,
        "SWANLAB_WORKSPACE": wanted.workspace,
        "SWANLAB_LOG_DIR": wanted.log_dir,
    }
    data |= {key: value for key, value in optional.items() if value is not None}
    return config_map(ENVIRONMENT, wanted.namespace, object_labels(args.instance), data, {})


def _store_claims(args: SwanlabArgs) -> dict[str, Manifest]:
    known = generations(args)
    return {store: _claim(args, CLAIMS[store], wanted.volume, known.get(store)) for store, wanted in args.own.items()}


def _claim(args: SwanlabArgs, name: str, size: str, generation: int | None = None) -> Manifest:
    """Marked with the stack, so that a changed namespace is seen before it leaves the data behind."""
    marked = object_labels(args.instance) | stack_label(args.stack)
    return claim(name, args.namespace, marked, size, args.storage_class, generation=generation)
