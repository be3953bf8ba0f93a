"""NVIDIA's XID codes: what each means, whom it hits, and what to do.

Source: NVIDIA, "Analyzing Xid Errors with the Xid Catalog" for Ampere and newer GPUs,
docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html, the edition with codes up to 172, as of 2026-08: every
code that the catalogue does not call unused on all of A100, H100, B100 and GB200. The action is the catalogue's
immediate one; where it names a workflow, the reset or restart that the workflow ends in; where it is empty, what the
catalogue's text says. Class and severity are ours. A code that is not here is unknown, and an alert of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class XidClass(StrEnum):
    """Whom an XID hits: the process alone, the GPU, its links, the whole node, or nobody."""

    APP = "app"
    GPU = "gpu"
    LINK = "link"
    NODE = "node"
    INFO = "info"


class XidAction(StrEnum):
    """First thing to do, in the vendor's words where it has one."""

    IGNORE = "IGNORE"
    RESTART_APP = "RESTART_APP"
    RESET_GPU = "RESET_GPU"
    RESTART_VM = "RESTART_VM"
    RESTART_BM = "RESTART_BM"
    CHECK_MECHANICALS = "CHECK_MECHANICALS"
    CHECK_UVM = "CHECK_UVM"
    UPDATE_SWFW = "UPDATE_SWFW"
    CONTACT_SUPPORT = "CONTACT_SUPPORT"
    FOLLOW_OTHER_XID = "FOLLOW_OTHER_XID"


@dataclass(frozen=True)
class Xid:
    """One code. name: short description. severity: P1 to P3, as of an alert."""

    name: str
    kind: XidClass
    action: XidAction
    severity: str


def _app(name: str) -> Xid:
    """The process dies or must be started again; the GPU stays usable."""
    return Xid(name, XidClass.APP, XidAction.RESTART_APP, "P3")


def _gpu(name: str, severity: str = "P2") -> Xid:
    """The GPU must be reset, and whatever runs on it must stop before."""
    return Xid(name, XidClass.GPU, XidAction.RESET_GPU, severity)


def _link(name: str, action: XidAction = XidAction.RESET_GPU) -> Xid:
    return Xid(name, XidClass.LINK, action, "P2")


def _info(name: str, action: XidAction = XidAction.IGNORE) -> Xid:
    """Nothing to do now, or another XID says it."""
    return Xid(name, XidClass.INFO, action, "P3")


_BELOW_100: dict[int, Xid] = {
    8: _app("GPU stopped processing"),
    11: _app("invalid or corrupted push buffer stream"),
    13: _app("graphics engine exception"),
    14: _info("injected from user space"),
    25: _app("invalid or illegal push buffer stream"),
    31: _app("GPU memory page fault"),
    32: _app("invalid or corrupted push buffer stream (DMA)"),
    37: _info("driver firmware error: unknown method"),
    38: _info("driver firmware error: watchdog"),
    39: _app("copy engine 0 exception"),
    40: _app("copy engine 1 exception"),
    41: _app("copy engine 2 exception"),
    43: _info("process stopped after a fault of its own"),
    44: _info("graphics engine fault during context switch"),
    45: _info("preemptive cleanup after another error or a kill", XidAction.FOLLOW_OTHER_XID),
    46: _gpu("GPU stopped processing"),
    48: _gpu("double-bit ECC error", "P1"),
    54: Xid("auxiliary power not connected", XidClass.NODE, XidAction.CHECK_MECHANICALS, "P1"),
    60: _app("video processor exception"),
    62: _gpu("internal micro-controller halt"),
    63: _info("memory row remapped or page retired"),
    64: _gpu("memory row remapping failed"),
    66: _info("illegal access by the driver"),
    67: _info("illegal access by the driver (verification)"),
    68: _app("video decoder 0 exception"),
    69: _app("graphics engine class error"),
    70: _app("copy engine 3 error"),
    71: _app("copy engine 4 error"),
    72: _app("copy engine 5 error"),
    74: _link("NVLink error"),
    75: _app("copy engine 6 error"),
    76: _app("copy engine 7 error"),
    77: _app("copy engine 8 error"),
    78: Xid("vGPU start error", XidClass.APP, XidAction.UPDATE_SWFW, "P3"),
    79: Xid("GPU has fallen off the bus", XidClass.NODE, XidAction.RESTART_BM, "P1"),
    80: _app("corrupted data sent to GPU"),
    82: _app("JPEG engine 0 error"),
    83: _app("video decoder 1 error"),
    84: _app("video decoder 2 error"),
    85: _app("copy engine 9 error"),
    86: _app("optical flow engine exception"),
    88: _app("video decoder 3 error"),
    89: _app("video decoder 4 error"),
    92: _info("high rate of single-bit ECC errors"),
    93: _info("InfoROM wear limit reached"),
    94: _app("contained memory error"),
    95: _gpu("uncontained memory error", "P1"),
    96: _app("video decoder 5 error"),
    97: _app("video decoder 6 error"),
    98: _app("video decoder 7 error"),
    99: _app("JPEG engine 1 error"),
}

