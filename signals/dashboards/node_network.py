"""Rows of the node board about its network, RDMA, clock and kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.dashboards.drawing import lines
from signals.dashboards.links import runbook
from signals.dashboards.model import Limits, Row, Unit
from signals.dashboards.node_series import BY, RDMA, every, of

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs

_DEVICE: Final = f"{BY}, device"
_PORT: Final = f"{BY}, device, port"
_AT_PORT: Final = "{{node}} {{device}}/{{port}}"
_FEWEST_PER_SECOND: Final = 10
"""Below so few packets a second a share says nothing; as the alert has it."""


def network(inputs: BoardInputs) -> Row:
    """Ethernet."""
    moved = tuple(
        (
            f"max by ({_DEVICE}) (rate({of(f'node_network_{way}_bytes_total')}[$__rate_interval]))",
            f"{{{{node}}}} {{{{device}}}} {does}",
        )
        for way, does in (("receive", "received"), ("transmit", "sent"))
    )
    lost = tuple(
        (_share_lost(what, way), f"{{{{node}}}} {{{{device}}}} {does}, {how}")
        for what, how in (("errs", "damaged"), ("drop", "dropped"))
        for way, does in (("receive", "received"), ("transmit", "sent"))
    )
    return Row(
        title="Network",
        panels=(
            lines(
                "Received and sent",
                Unit.BYTES_PER_SECOND,
                moved,
                "Bytes a second of each network device; those of pods are not among them.",
            ),
            lines(
                "Packets lost",
                Unit.RATIO,
                lost,
                "Share of packets that were damaged (cable, transceiver) or dropped (buffers, an overloaded switch), "
                "of devices with more than ten a second.",
                limits=Limits(warn=inputs.rules.thresholds.network_errors_high),
                links=runbook(inputs, "node-network"),
                empty="a device moves more than ten packets a second",
            ),
        ),
    )


def _share_lost(what: str, way: str) -> str:
    lost, packets = (of(f"node_network_{way}_{name}_total") for name in (what, "packets"))
    return (
        f"max by ({_DEVICE}) (rate({lost}[10m]))\n/ (max by ({_DEVICE}) (rate({packets}[10m])) > {_FEWEST_PER_SECOND})"
    )


def rdma(inputs: BoardInputs) -> Row:
    """InfiniBand and RoCE, by port."""
    moved = tuple(
        (f"max by ({_PORT}) (rate({of(f'node_infiniband_port_data_{way}_bytes_total')}[5m]))", f"{_AT_PORT} {way}")
        for way in ("received", "transmitted")
    )
    errors = tuple(
        (f"max by ({_PORT}) (increase({of(f'node_infiniband_{name}_total')}[1h]))", f"{_AT_PORT} {what}")
        for name, what in (
            ("link_downed", "went down"),
            ("local_link_integrity_errors", "local errors"),
            ("excessive_buffer_overrun_errors", "overruns"),
            ("port_errors_received", "received with errors"),
        )
    )
    timeouts = of("node_infiniband_local_ack_timeout_errors_total")
    found = runbook(inputs, "node-rdma")
    return Row(
        title="RDMA",
        panels=(
            lines(
                "Moved over RDMA",
                Unit.BYTES_PER_SECOND,
                moved,
                "All ranks move as much as the slowest port lets them: look for the one that is below its neighbours.",
                links=found,
                empty=RDMA,
                width=8,
            ),
            lines(
                "RDMA errors within an hour",
                Unit.COUNT,
                errors,
                "More than ten an hour slow every rank down; a port that went down hangs collectives. Look at cable, "
                "transceiver, switch port.",
                links=found,
                empty=RDMA,
                width=8,
            ),
            lines(
                "RDMA packets not confirmed",
                Unit.PER_SECOND,
                ((f"max by ({_PORT}) (rate({timeouts}[10m]))", _AT_PORT),),
                "A peer or switch is gone, or there is congestion without flow control (PFC, ECN) on RoCE.",
                limits=Limits(warn=inputs.rules.thresholds.rdma_timeouts_per_second),
                links=found,
                empty=RDMA,
                width=8,
            ),
        ),
    )


def clock_and_kernel(inputs: BoardInputs) -> Row:
    """What everything on the node shares."""
    limits = inputs.rules.thresholds
    clock = of("node_time_seconds")
    tables = (
        ("connections", "node_nf_conntrack_entries", "node_nf_conntrack_entries_limit"),
        ("files", "node_filefd_allocated", "node_filefd_maximum"),
    )
    return Row(
        title="Clock and kernel",
        panels=(
            lines(
                "Clock against Prometheus",
                Unit.SECONDS,
                ((f"max by ({BY}) (abs(timestamp({clock}) - {clock}))", "{{node}}"),),
                "Certificates, leases and the order of logs and traces depend on it. If all nodes differ, the clock "
                "of Prometheus' own node is the wrong one.",
                limits=Limits(warn=limits.clock_skew_seconds),
                links=runbook(inputs, "node-clock"),
            ),
            lines(
                "Kernel tables used",
                Unit.RATIO,
                tuple(
                    (f"{every(used, BY)} / min by ({BY}) ({of(most)} > 0)", f"{{{{node}}}} {what}")
                    for what, used, most in tables
                ),
                "Of the connections that the kernel tracks and of the files that it lets be open. Beyond them new "
                "ones fail: find what leaks, or raise the limit.",
                limits=Limits(warn=limits.kernel_table_high),
                links=runbook(inputs, "node-kernel-table"),
                high=1,
                rare={"{{node}} connections": "the kernel tracks connections"},
            ),
        ),
    )
