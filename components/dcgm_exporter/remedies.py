"""What to write into the settings instead: the very lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.dcgm_exporter.findings import SECTION
from signals.yamltext import dump

if TYPE_CHECKING:
    from collections.abc import Iterable

    from components.dcgm_exporter.seen import Agent, Node

LEAVE_FIELDS_OUT = "Nothing to do if that is known: panels and rules over these fields stay empty for these nodes."

AKS_PORT = 19400
"""Where the node service of AKS serves metrics. Source: AKS, managed GPU nodes."""

_SHOWN_LABELS = 5
_NOT_FOR_SELECTORS = ("kubernetes.io/", "beta.kubernetes.io/", "node.kubernetes.io/", "topology.kubernetes.io/")


def lines(**keys: object) -> str:
    """`Set:` and the section of the stack file that holds these keys."""
    return f"Set:\n{dump({SECTION: keys})}".rstrip()


def use_existing(agent: Agent, nodes: Iterable[Node]) -> str:
    """Settings that scrape this exporter instead of deploying another."""
    if not agent.labels:
        targets = [
            {"node": node.name, "address": f"{node.address}:{AKS_PORT}"} for node in nodes if node.name in agent.nodes
        ]
        return lines(mode="existing", targets=targets)
    found = lines(
        mode="existing",
        existing={"namespace": agent.namespace, "labels": agent.labels, "port": agent.port_name or "metrics"},
    )
    unnamed = "" if agent.port_name else "\nIts container port has no name yet; let its owner call it metrics."
    return found + unnamed


def attach(agent: Agent) -> str:
    """Settings that make our exporter a client of this hostengine."""
    if agent.address is not None:
        return lines(hostengine=agent.address)
    return (
        f"{lines(hostengine='<Service>.' + agent.namespace + '.svc:5555')}\n"
        f"The Service must select the pods of {agent.where} and have internalTrafficPolicy Local: each node is asked "
        "for its own GPUs."
    )


def common_labels(gpus: Iterable[Node], nodes: Iterable[Node]) -> str:
    """Labels, as `key=value`, that every node with GPUs has and no other node."""
    wanted = [set(node.labels.items()) for node in gpus]
    names = {node.name for node in gpus}
    others = {item for node in nodes if node.name not in names for item in node.labels.items()}
    found = sorted(set.intersection(*wanted) - others) if wanted else []
    usable = [f"{key}={value}" for key, value in found if not key.startswith(_NOT_FOR_SELECTORS)]
    return ", ".join(usable[:_SHOWN_LABELS]) or "none; label them first, as GPU Feature Discovery does"
