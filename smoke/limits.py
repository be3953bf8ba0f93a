"""Every deadline and threshold of the smoke suite. Seconds unless the name says otherwise."""

from __future__ import annotations

from typing import Final

# One request. Ten seconds is generous for a healthy server and short against every deadline below.
CONNECT: Final = 3.0
REQUEST: Final = 10.0
COMMAND: Final = 20.0
# `kubectl port-forward` needs one round trip to the API server and one to the kubelet.
FORWARD_READY: Final = 15.0
FORWARD_POLL: Final = 0.05
PROCESS_EXIT: Final = 3.0

POLL_EVERY: Final = 1.0
# Long enough for an API server that has just been started, short enough to say "wrong address" soon.
IDENTITY: Final = 20.0
# The stack was awaited by `pulumi up`: what is not settled after this is not going to be.
SETTLE: Final = 90.0
QUICK: Final = 20.0
# Deadlines count from the start of the run; a check whose share is used up still gets a few attempts.
LEAST_WAIT: Final = 15.0
# A ConfigMap reaches the volume after the kubelet's sync period (60 s) plus its cache's lifetime (60 s);
# then the reload and one evaluation.
CONFIG_PROPAGATION: Final = 150.0
# Discovery (60 s at most) and one scrape.
TARGETS: Final = 120.0
# Two rule intervals of one minute, the usual one.
RULES: Final = 150.0
POD_REPLACED: Final = 180.0

# A pod starts (image there), the exporter measures and is scraped: twice, once to gain the name, once to lose it.
HANDOVER: Final = 180.0
# A scrape, two evaluations, the wait of the group and the way to the receiver; and as much again until it resolves.
DELIVERY: Final = 240.0
# Removal of what a check has written, when the run ends early.
CLEAN_UP: Final = 15.0
# What a killed run has left ends by itself, so that it cannot hold a GPU for ever.
SENTINEL_LIFE: Final = 600
# A value is visible after the SDK's 1.5 s and the delivery buffer's 5 s, and later under load.
READ_BACK: Final = 60.0
# Two flushes of the buffer: by then, whatever would arrive twice has.
QUIET_AFTER: Final = 12.0
# The first run of a machine installs the pinned SDK, then thousands of values are logged.
SDK_RUN: Final = 300.0
# Every pod of SwanLab at once: stores recover their logs, servers wait for stores and apply migrations one by one.
SWANLAB_REPLACED: Final = 300.0
# What sentinels older than this have left was left by a run that was killed.
LEFT_BEHIND: Final = 3600.0
# Values per key, and keys, of the sentinel run: enough for several batches, and for a store to lose one of them. The
# SDK sends at most 10000 points in one request, each with the name of its key and about 100 bytes more: names of this
# length bring the request over 1 MiB, which is all that many proxies let through, from 4600 points on.
SENTINEL_STEPS: Final = 1000
SENTINEL_KEYS: Final = 12
SENTINEL_WIDTH: Final = 128
SENTINEL_LINES: Final = 20
STEPS_SHOWN: Final = 6
# The dead man's switch is told every two minutes at the latest; a sink that was restarted since has not seen it yet.
WATCHDOG: Final = 150.0
WATCHDOG_AGE: Final = 300.0

# Whatever a run of recovery does, it has ended by then; its Job is given as long.
LONGEST_RUN: Final = 86400.0
# A run begins when it is due, and takes a while: what it leaves behind is this much late at most.
RUN_SLACK: Final = 3600.0
# Clocks of a cluster are closer together than this; as the alert about it has it.
POINT_FUTURE: Final = 60.0

