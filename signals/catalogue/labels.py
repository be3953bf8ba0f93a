"""Labels that mean the same on every metric: who a series is about, and what no series may carry."""

from __future__ import annotations

from signals.catalogue.model import LabelChange

WORKLOAD_IDENTITY: tuple[str, ...] = (
    "team",
    "workload",
    "job_id",
    "run_id",
    "model_revision",
    "git_commit",
    "resource_flavor",
)
"""Carried by one info series per pod alone, and joined from there in recording rules."""

TARGET_IDENTITY: tuple[str, ...] = ("cluster", "environment", "job", "instance", "node")
"""Given at scrape time."""

BANNED = (
    "request_id",
    "trace_id",
    "span_id",
    "session_id",
    "user_id",
    "user",
    "email",
    "prompt",
    "file_name",
    "filename",
)
"""Unbounded or personal. A label of this name is taken off at scrape time; its name then stands in DROPPED_LABEL."""

DROPPED_LABEL = "plumbline_dropped_label"
"""On a series from which a banned label was taken: the banned label's name, so that it can be counted and alerted."""

INFO_METRIC = "plumbline:pod_identity:info"
"""One series per pod with the workload identity; see signals/rules/identity.py."""

HOSTNAME_DRIFT = LabelChange(
    source="Hostname|hostname",
    target="",
    why="its spelling changed between versions of dcgm-exporter; the node is in `node` at every version.",
)
