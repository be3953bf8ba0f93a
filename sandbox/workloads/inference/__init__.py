"""Stand-in for an LLM inference service whose requests go across several pods.

    caller → gateway: auth, rate_limit
               → router: routing, queue
                   → prefill
                   → decode (kv_transfer: fetches what prefill left, from the pod that has it)
               → retrieval, where the model asks for the tool
             stream → caller

Roles are processes, each in a pod of its own; between them goes HTTP with W3C trace context. Each sends its spans, its
metrics of requests and, if told so, its logs as OTLP/HTTP in protobuf to OTEL_EXPORTER_OTLP_ENDPOINT, and writes its
logs to standard output, one JSON object a line, DEBUG and all: what is kept is the collector's decision. How a request
is asked for, and what may be played with it (latency, errors, secrets in awkward places):
`sandbox/workloads/inference/asking.py`.

Roles prefill and decode expose metrics as vLLM does. Names, types, labels and buckets: vLLM 0.33.0,
`vllm/v1/metrics/loggers.py` and `vllm/v1/metrics/buckets.py`; meaning: `vllm/v1/metrics/stats.py`. Attributes of spans:
OpenTelemetry semantic conventions 1.44.0 for HTTP, and those for GenAI as of
open-telemetry/semantic-conventions-genai@024a4f9 (`docs/gen-ai/client-inference.md`, `docs/gen-ai/gen-ai-spans.md`).

What it does otherwise than a real service:

- No model. A token is a word of the messages; times are slept, per token; what is generated are placeholders.
- vLLM has one process for prefill and decode unless told otherwise; here they are always two, as with its KV
  connectors: prefill generates one token that nobody reads, decode loads the KV cache and generates what is sent.
- vLLM makes no span for a request that failed. This does: what a collector keeps must be tried with errors.
- The router holds a request in its queue until the model servers have a place, and hands out what decode made as a
  whole: the gateway's stream begins when decode is done.
- Families of vLLM that it does not have: iteration_tokens, cache_config_info, engine_sleep_state, mm_cache, request
  parameters, LoRA, speculative decoding, admission_rejections, metrics of KV connectors.
- Nobody is asked who they are: it belongs into a sandbox.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = "0.33.0"
"""Of vLLM, whose metrics it plays."""
SCOPE: Final = "sandbox.workloads.inference"
"""Name of the instrumentation scope of what it sends."""
ROLES: Final = ("gateway", "router", "prefill", "decode", "retrieval")
COMPONENTS: Final = {
    "gateway": "gateway",
    "router": "scheduler",
    "prefill": "model-server",
    "decode": "model-server",
    "retrieval": "tool",
}
"""Role → what its log lines call it."""
IDENTITY: Final = ("team", "workload", "job_id", "run_id", "model_revision", "git_commit", "resource_flavor")
"""Resource attributes that say whose a workload is; spelled as on metrics."""
