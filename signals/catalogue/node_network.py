"""What node-exporter exposes about a node's network: Ethernet, TCP, connection tracking, InfiniBand and RoCE."""

from __future__ import annotations

from signals.catalogue.model import Metric, MetricType

_MODULE = "github.com/prometheus/node_exporter v1.12.1 collector/"
_RDMA = "the node has an InfiniBand or RoCE adapter"
_CONNTRACK = "the kernel tracks connections (module nf_conntrack is loaded)"


def _counter(name: str, unit: str, meaning: str, file: str, labels: tuple[str, ...], event: str = "") -> Metric:
    return Metric(
        name=name,
        type=MetricType.COUNTER,
        unit=unit,
        meaning=meaning,
        labels=labels,
        event=event,
        source=f"{_MODULE}{file}",
    )


def _gauge(
    name: str, meaning: str, file: str, labels: tuple[str, ...] = (), event: str = "", low: float = 0.0
) -> Metric:
    unit = "bytes" if name.endswith("_bytes") else "1"
    return Metric(
        name=name,
        type=MetricType.GAUGE,
        unit=unit,
        meaning=meaning,
        labels=labels,
        event=event,
        low=low,
        source=f"{_MODULE}{file}",
    )


def _untyped(name: str, meaning: str) -> Metric:
    return Metric(name=name, type=MetricType.UNKNOWN, unit="1", meaning=meaning, source=f"{_MODULE}netstat_linux.go")


_DEVICES = tuple(
    _counter(f"node_network_{way}_{what}_total", unit, meaning, "netdev_common.go", ("device",))
    for way, does in (("receive", "received"), ("transmit", "sent"))
    for what, unit, meaning in (
        ("bytes", "bytes", f"Bytes {does} by a network device."),
        ("packets", "1", f"Packets {does} by a network device."),
        ("errs", "1", f"Packets that could not be {does}: cable, transceiver, duplex."),
        ("drop", "1", f"Packets thrown away although they could have been {does}: buffers were full."),
    )
)

_LINKS = (
    _gauge("node_network_up", "1 if the device's state is up.", "netclass_linux.go", ("device",)),
    _counter(
        "node_network_carrier_changes_total",
        "1",
        "Times the link of a device came or went.",
        "netclass_linux.go",
        ("device",),
    ),
    _gauge(
        "node_network_speed_bytes",
        "Speed of the link in bytes a second; -125000, which is -1 Mbit/s, where the driver does not know it.",
        "netclass_linux.go",
        ("device",),
        event="a device whose driver tells its speed",
        low=-125_000.0,
    ),
)

_STACK = (
    _untyped("node_netstat_Tcp_OutSegs", "TCP segments sent."),
    _untyped("node_netstat_Tcp_RetransSegs", "TCP segments sent again, for nobody had confirmed them."),
    _untyped("node_netstat_TcpExt_TCPTimeouts", "TCP segments that were not confirmed in time."),
    _untyped("node_netstat_TcpExt_ListenOverflows", "Connections refused because a program did not accept in time."),
    _untyped("node_netstat_TcpExt_ListenDrops", "Connections dropped before a program could accept them."),
    _gauge("node_sockstat_sockets_used", "Sockets of all kinds.", "sockstat_linux.go"),
    _gauge("node_sockstat_TCP_alloc", "TCP sockets.", "sockstat_linux.go"),
    _gauge("node_sockstat_TCP_tw", "TCP connections that wait for late packets.", "sockstat_linux.go"),
    _gauge("node_nf_conntrack_entries", "Connections that the kernel tracks.", "conntrack_linux.go", event=_CONNTRACK),
    _gauge(
        "node_nf_conntrack_entries_limit",
        "Connections that the kernel can track; beyond it new ones are dropped.",
        "conntrack_linux.go",
        event=_CONNTRACK,
    ),
    _gauge("node_nf_conntrack_stat_drop", "Packets dropped for lack of room.", "conntrack_linux.go", event=_CONNTRACK),
    _gauge(
        "node_nf_conntrack_stat_early_drop",
        "Connections forgotten to make room for new ones.",
        "conntrack_linux.go",
        event=_CONNTRACK,
    ),
    _gauge(
        "node_nf_conntrack_stat_insert_failed",
        "Connections that could not be tracked.",
        "conntrack_linux.go",
        event=_CONNTRACK,
    ),
)

_PORT = ("device", "port")
_RDMA_STATES = (
    ("state_id", "State of an RDMA port; 4 is active."),
    ("physical_state_id", "Physical state of an RDMA port; 5 is link up."),
)
_RDMA_COUNTERS = (
    ("port_data_received_bytes_total", "bytes", "Bytes received by an RDMA port."),
    ("port_data_transmitted_bytes_total", "bytes", "Bytes sent by an RDMA port."),
    ("port_packets_received_total", "1", "Packets received by an RDMA port."),
    ("port_packets_transmitted_total", "1", "Packets sent by an RDMA port."),
    ("port_transmit_wait_total", "1", "Ticks in which there was data to send and no credit: congestion."),
    ("port_discards_received_total", "1", "Received packets that the port threw away."),
    ("port_discards_transmitted_total", "1", "Packets not sent because the port was down or congested."),
    ("port_errors_received_total", "1", "Received packets with an error."),
    ("symbol_error_total", "1", "Minor errors on the lanes of the link; a rate says how good the cable is."),
    ("link_downed_total", "1", "Times the link could not recover and went down."),
    ("link_error_recovery_total", "1", "Times the link recovered from an error."),
    ("local_link_integrity_errors_total", "1", "Times that local errors passed their threshold."),
    ("excessive_buffer_overrun_errors_total", "1", "Times that buffers overran in a row."),
    ("out_of_buffer_drops_total", "1", "Drops because no receive request was posted."),
    ("out_of_sequence_packets_received_total", "1", "Packets out of order: something on the path lost one."),
    ("packet_sequence_errors_total", "1", "Requests to send again that were received."),
    ("local_ack_timeout_errors_total", "1", "Packets that nobody confirmed in time."),
    ("np_ecn_marked_roce_packets_received_total", "1", "Received RoCE packets marked for congestion (ECN)."),
    ("np_cnp_packets_sent_total", "1", "Congestion notifications sent."),
    ("rp_cnp_packets_handled_total", "1", "Congestion notifications that slowed this sender down."),
    ("rp_cnp_ignored_packets_received_total", "1", "Congestion notifications that were ignored: ECN is not set up."),
)

_INFINIBAND = (
    *(
        _gauge(f"node_infiniband_{name}", meaning, "infiniband_linux.go", _PORT, event=_RDMA)
        for name, meaning in _RDMA_STATES
    ),
    *(
        _counter(f"node_infiniband_{name}", unit, meaning, "infiniband_linux.go", _PORT, event=_RDMA)
        for name, unit, meaning in _RDMA_COUNTERS
    ),
)

NETWORK_METRICS: tuple[Metric, ...] = (*_DEVICES, *_LINKS, *_STACK, *_INFINIBAND)
