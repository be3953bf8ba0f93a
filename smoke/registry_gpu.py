"""Checks of GPUs; a part of the page in registry.py."""

from __future__ import annotations

from smoke.conformance import ACCELERATORS
from smoke.model import Check, Impact

DCGM = "dcgm-exporter"


def gpus() -> tuple[Check, ...]:
    """How many there are, and whose."""
    gpu, named = ("metrics", "gpu"), "look whether the exporter reaches the kubelet's PodResources socket; honorLabels"
    return (
        Check(
            id="gpu.count",
            requirement="B3",
            claim="Every node exposes as many GPUs as it offers to pods",
            remedy="look at `nvidia-smi` on the node and at the logs of its exporter and its device plugin",
            needs=gpu,
            component=DCGM,
            conformance=(ACCELERATORS,),
        ),
        Check(
            id="gpu.attribution",
            requirement="C1",
            claim="Every pod with GPUs is named by the series of exactly as many, and nobody else is",
            remedy=f"{named} must be true in its scrape job",
            needs=gpu,
            component=DCGM,
            conformance=(ACCELERATORS,),
        ),
        Check(
            id="gpu.handover",
            requirement="C1",
            claim="A GPU is named after a new pod, and no longer once the pod is gone",
            remedy=f"{named} must be true; a pod that stays Pending says why in its events",
            impact=Impact.SENTINEL,
            needs=gpu,
            component=DCGM,
            may_skip="no GPU is free",
        ),
    )
