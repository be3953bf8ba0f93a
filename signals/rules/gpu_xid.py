"""XIDs that do not latch: which happened lately, by class and action of NVIDIA's catalogue.

The gauge holds the last code until the driver is loaded anew, so its value never tells when; a code counts as new
only for ten minutes after it appeared on a GPU whose node was watched before. The windowed count of the exporter sees
repeats of the same code as well, and ends by itself. Where an exporter lacks it, first appearances are still seen.
"""

from __future__ import annotations

from signals.rules.gpu_labels import GPU, NODE
from signals.rules.model import Alert, Group, Record, Severity
from signals.xid import XIDS, XidGroup, xid_groups

EVENTS = "gpu:xid_events:max"
CLASSIFIED = "gpu:xid_classified:max"
_LATCHED = "gpu:xid_latched:max"
_EXACT = f"{NODE}, UUID, xid"
_WHERE = "GPU {{ $labels.gpu }} of {{ $labels.node }} (cluster {{ $labels.cluster }}, {{ $labels.UUID }})"


def xid_records() -> Group:
    """From both metrics to one record, then split by what is to be done."""
    return Group(
        name="plumbline-gpu-xid-records",
        rules=(_latched(), _events(), *(_classified(group) for group in xid_groups()), _unknown()),
    )


def xid_alerts() -> Group:
    """One alert per class; codes that need nothing are recorded only."""
    return Group(name="plumbline-gpu-xid", rules=(*_node_and_gpu(), *_others()))


def _latched() -> Record:
    """Few series: GPUs that had any XID since their driver was loaded."""
    named = 'label_replace(DCGM_FI_DEV_XID_ERRORS{err_code!~"|0"}, "xid", "$1", "err_code", "(.+)")'
    return Record(record=_LATCHED, expr=f"max by ({GPU}, xid) ({named})")


def _events() -> Record:
    counted = f'max by ({GPU}, xid) (DCGM_EXP_XID_ERRORS_COUNT{{xid!=""}}) > 0'
    seen = f"present_over_time({_LATCHED}[6h] offset 10m)"
    watched = "present_over_time(node:gpus:count[6h] offset 10m)"
    return Record(
        record=EVENTS,
        expr=f"{counted}\nor\n(\n  {_LATCHED}\n  unless on ({_EXACT}) {seen}\n  and on ({NODE}) {watched}\n)",
    )


def _classified(group: XidGroup) -> Record:
    codes = "|".join(str(code) for code in group.codes)
    return Record(
        record=CLASSIFIED,
        expr=f'{EVENTS}{{xid=~"{codes}"}}',
        labels={"class": group.kind.value, "action": group.action.value, "severity": group.severity},
    )


def _unknown() -> Record:
    codes = "|".join(str(code) for code in sorted(XIDS))
    return Record(
        record=CLASSIFIED,
        expr=f'{EVENTS}{{xid!~"{codes}"}}',
        labels={"class": "unknown", "action": "CONTACT_SUPPORT", "severity": "P2"},
    )


def _alert(name: str, kind: str, severity: Severity, effect: str, causes: str) -> Alert:
    """Fifteen minutes longer than the event itself, so that it can be read, and over by itself."""
    return Alert(
        alert=name,
        expr=f'max_over_time({CLASSIFIED}{{class="{kind}", severity="{severity.value}"}}[15m]) > 0',
        wait="0s",
        severity=severity,
        summary="XID {{ $labels.xid }} on GPU {{ $labels.gpu }} of {{ $labels.node }}: {{ $labels.action }}",
        description=f"{_WHERE} reported XID {{{{ $labels.xid }}}}. {effect} Likely causes: {causes}.",
        runbook="gpu-xid",
    )


def _node_and_gpu() -> tuple[Alert, ...]:
    hardware = "failing memory, firmware or board; a driver bug"
    return (
        _alert(
            "GpuXidNode",
            "node",
            Severity.P1,
            "The node is not to be used before it was restarted or repaired.",
            "a PCIe link that went down, a power cable, a failing board",
        ),
        _alert(
            "GpuXidGpu",
            "gpu",
            Severity.P1,
            "Data on the GPU may be damaged, every process on it is affected, and it must be reset.",
            hardware,
        ),
        _alert(
            "GpuXidGpu",
            "gpu",
            Severity.P2,
            "The GPU must be reset before it is used again.",
            hardware,
        ),
    )


def _others() -> tuple[Alert, ...]:
    return (
        _alert(
            "GpuXidLink",
            "link",
            Severity.P2,
            "Traffic between GPUs is lost or slow; collectives hang.",
            "a damaged link or switch, a GPU at the other end that failed, software that took the link down",
        ),
        _alert(
            "GpuXidApp",
            "app",
            Severity.P3,
            "The process on it was ended; the GPU stays usable.",
            "a fault in the program, such as an access out of bounds; contained memory errors",
        ),
        _alert(
            "GpuXidUnknown",
            "unknown",
            Severity.P2,
            "The code is not in the table of this version.",
            "a driver that is newer than the table",
        ),
    )
