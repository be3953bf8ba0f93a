"""Alerts and records about the network of nodes: Ethernet, TCP, InfiniBand and RoCE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.rules.expressions import grew_since
from signals.rules.model import Alert, Record, Severity

if TYPE_CHECKING:
    from signals.thresholds import Thresholds

_SELF = '{job="node-exporter"}'
_BY = "cluster, environment, node"
_DEVICE = f"{_BY}, device"
_PORT = f"{_BY}, device, port"
_WHERE = "Node {{ $labels.node }} (cluster {{ $labels.cluster }})"
_RDMA_PORT = f"{_WHERE}, RDMA device {{{{ $labels.device }}}} port {{{{ $labels.port }}}}"
_SERIOUS = ("local_link_integrity_errors", "excessive_buffer_overrun_errors", "port_errors_received")
_FEWEST_PER_SECOND = 10
"""Below so few packets a second a share says nothing."""


def network_records() -> tuple[Record, ...]:
    """Throughput and trouble per node, for dashboards and for the network part of a run's evidence."""
    return (
        *(
            Record(
                record=f"node:network_{way}_bytes:rate5m",
                expr=f"sum by ({_BY}) (rate(node_network_{way}_bytes_total{_SELF}[5m]))",
            )
            for way in ("receive", "transmit")
        ),
        Record(
            record="node:tcp_retransmitted:ratio",
            expr=f"sum by ({_BY}) (rate(node_netstat_Tcp_RetransSegs{_SELF}[5m]))\n"
            f"/ (sum by ({_BY}) (rate(node_netstat_Tcp_OutSegs{_SELF}[5m])) > 0)",
        ),
        *(
            Record(
                record=f"node:rdma_{way}_bytes:rate5m",
                expr=f"sum by ({_BY}) (rate(node_infiniband_port_data_{way}_bytes_total{_SELF}[5m]))",
            )
            for way in ("received", "transmitted")
        ),
        Record(
            record="node:rdma_congestion_notifications:rate5m",
            expr=f"sum by ({_BY}) (rate(node_infiniband_rp_cnp_packets_handled_total{_SELF}[5m]))",
        ),
    )


def network_alerts(limits: Thresholds) -> tuple[Alert, ...]:
    """Packets lost or damaged, and ports that go down."""
    return (
        *(
            _lossy(what, way, severity, limits.network_errors_high)
            for what, severity in (("errs", Severity.P2), ("drop", Severity.P3))
            for way in ("receive", "transmit")
        ),
        _rdma_down(),
        *(_rdma_errors(name) for name in _SERIOUS),
        _rdma_timeouts(limits.rdma_timeouts_per_second),
    )


def _lossy(what: str, way: str, severity: Severity, high: float) -> Alert:
    packets = f"node_network_{way}_packets_total{_SELF}"
    lost = {"errs": "damaged", "drop": "dropped"}[what]
    return Alert(
        alert="NodeNetworkLossy",
        expr=f"sum by ({_DEVICE}) (rate(node_network_{way}_{what}_total{_SELF}[10m]))\n"
        f"/ (sum by ({_DEVICE}) (rate({packets}[10m])) > {_FEWEST_PER_SECOND})\n> {high}",
        wait="15m",
        severity=severity,
        labels={"direction": way, "loss": lost},
        summary=f"Device {{{{ $labels.device }}}} of node {{{{ $labels.node }}}} has {lost} packets",
        description=f"{_WHERE}, network device {{{{ $labels.device }}}}: {{{{ $value | humanizePercentage }}}} of the "
        f"packets ({way}) were {lost} in the last ten minutes. Likely causes: a cable or transceiver, buffers that are "
        "too small, a switch that is overloaded.",
        runbook="node-network",
    )


def _rdma_down() -> Alert:
    """A port that was active within the hour: ports that nobody has cabled are down for ever."""
    downed = f"node_infiniband_link_downed_total{_SELF}"
    state = f"node_infiniband_state_id{_SELF}"
    grown = grew_since(downed, "15m", f"node_boot_time_seconds{_SELF}", "cluster, instance")
    return Alert(
        alert="NodeRdmaLinkDown",
        expr=f"max by ({_PORT}) (\n{grown}\n)\nor\nmax by ({_PORT}) ({state} != 4 and max_over_time({state}[1h]) == 4)",
        wait="1m",
        severity=Severity.P1,
        summary="An RDMA port of node {{ $labels.node }} went down",
        description=f"{_RDMA_PORT} went down, or still is. Collective operations that cross it hang or fail. Likely "
        "causes: a cable or transceiver, a switch port, the subnet manager, firmware.",
        runbook="node-rdma",
    )


def _rdma_errors(counter: str) -> Alert:
    metric = f"node_infiniband_{counter}_total{_SELF}"
    return Alert(
        alert="NodeRdmaErrors",
        expr=f"max by ({_PORT}) (rate({metric}[15m])) * 3600 > 10",
        wait="15m",
        severity=Severity.P2,
        labels={"counter": counter},
        summary="An RDMA port of node {{ $labels.node }} has errors",
        description=f"{_RDMA_PORT}: {counter} grows by {{{{ $value | humanize }}}} an hour. Transfers are sent again "
        "and slow down every rank. Likely causes: a cable or transceiver, a dirty connector, a failing adapter.",
        runbook="node-rdma",
    )


def _rdma_timeouts(high: float) -> Alert:
    return Alert(
        alert="NodeRdmaTimeouts",
        expr=f"max by ({_PORT}) (rate(node_infiniband_local_ack_timeout_errors_total{_SELF}[10m])) > {high}",
        wait="10m",
        severity=Severity.P2,
        summary="RDMA packets of node {{ $labels.node }} are not confirmed",
        description=f"{_RDMA_PORT}: {{{{ $value | humanize }}}} packets a second were not confirmed in time. Likely "
        "causes: a peer or switch is gone, congestion without flow control (PFC, ECN) on RoCE, a wrong route.",
        runbook="node-rdma",
    )
