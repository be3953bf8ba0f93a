"""Registers recovery with Pulumi. What is registered is decided in manifests.py and identities.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from components.kube import register
from components.naming import logical_name
from components.recovery.identities import secrets
from components.recovery.manifests import manifests
from components.secrets import marked

if TYPE_CHECKING:
    from components.objects import Manifest
    from components.recovery.args import RecoveryArgs

_RUNS = ("StatefulSet", "CronJob")


class Recovery(pulumi.ComponentResource):
    """Restore points of SwanLab: who makes, verifies and prunes them, and the bucket if it is the stack's own.

    It goes behind SwanLab (`depends_on`), in whose namespace points are made. root: the root secret of the stack.
    """

    namespace: pulumi.Output[str]

    def __init__(
        self, name: str, args: RecoveryArgs, root: pulumi.Output[str], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("plumbline:recovery:Recovery", name, None, opts)
        built = manifests(args)
        if "store-data" in built:
            built["store-data"] = marked(built["store-data"], root)
        namespace = self._register(name, "namespace", built.pop("namespace"), [])
        runs = {role: manifest for role, manifest in built.items() if manifest["kind"] in _RUNS}
        before: list[pulumi.Resource] = [namespace]
        for role, manifest in {**built, **secrets(args, root)}.items():
            if role not in runs:
                before.append(self._register(name, role, manifest, [namespace]))
        # A point that is due at once must find the bucket that it goes to.
        for role, manifest in sorted(runs.items(), key=lambda found: _RUNS.index(found[1]["kind"])):
            made = self._register(name, role, manifest, list(before))
            before += [made] if manifest["kind"] == "StatefulSet" else []
        self.namespace = pulumi.Output.from_input(args.namespace)
        self.register_outputs({"namespace": self.namespace})

    def _register(
        self, name: str, role: str, manifest: Manifest, after: list[pulumi.Resource]
    ) -> pulumi.CustomResource:
        opts = pulumi.ResourceOptions(parent=self, depends_on=after)
        return register(logical_name(name, role), manifest, opts)