# From what a collector has taken to the store that can be asked: batches, queues, and rows that are not searchable yet.
PIPELINE_LAG: Final = 5.0
# One trace or record more or less, until all is found. A sender that was refused tries again after 30 s at most. What
# the contract says that gateways wait with a decision is on top.
TELEMETRY: Final = 90.0
# Gateways decide once a second: how much later than the contract says.
DECISION_TICK: Final = 2.0
# A scrape of what the gateway flushes once per scrape: twice, since the first flush of a series is 0.
SPAN_METRICS: Final = 240.0
# A gateway that starts again, and senders that have backed off: gRPC by up to two minutes, their queue by 30 s more.
GATEWAY_RETURNS: Final = 300.0
ROWS: Final = 1000
# Traces that fail or are slow, of each kind; and the most that are sent to count those that are neither.
TRACES_THAT_MATTER: Final = 20
TRACES_AT_MOST: Final = 20_000
TRACES_PER_REQUEST: Final = 500
TRACES_BEYOND: Final = 50
TRACES_STILL: Final = 3.0
# Records and traces whose way is counted, per kind.
COUNTED_ITEMS: Final = 100
# Pods whose own metrics are read one by one; those of more agents are taken from Prometheus.
PODS_READ: Final = 8
# Load while a gateway is killed: each batch has as many records and as many traces. Before the kill the gateway holds
# more traces than it would lose within its wait, so that the bound is tried.
KILL_BATCH: Final = 10
KILL_EVERY: Final = 0.25
KILL_AFTER: Final = 10.0
# What is on its way from an agent to the gateway, and from its receipt to its storage, when it is killed.
KILL_MARGIN: Final = 5.0

# A scrape and half of another: one late scrape is not yet a hole, two are. The minimum covers very short intervals.
FRESH_INTERVALS: Final = 2.0
FRESH_MINIMUM: Final = 5.0
# A sample from later than this was stamped by a clock that is wrong. Prometheus refuses those from beyond ten minutes.
FRESH_FUTURE: Final = 10.0
FUTURE_HORIZON: Final = 600.0
# The server's own five minutes, beyond which a series is gone.
LOOKBACK: Final = 300.0
# The sentinel rule alone writes every few seconds.
LOG_AGE: Final = 120.0
# The sentinel rule has an interval of its own, a few seconds; what is older was written by another process.
REVISION_LOOKBACK: Final = 30.0
RULE_FRESH_INTERVALS: Final = 2.5
LABELS_SINCE: Final = 300.0
# Values of a producer that measures change within four of its scrapes; exporters measure at half that rhythm.
MOVES_INTERVALS: Final = 4.0
MOVES_MINIMUM: Final = 60.0
# How alike two names must be for one to be taken for the other, renamed: difflib's ratio.
ALIKE: Final = 0.6
METRICS_SHOWN: Final = 3
# Alerts that fire are sent again every minute.
NOTIFIED_WINDOW: Final = "3m"
NOTIFICATION_ERRORS_WINDOW: Final = "1m"
# Window over which counters of failures must not have moved.
FLAT_WINDOW: Final = "2m"
# Window whose samples must be there again after the kill, and the fewest of them that make it a proof.
SURVIVAL_WINDOW: Final = "3m"
SURVIVAL_SAMPLES: Final = 2

# The kubelet renews its lease every 10 s and the controller gives up after 40 s.
LEASE_AGE: Final = 40.0
CLOCK_SKEW: Final = 5.0
DISK_FREE_RATIO: Final = 0.05
DISK_FREE_BYTES: Final = 2 * 1024**3
INODES_FREE_RATIO: Final = 0.05
# Prometheus compacts into a new block before it deletes the old ones, so it needs head room at the end.
VOLUME_FREE_BYTES: Final = 256 * 1024**2
KERNEL_MINIMUM: Final = (5, 10)

EVIDENCE_CHARS: Final = 4000
PROBLEMS_SHOWN: Final = 12
DIAGNOSTIC_CHARS: Final = 12000
PODS_SHOWN: Final = 8
LOG_LINES: Final = 40
EVENTS_SHOWN: Final = 30
# What a board is asked for: long enough for a rate to show, short enough for a stack that has just begun.
BOARD_SPAN: Final = 900.0
BOARD_STEP: Final = 15.0
BOARD_RATE: Final = 120.0
# Five minutes after the fifth wrong password, and a little.
GRAFANA_LOCK: Final = 310.0
