"""`make up` sees that the file of debug windows is one that was written here, and that agents were started for it."""

from __future__ import annotations

import io
import time

from cli.debug_file import mend
from components.fixed_config import revision_of
from components.otel_collector.debug import Window, fragment
from components.otel_collector.names import DEBUG_FILE
from sandbox.progress import Progress
from tests.offline.cli.test_debug_logs import WHERE, Cluster, change


def mended(cluster: Cluster) -> bool:
    return mend(cluster, WHERE, Progress(stream=io.StringIO()))  # type: ignore[arg-type]  # stands for kubectl


def test_up_leaves_alone_what_the_word_wrote() -> None:
    cluster = Cluster()
    assert not mended(cluster)
    change(cluster)
    rolled = list(cluster.rolled)
    assert not mended(cluster)
    assert (cluster.rolled, [one.workload for one in cluster.windows]) == (rolled, ["trainer"])


def test_up_writes_anew_what_somebody_else_wrote_and_starts_agents_again_each_time() -> None:
    cluster = Cluster()
    for number in (1, 2):
        cluster.data = {DEBUG_FILE: "processors: {}\n"}
        assert mended(cluster)
        assert cluster.data == {DEBUG_FILE: fragment("INFO")}
        assert cluster.rolled == ["restart", "status"] * number
        assert cluster.started["plumbline/debug-revision"] == f"otel-debug-info-{revision_of(cluster.data)}"
        assert not mended(cluster)


def test_up_keeps_windows_that_somebody_opened_otherwise_and_starts_agents_for_them() -> None:
    cluster = Cluster(Window(namespace="c", workload="x", until=int(time.time()) + 60))
    assert mended(cluster)
    assert [one.workload for one in cluster.windows] == ["x"]
    assert cluster.rolled == ["restart", "status"]
    assert not mended(cluster)


def test_agents_that_were_started_for_a_config_map_before_this_one_start_again() -> None:
    cluster = Cluster()
    change(cluster)
    cluster.data, cluster.written = {DEBUG_FILE: fragment("INFO")}, {}
    assert mended(cluster)
    assert not mended(cluster)
