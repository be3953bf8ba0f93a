"""The outputs contract of a stack: what it promises, so that the smoke suite can hold it to that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from components.prometheus.checks import CHECKS
from components.prometheus.names import CLAIM, DATA_PATH, FLAGS, NAME, PORT
from stacks.contract import Claim, Cluster, Component, Contract, Endpoint, Image, ScrapeJob, Workload

if TYPE_CHECKING:
    from components.prometheus.args import PrometheusArgs
    from components.prometheus.config import Rendered
    from stacks.settings import Settings

Capability = Literal["metrics", "node-access", "disruptive"]

STACK_CHECKS = (
    "cluster.identity",
    "pods.running",
    "pods.not_restarted",
    "workloads.rolled_out",
    "workloads.image",
    "claims.bound",
    "pod.security",
    "pod.volume",
    "node.conditions",
)
"""Checks that every stack brings, whatever runs on it."""

NODE_CHECKS = ("node.kernel", "node.cgroup", "node.runtime", "node.kubelet", "node.disk", "node.clock")
"""Checks that need capability `node-access`: the machine that runs them is the node."""


def contract(settings: Settings, args: PrometheusArgs, rendered: Rendered) -> Contract:
    """The contract. A throw-away stack allows disruption; node access is a setting."""
    capabilities: list[Capability] = ["metrics"]
    if settings.cluster.node_access:
        capabilities.append("node-access")
    if settings.profile == "throwaway":
        capabilities.append("disruptive")
    return Contract(
        stack=settings.stack,
        cluster=Cluster(
            uid=settings.cluster.uid or "",
            context=settings.cluster.context or "",
            name=settings.cluster.name,
            environment=settings.cluster.environment,
        ),
        namespace=settings.namespace,
        capabilities=tuple(capabilities),
        components={"prometheus": _prometheus(args, rendered)},
        scrape=tuple(ScrapeJob(job=page.job, min_targets=1) for page in args.producers),
        expected_checks=(*STACK_CHECKS, *CHECKS, *(NODE_CHECKS if settings.cluster.node_access else ())),
    )


def _prometheus(args: PrometheusArgs, rendered: Rendered) -> Component:
    image = Image(container=NAME, reference=args.image.reference, image_id=args.image.image_id)
    return Component(
        tier="live",
        workloads=(Workload(kind="StatefulSet", name=NAME, replicas=1, images=(image,)),),
        claims=(Claim(name=CLAIM, size=args.volume, mounted_at=DATA_PATH),),
        endpoints={"http": Endpoint(service=NAME, port=PORT)},
        revision=rendered.revision,
        flags=FLAGS,
    )
