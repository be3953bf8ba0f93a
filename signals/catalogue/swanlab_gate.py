"""What gate/ tells of SwanLab: which of its parts answer, and how its licence is. The gate is a program of our own."""

from __future__ import annotations

from signals.catalogue.model import Budget, Described, Producer

_SOURCE = "plumbline 0.1.0 gate/metrics.py"
_DESCRIBED = Described("plumbline_swanlab_", _SOURCE)
_gauge = _DESCRIBED.gauge

PRODUCER = Producer(
    job="swanlab-gate",
    title="SwanLab, as its gate sees it",
    versions="plumbline 0.1",
    target_labels=("cluster", "environment"),
    per_node=False,
    complete=True,
    metrics=(
        _gauge("up", "1 if this part of SwanLab answers as it should, asked by the gate.", ("part",), high=1.0),
        _gauge(
            "probe_duration_seconds",
            "How long the last answer of this part took.",
            ("part",),
            unit="seconds",
            event="the gate has asked a part",
        ),
        _gauge("licence_state", "1 for the state that the licence is in, 0 for the others.", ("state",), high=1.0),
        _gauge(
            "licence_days_left",
            "Days until the licence ends.",
            unit="days",
            event="the server tells when its licence ends",
            low=None,
        ),
        _gauge("seats", "Seats of the licence, as the server counts them.", event="the server tells its seats"),
    ),
    # By structure: 14 parts of two series, four states, and two numbers of the licence.
    budget=Budget(per_target=50),
)
