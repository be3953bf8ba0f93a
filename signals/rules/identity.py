"""Who a pod belongs to: one info series per pod, made from the labels that kube-state-metrics exposes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from signals.catalogue.labels import INFO_METRIC
from signals.rules.gpu_labels import POD
from signals.rules.model import Group, Record

if TYPE_CHECKING:
    from signals.rules.inputs import RuleInputs


def exposed_label(pod_label: str) -> str:
    """Name under which kube-state-metrics exposes a pod's label: `plumbline.dev/job-id` → `label_plumbline_dev_job_id`.

    Source: kubernetes/kube-state-metrics internal/store/utils.go, labelName.
    """
    plain = re.sub(r"[^a-zA-Z0-9_]", "_", pod_label)
    return "label_" + re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", plain).lower()


def identity_records(inputs: RuleInputs) -> Group:
    """The info series: joined on `cluster, environment, namespace, pod`, it adds the identity to any record of pods."""
    return Group(name="plumbline-identity", rules=(Record(record=INFO_METRIC, expr=_identity(inputs.pod_labels)),))


def _identity(pod_labels: dict[str, str]) -> str:
    """Two kube-state-metrics, or one that was restarted, may tell different labels of a pod for a while: one is kept.

    A pod without a label gets none: an empty value is no label.
    """
    found = "kube_pod_labels"
    for key, pod_label in pod_labels.items():
        found = f'label_replace({found}, "{key}", "$1", "{exposed_label(pod_label)}", "(.*)")'
    wanted = ", ".join((POD, *pod_labels))
    return f"topk by ({POD}) (1,\n  max by ({wanted}) (\n    {found}\n  )\n)"
