"""The conflict doctor before a change: what already measures GPUs in this cluster, against what is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.dcgm_exporter.doctor import examine
from components.dcgm_exporter.findings import Existing, Wanted
from components.dcgm_exporter.seen import from_api
from components.errors import DeployError
from signals.catalogue.dcgm import COUNTERS
from stacks.cluster import ForbiddenError

if TYPE_CHECKING:
    from collections.abc import Callable

    from stacks.cluster import Reader
    from stacks.settings import Settings

_PATHS = ("/apis/apps/v1/daemonsets", "/api/v1/pods", "/api/v1/nodes", "/apis/node.k8s.io/v1/runtimeclasses")


def check_gpus(reader: Reader, settings: Settings, warn: Callable[[str], None]) -> None:
    """Raises DeployError with every conflict; what is only noteworthy goes to `warn`.

    An account that may not look around is warned that nobody looked: a deployer may well have no right to read nodes.
    """
    if settings.dcgm_exporter.mode == "off":
        return
    try:
        seen = from_api(*(reader.listing(path) for path in _PATHS))
    except ForbiddenError as error:
        warn(f"conflicts around GPUs were not looked for: {error}")
        return
    findings = examine(wanted(settings), seen)
    for finding in findings:
        if not finding.fatal:
            warn(str(finding))
    fatal = [str(finding) for finding in findings if finding.fatal]
    if fatal:
        raise DeployError("GPUs cannot be measured as the settings ask; nothing was changed:\n" + "\n".join(fatal))


def wanted(settings: Settings) -> Wanted:
    """What the settings ask for, as the doctor takes it."""
    section = settings.dcgm_exporter
    existing = None
    if section.existing is not None:
        source = section.existing
        existing = Existing(namespace=source.namespace, labels=dict(source.labels), port=source.port)
    return Wanted(
        mode=section.mode,
        instance=settings.namespace,
        node_selector=dict(section.node_selector) if section.mode == "managed" else {},
        hostengine=section.hostengine,
        runtime_class=section.runtime_class,
        virtual_gpus=section.virtual_gpus,
        dra=section.dra,
        fields=tuple(field for field, _, _ in COUNTERS),
        existing=existing,
        targets=tuple(target.node for target in section.targets),
    )
