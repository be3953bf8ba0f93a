"""The reference pages of policy and of XIDs."""

from __future__ import annotations

import inspect

from components.policy import RULES
from components.policy_exceptions import EXCEPTIONS
from signals.xid import XIDS, Xid, XidAction, XidClass
from tests.offline.docs.table import code, table

POLICY = """# Policy

Rules that every manifest must keep before anything is registered, and the complaints that are let pass all the same.
`components/policy.py` holds the rules, `components/policy_exceptions.py` the exceptions; a door that nothing goes
through fails a test.

## Rules

"""
XID = """# XIDs

Codes with which NVIDIA's driver reports an error, as the rules classify them. Source: NVIDIA's catalogue of XIDs for
Ampere and newer GPUs, the edition with codes up to 172; class and severity are ours. A code that is not here fires
`GpuXidUnknown`. What to do: [runbook](../runbooks/gpu-xid.md).

"""
CLASSES = {
    XidClass.NODE: "everything on the node; alert `GpuXidNode`",
    XidClass.GPU: "every process on the GPU; alert `GpuXidGpu`",
    XidClass.LINK: "every job that spans the links of the GPU; alert `GpuXidLink`",
    XidClass.APP: "the process alone; alert `GpuXidApp`",
    XidClass.INFO: "nobody now, or another XID tells; no alert",
}
ACTIONS = {
    XidAction.IGNORE: "nothing",
    XidAction.RESTART_APP: "start the program again",
    XidAction.RESET_GPU: "stop what uses the GPU, then reset it",
    XidAction.RESTART_VM: "restart the virtual machine",
    XidAction.RESTART_BM: "restart the node",
    XidAction.CHECK_MECHANICALS: "look at power, seat and cables of the GPU",
    XidAction.CHECK_UVM: "look at the driver's unified memory messages",
    XidAction.UPDATE_SWFW: "bring driver and firmware to versions that fit together",
    XidAction.CONTACT_SUPPORT: "call the vendor",
    XidAction.FOLLOW_OTHER_XID: "read the other XID of the same time",
}


def policy() -> str:
    """The page of policy."""
    rules = [(code(rule.__name__), inspect.getdoc(rule) or "") for rule in RULES]
    exceptions = [(f"{e.kind} {code(e.name)}", code(e.rule), code(e.complaint), e.reason) for e in EXCEPTIONS]
    return (
        POLICY
        + table(("Rule", "Why"), rules)
        + "## Exceptions\n\n`*` stands for any text.\n\n"
        + table(("Object", "Rule", "Complaint that is let pass", "Reason"), exceptions)
    )


def xid() -> str:
    """The page of XIDs."""
    classes = [(code(kind.value), hit, str(len(_of(kind)))) for kind, hit in CLASSES.items()]
    actions = [(code(action.value), meaning) for action, meaning in ACTIONS.items()]
    codes = [
        (str(number), found.name, code(found.kind), code(found.action), _severity(found))
        for number, found in XIDS.items()
    ]
    return (
        XID
        + "## Classes\n\n"
        + table(("Class", "Hits", "Codes"), classes)
        + "## Actions\n\n"
        + table(("Action", "Means"), actions)
        + "## Codes\n\n"
        + table(("XID", "Name", "Class", "Action", "Severity"), codes)
    )


def _of(kind: XidClass) -> list[int]:
    return [number for number, found in XIDS.items() if found.kind is kind]


def _severity(found: Xid) -> str:
    """A code of class `info` has one in the table and fires nothing."""
    return "-" if found.kind is XidClass.INFO else found.severity
