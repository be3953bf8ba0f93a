"""Agents and gateway as Kubernetes objects: pure functions from arguments to dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components import exporters
from components.fixed_config import fixed_config_map
from components.naming import cluster_scoped_name, stack_label
from components.network import allow_ingress
from components.objects import WRITTEN_BY_OTHERS, Manifest, config_map, metadata
from components.otel_collector.abilities import K8S_ATTRIBUTES
from components.otel_collector.agent_pods import agent_pod
from components.otel_collector.config import no_windows
from components.otel_collector.gateway_pods import gateway_pod
from components.otel_collector.names import (
    AGENT,
    AGENT_CONFIG,
    GATEWAY,
    GATEWAY_CONFIG,
    HEADLESS_SERVICE,
    METRICS_PORT,
    PORTS,
    REPLICA_LABEL,
    SPAN_METRICS_PORT,
    claim_name,
    debug_config,
    object_labels,
    replica_name,
    selector,
)
from components.otel_collector.validate import validate
from components.pods import headless, one_pod
from components.prometheus.manifests import REVISION_ANNOTATION
from components.storage import claim

if TYPE_CHECKING:
    from components.otel_collector.args import OtelCollectorArgs
    from components.rendered import Rendered

_OTLP: Final = {name: port for name, port in PORTS.items() if name.startswith("otlp-")}


def manifests(args: OtelCollectorArgs, agent: Rendered, gateway: Rendered) -> dict[str, Manifest]:
    """Role of the object in the component → manifest. Raises DeployError for settings that contradict each other.

    agent, gateway: what render_agent() and render_gateway() made of the same arguments. In the order in which they are
    registered: what pods mount, the gateway's replicas, the agents, which send to them.
    """
    validate(args)
    return {
        **_agent_objects(args, agent),
        **_gateway_objects(args, gateway),
        **{
            f"gateway-stateful-set-{replica}": _stateful_set(args, gateway, replica)
            for replica in range(args.gateway.replicas)
        },
        "agent-daemon-set": _daemon_set(args, agent),
    }


def _agent_objects(args: OtelCollectorArgs, rendered: Rendered) -> dict[str, Manifest]:
    """What the agents need. Their Service leads to the one on the sender's own node, or nowhere."""
    where, own, pods = args.node_namespace, object_labels(AGENT, args.namespace), selector(AGENT, args.namespace)
    reached = exporters.service(AGENT, where, own, pods, _OTLP)
    found = {
        "agent-service-account": exporters.service_account(AGENT, where, own),
        "agent-config": fixed_config_map(AGENT_CONFIG, where, own, rendered),
        debug_role(args): _debug_config_map(args, own),
        "agent-service": {**reached, "spec": {**reached["spec"], "internalTrafficPolicy": "Local"}},
    }
    if K8S_ATTRIBUTES in args.abilities:
        found |= _lookups(args)
    if args.network_policies:
        metrics = allow_ingress(AGENT, where, own, pods, (METRICS_PORT,), (args.namespace,))
        found["agent-network-policy"] = _with_senders(metrics, args)
    return found


def debug_role(args: OtelCollectorArgs) -> str:
    """With the level, as the object's name: one object that changed its name would keep its old content."""
    return f"agent-debug-{args.lowest_level.lower()}"


def _debug_config_map(args: OtelCollectorArgs, own: dict[str, str]) -> Manifest:
    """`make debug-logs` writes the file and, beside it, the revision of what it wrote."""
    first = no_windows(args)
    written = f'data,metadata.annotations["{REVISION_ANNOTATION}"]'
    annotations = {WRITTEN_BY_OTHERS: written, REVISION_ANNOTATION: first.revision}
    return config_map(debug_config(args.lowest_level), args.node_namespace, own, first.files, annotations)


def _lookups(args: OtelCollectorArgs) -> dict[str, Manifest]:
    """Rights of an agent that asks the API server whose a connection is: to read names of pods and of their owners."""
    own, name = object_labels(AGENT, args.namespace), cluster_scoped_name(args.namespace, AGENT)
    verbs = ["get", "list", "watch"]
    rules = [
        {"apiGroups": [""], "resources": ["pods", "namespaces"], "verbs": verbs},
        {"apiGroups": ["apps"], "resources": ["replicasets"], "verbs": verbs},
    ]
    return {
        "agent-cluster-role": exporters.cluster_role(name, own, rules),
        "agent-cluster-role-binding": exporters.cluster_role_binding(name, own, AGENT, args.node_namespace),
    }


def _gateway_objects(args: OtelCollectorArgs, rendered: Rendered) -> dict[str, Manifest]:
    """What the gateway needs. Each replica's queue is on a claim of its own, which two could not open at once."""
    own, pods = object_labels(GATEWAY, args.namespace), selector(GATEWAY, args.namespace)
    reached = exporters.service(GATEWAY, args.namespace, own, pods, _OTLP)
    volume, labels = args.gateway.volume, own | stack_label(args.stack)
    found = {
        "gateway-config": fixed_config_map(GATEWAY_CONFIG, args.namespace, own, rendered),
        **{
            f"gateway-queue-{replica}": claim(claim_name(replica), args.namespace, labels, volume, args.storage_class)
            for replica in range(args.gateway.replicas)
        },
        "gateway-service": reached,
        "gateway-service-headless": headless(reached, HEADLESS_SERVICE),
    }
    if args.network_policies:
        metrics = allow_ingress(GATEWAY, args.namespace, own, pods, (METRICS_PORT, SPAN_METRICS_PORT))
        found["gateway-network-policy"] = _with_senders(metrics, args)
    return found


def _with_senders(policy: Manifest, args: OtelCollectorArgs) -> Manifest:
    """The policy, with the ports of OTLP open to every pod, or to those of the namespaces that may send.

    The stack's own and the agents' always may: what the stack runs is observed, and agents send to the gateway.
    """
    sources = sorted({args.namespace, args.node_namespace, *args.receive_from}) if args.receive_from else []
    meta, spec = policy["metadata"], policy["spec"]
    opened = allow_ingress(meta["name"], meta["namespace"], meta["labels"], {}, tuple(_OTLP.values()), tuple(sources))
    (rule,) = opened["spec"]["ingress"]
    if not sources:
        rule = {**rule, "from": [{"namespaceSelector": {}}]}
    return {**policy, "spec": {**spec, "ingress": [*spec["ingress"], rule]}}


def _stateful_set(args: OtelCollectorArgs, rendered: Rendered, replica: int) -> Manifest:
    """One replica of the gateway: a StatefulSet for each, so that each names its own claim.

    The collector reads its configuration once, so the template carries the revision.
    """
    mark = {REPLICA_LABEL: str(replica)}
    own = object_labels(GATEWAY, args.namespace, args.image.version) | mark
    return one_pod(
        metadata(replica_name(replica), own, args.namespace),
        selector(GATEWAY, args.namespace) | mark,
        gateway_pod(args, replica, rendered.revision),
        headless_service=HEADLESS_SERVICE,
        annotations={REVISION_ANNOTATION: rendered.revision},
    )


def _daemon_set(args: OtelCollectorArgs, rendered: Rendered) -> Manifest:
    found = exporters.daemon_set(
        AGENT,
        args.node_namespace,
        object_labels(AGENT, args.namespace, args.image.version),
        selector(AGENT, args.namespace),
        agent_pod(args, rendered.revision),
        container=AGENT,
        max_unavailable=args.agent.max_unavailable,
    )
    found["spec"]["template"]["metadata"]["annotations"][REVISION_ANNOTATION] = rendered.revision
    return found
