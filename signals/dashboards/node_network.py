"""Rows of the node board about its network, RDMA, clock and kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.dashboards.links import runbook
from signals.dashboards.model import Limits, Row, Unit
from signals.dashboards.node_series import BY, RDMA, every, of
from signals.dashboards.panels import timeseries

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs

_DEVICE: Final = f"{BY}, device"
_PORT: Final = f"{BY}, device, port"
_AT_PORT: Final = "{{node}} {{device}}/{{port}}"
_FEWEST_PER_SECOND: Final = 10
"""Below so few packets a second a share says nothing; as the alert has it."""


def network(inputs: BoardInputs) -> Row:
    """Ethernet."""
    ways = (("receive", "received"), ("transmit", "sent"))
    moved = {
        f"{{{{node}}}} {{{{device}}}} {does}": (
            f"max by ({_DEVICE}) (rate({of(f'node_network_{way}_bytes_total')}[$__rate_interval]))"
        )
        for way, does in ways
    }
    lost = {
        f"{{{{node}}}} {{{{device}}}} {does}, {how}": _share_lost(what, way)
        for what, how in (("errs", "damaged"), ("drop", "dropped"))
        for way, does in ways
    }
    return Row(
        title="Network",
        panels=(
            timeseries(
                "Received and sent",
                moved,
                "Bytes a second of each network device; those of pods are not among them.",
                Unit.BYTES_PER_SECOND,
            ),
            timeseries(
                "Packets lost",
                lost,
                "Share of packets that were damaged (cable, transceiver) or dropped (buffers, an overloaded switch), "
                "of devices with more than ten a second.",
                Unit.RATIO,
                Limits(warn=inputs.rules.thresholds.network_errors_high),
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
    moved = {
        f"{_AT_PORT} {way}": f"max by ({_PORT}) (rate({of(f'node_infiniband_port_data_{way}_bytes_total')}[5m]))"
        for way in ("received", "transmitted")
    }
    errors = {
        f"{_AT_PORT} {what}": f"max by ({_PORT}) (increase({of(f'node_infiniband_{name}_total')}[1h]))"
        for name, what in (
            ("link_downed", "went down"),
            ("local_link_integrity_errors", "local errors"),
            ("excessive_buffer_overrun_errors", "overruns"),
            ("port_errors_received", "received with errors"),
        )
    }
    timeouts = of("node_infiniband_local_ack_timeout_errors_total")
    found = runbook(inputs, "node-rdma")
    return Row(
        title="RDMA",
        panels=(
            timeseries(
                "Moved over RDMA",
                moved,
                "All ranks move as much as the slowest port lets them: look for the one that is below its neighbours.",
                Unit.BYTES_PER_SECOND,
                links=found,
                empty=RDMA,
                width=8,
            ),
            timeseries(
                "RDMA errors within an hour",
                errors,
                "More than ten an hour slow every rank down; a port that went down hangs collectives. Look at cable, "
                "transceiver, switch port.",
                links=found,
                empty=RDMA,
                width=8,
            ),
            timeseries(
                "RDMA packets not confirmed",
                {_AT_PORT: f"max by ({_PORT}) (rate({timeouts}[10m]))"},
                "A peer or switch is gone, or there is congestion without flow control (PFC, ECN) on RoCE.",
                Unit.PER_SECOND,
                Limits(warn=inputs.rules.thresholds.rdma_timeouts_per_second),
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
            timeseries(
                "Clock against Prometheus",
                {"{{node}}": f"max by ({BY}) (abs(timestamp({clock}) - {clock}))"},
                "Certificates, leases and the order of logs and traces depend on it. If all nodes differ, the clock "
                "of Prometheus' own node is the wrong one.",
                Unit.SECONDS,
                Limits(warn=limits.clock_skew_seconds),
                links=runbook(inputs, "node-clock"),
            ),
            timeseries(
                "Kernel tables used",
                {
                    f"{{{{node}}}} {what}": f"{every(used, BY)} / min by ({BY}) ({of(most)} > 0)"
                    for what, used, most in tables
                },
                "Of the connections that the kernel tracks and of the files that it lets be open. Beyond them new "
                "ones fail: find what leaks, or raise the limit.",
                Unit.RATIO,
                Limits(warn=limits.kernel_table_high),
                links=runbook(inputs, "node-kernel-table"),
                high=1,
                rare={"{{node}} connections": "the kernel tracks connections"},
            ),
        ),
    )