_FROM_100: dict[int, Xid] = {
    100: _app("JPEG engine 2 error"),
    101: _app("JPEG engine 3 error"),
    102: _app("JPEG engine 4 error"),
    103: _app("JPEG engine 5 error"),
    104: _app("JPEG engine 6 error"),
    105: _app("JPEG engine 7 error"),
    106: _info("SMBPBI test message"),
    107: _info("SMBPBI test message, silent"),
    108: _info("NVLink remote translation error"),
    109: _gpu("context switch timeout"),
    110: _gpu("security fault"),
    119: _gpu("GSP RPC timeout"),
    120: _gpu("GSP error"),
    121: _info("corrected C2C link error"),
    126: _app("copy engine 10 error"),
    127: _app("copy engine 11 error"),
    128: _app("copy engine 12 error"),
    129: _app("copy engine 13 error"),
    130: _app("copy engine 14 error"),
    131: _app("copy engine 15 error"),
    132: _app("copy engine 16 error"),
    133: _app("copy engine 17 error"),
    134: _app("copy engine 18 error"),
    135: _app("copy engine 19 error"),
    136: _link("link training failed"),
    137: _info("NVLink privilege error, mostly of the application"),
    139: _app("optical flow engine 1 error"),
    140: _gpu("unrecovered ECC error", "P1"),
    141: _info("CUDA fast path error"),
    142: Xid("video encoder 3 error", XidClass.APP, XidAction.CONTACT_SUPPORT, "P3"),
    143: _gpu("GPU initialization error"),
    144: _link("NVLink SAW error"),
    145: _link("NVLink RLW error"),
    146: _link("NVLink TLW error"),
    147: _link("NVLink TREX error"),
    148: _link("NVLink NVLPW_CTRL error"),
    149: _link("NVLink NETIR error"),
    150: _link("NVLink MSE error"),
    151: Xid("key rotation error", XidClass.NODE, XidAction.RESTART_VM, "P1"),
    152: _info("DLA SMMU error"),
    153: _info("DLA timeout"),
    154: _info("recovery action changed; names what another XID needs", XidAction.FOLLOW_OTHER_XID),
    155: _link("NVLink software-defined error"),
    156: _gpu("resource retired"),
    157: _info("resource retirement failed, no spare left", XidAction.CONTACT_SUPPORT),
    158: _gpu("GPU fatal timeout"),
    159: Xid("CHI non-data error on a C2C link", XidClass.LINK, XidAction.CHECK_UVM, "P2"),
    160: _info("channel retired"),
    161: _info("channel retirement failed"),
    162: _info("power smoothing engaged again"),
    163: _info("power smoothing disengaged"),
    164: _info("power smoothing near the end of its life"),
    165: _info("power smoothing at the end of its life", XidAction.CONTACT_SUPPORT),
    166: _link("traffic before link encryption was set up", XidAction.CONTACT_SUPPORT),
    167: Xid("PCIe fatal timeout", XidClass.NODE, XidAction.CONTACT_SUPPORT, "P1"),
    168: _info("reduced GPU memory capacity", XidAction.CONTACT_SUPPORT),
    169: Xid("security micro-controller halt", XidClass.GPU, XidAction.CONTACT_SUPPORT, "P2"),
    170: _link("interrupt in confidential computing mode", XidAction.CONTACT_SUPPORT),
    171: _info("details of an uncorrectable DRAM error", XidAction.FOLLOW_OTHER_XID),
    172: _info("details of an uncorrectable SRAM error", XidAction.FOLLOW_OTHER_XID),
}

XIDS: dict[int, Xid] = {**_BELOW_100, **_FROM_100}
"""Code → what it means. Codes that the catalogue calls unused are left out."""


@dataclass(frozen=True)
class XidGroup:
    """Codes that have class, action and severity in common, ascending."""

    kind: XidClass
    action: XidAction
    severity: str
    codes: tuple[int, ...]


def xid_groups() -> tuple[XidGroup, ...]:
    """Every code in exactly one group, in a fixed order."""
    found: dict[tuple[XidClass, XidAction, str], list[int]] = {}
    for code, xid in sorted(XIDS.items()):
        found.setdefault((xid.kind, xid.action, xid.severity), []).append(code)
    return tuple(XidGroup(*key, tuple(codes)) for key, codes in sorted(found.items()))
