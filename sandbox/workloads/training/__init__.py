"""Stand-in for a training run: ranks that take steps, and say so to SwanLab, in traces and in log lines.

A process plays the ranks of one pod, one rank per GPU that the pod asks for. Rank 0 logs to SwanLab with the real SDK;
every rank writes a line per step to standard output, one JSON object, and sends a trace per step as OTLP/HTTP.

    step ── data, forward, backward, optimizer, sync        spans, each with run_id, rank and step

Line of a step: `message` "step done", `run_id`, `rank`, `step`, `step_time` and its parts in seconds (`PARTS`, with
`_time` behind), `loss`, `tokens_per_second`, `trace_id`, `span_id`. Keys of SwanLab: `train/loss`,
`train/step_time`, `train/<part>_time`, `train/tokens_per_second`, `rank/<n>/step_time`.

Exit code: 0 all steps are done, 1 SwanLab cannot be used, 2 a variable is wrong, 143 told to end before the last step;
the run in SwanLab is then ended as aborted.

What it does otherwise than a real run:

- No model. A step is slept; its parts are fixed shares with a little noise that the seed decides, and the loss falls
  as its formula has it.
- It does not feel its GPUs. That a step takes longer is told to it over its control interface, by whoever slows down
  the simulated GPU: `python3 -m sandbox.workloads.training.throttle`.
- Ranks of one pod share a process, so none of them can hang alone; ranks of several pods do not wait for each other.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = "1"
SCOPE: Final = "sandbox.workloads.training"
"""Name of the instrumentation scope of what it sends."""
IDENTITY: Final = ("team", "workload", "job_id", "run_id", "model_revision", "git_commit", "resource_flavor")
"""What says whose a run is: labels of its pod, keys of its lines, attributes of its spans."""
PARTS: Final[dict[str, float]] = {"data": 0.08, "forward": 0.3, "backward": 0.5, "optimizer": 0.06}
"""Part of a step → its share of the step's time. What is left is `SYNC`, and the wait for the slowest rank."""
SYNC: Final = "sync"
ON_GPU: Final = ("forward", "backward", "optimizer")
"""Parts that take longer where the GPU is slow."""
