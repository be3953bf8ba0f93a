"""Registers SwanLab with Pulumi. What is registered is decided in manifests.py, credentials.py and values.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import pulumi
import pulumi_kubernetes as k8s

from components.kube import register
from components.naming import logical_name
from components.secrets import marked
from components.swanlab.credentials import secret_manifests, values_credentials
from components.swanlab.manifests import ROTATION_ROLE, manifests
from components.swanlab.names import CHART, GATEWAY_SERVICE, RELEASE
from components.swanlab.values import generations, values

if TYPE_CHECKING:
    from components.objects import Manifest
    from components.swanlab.args import SwanlabArgs

_TIMEOUT_SECONDS: Final = 900


class Swanlab(pulumi.ComponentResource):
    """SwanLab with its namespace, storage, Secrets and policies. service_name: the gateway's, in its namespace.

    root: the root secret of the stack, from which passwords are derived.
    """

    service_name: pulumi.Output[str]
    namespace: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: SwanlabArgs,
        root: pulumi.Output[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("plumbline:swanlab:Swanlab", name, None, opts)
        built = manifests(args)
        for role in (f"claim-{store}" for store in args.own if store in generations(args)):
            built[role] = marked(built[role], root)
        namespace = self._register(name, "namespace", built.pop("namespace"), [])
        rotation = built.pop(ROTATION_ROLE, None)
        before: list[pulumi.Resource] = [namespace]
        for role, manifest in {**built, **secret_manifests(args, root)}.items():
            before.append(self._register(name, role, manifest, [namespace]))
        if rotation is not None:
            before.append(self._rotation(name, rotation, before))
        self._release(name, args, root, before)
        self.service_name = pulumi.Output.from_input(GATEWAY_SERVICE)
        self.namespace = pulumi.Output.from_input(args.namespace)
        self.register_outputs({"service_name": self.service_name, "namespace": self.namespace})

    def _register(
        self, name: str, role: str, manifest: Manifest, after: list[pulumi.Resource]
    ) -> pulumi.CustomResource:
        opts = pulumi.ResourceOptions(parent=self, depends_on=after)
        return register(logical_name(name, role), manifest, opts)

    def _rotation(self, name: str, manifest: Manifest, after: list[Any]) -> pulumi.Resource:
        """The engine waits for its end, so that no pod is given a password that the database does not know."""
        spec = cast("Any", manifest["spec"])
        meta = cast("Any", manifest["metadata"])
        opts = pulumi.ResourceOptions(parent=self, depends_on=list(after))
        return k8s.batch.v1.Job(logical_name(name, ROTATION_ROLE), metadata=meta, spec=spec, opts=opts)

    def _release(self, name: str, args: SwanlabArgs, root: pulumi.Output[str], after: list[Any]) -> None:
        repository = args.chart.repository
        k8s.helm.v3.Release(
            logical_name(name, "release"),
            k8s.helm.v3.ReleaseArgs(
                name=RELEASE,
                namespace=args.namespace,
                chart=args.chart.path or CHART,
                version=None if args.chart.path else args.chart.version,
                repository_opts=k8s.helm.v3.RepositoryOptsArgs(repo=repository) if repository else None,
                values=values(args, values_credentials(args, root)),
                timeout=_TIMEOUT_SECONDS,
                # Helm would restore the release and hide why it failed; the state of a failed one is what is looked at.
                atomic=False,
                cleanup_on_fail=False,
            ),
            pulumi.ResourceOptions(parent=self, depends_on=list(after)),
        )
