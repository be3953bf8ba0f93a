"""The roles behind the gateway: router, prefill, decode, retrieval."""

from __future__ import annotations

import threading
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import trace
from opentelemetry.trace import Link, SpanContext

from sandbox.workloads.inference import asking, read
from sandbox.workloads.inference.boundary import Failure, known
from sandbox.workloads.inference.web import CANCELLED, Answer, Asked, Route, as_json, call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.workloads.inference.asking import Job
    from sandbox.workloads.inference.boundary import Boundaries
    from sandbox.workloads.inference.engine import Engine, Run

PREFILL_SECONDS: Final = 20e-6
"""Per token that is computed."""
DECODE_SECONDS: Final = 1e-3
"""Per token that is generated."""
KV_BYTES: Final = 131_072
"""Per token: of a model with 32 layers, 8 heads of 128 for keys and values, in 16 bits."""
MOST_WAITING: Final = 1000
LONGEST_WAIT: Final = 120.0
"""Seconds that a request may stand in the router's queue."""
_FLUSH_EVERY: Final = 5_000


def received(asked: Asked) -> tuple[Job, dict[str, Any]]:
    """The job that came, told to the span of the server, and what came with it. Raises AskError."""
    job, more = asking.handed_on(asked.body)
    trace.get_current_span().set_attributes(known(job))
    return job, more


class Router:
    """Chooses the model servers of a request, and lets it wait for its turn."""

    def __init__(self, boundaries: Boundaries, prefill: Sequence[str], decode: Sequence[str], turns: int) -> None:
        """prefill, decode: base addresses. turns: requests that the model servers get at once."""
        self._at, self._prefill, self._decode = boundaries, prefill, decode
        self._turns, self._lock, self._waiting = threading.Semaphore(turns), threading.Lock(), 0

    def routes(self) -> tuple[Route, ...]:
        """What it answers."""
        return (Route("POST", "/v1/route", self.route),)

    def route(self, asked: Asked) -> Answer:
        """Raises AskError, Failure."""
        job, _ = received(asked)
        with self._at.cross("routing", job) as span:
            # Prompts that begin alike go to the same prefill server, which has their beginning in its cache.
            first = int(job.blocks[0], 16) if job.blocks else 0
            prefill = self._prefill[first % len(self._prefill)]
            decode = self._decode[int(job.request_id[-8:], 16) % len(self._decode)]
            span.add_event("endpoints_chosen", {"prefill": prefill, "decode": decode})
        self._turn(job)
        try:
            filled = call(self._at, "", job, "POST", f"{prefill}/v1/prefill", body=job.text())
            said = call(self._at, "", job, "POST", f"{decode}/v1/decode", body=job.text(prefill=filled))
        finally:
            self._turns.release()
        return as_json({**said, "cached_tokens": filled["cached_tokens"]})

    def _turn(self, job: Job) -> None:
        with self._lock:
            self._waiting += 1
            depth = self._waiting
        try:
            with self._at.cross("queue", job, attributes={"queue.depth": depth}):
                if depth > MOST_WAITING:
                    raise Failure(
                        HTTPStatus.SERVICE_UNAVAILABLE, "QueueFull", f"more than {MOST_WAITING} requests wait"
                    )
                if not self._turns.acquire(timeout=LONGEST_WAIT):
                    raise Failure(HTTPStatus.SERVICE_UNAVAILABLE, "QueueTimeout", f"no turn in {LONGEST_WAIT:g} s")
        finally:
            with self._lock:
                self._waiting -= 1
        self._at.journal.write("DEBUG", "request scheduled", job, queue_depth=depth)


class Prefill:
    """Computes the KV cache of a prompt, and keeps it until it is fetched. address: where this pod is reached."""

    def __init__(self, boundaries: Boundaries, engine: Engine, address: str) -> None:
        self._at, self._engine, self._address = boundaries, engine, address

    def routes(self) -> tuple[Route, ...]:
        """What it answers."""
        return (Route("POST", "/v1/prefill", self.prefill), Route("POST", "/v1/kv", self.fetched))

    def prefill(self, asked: Asked) -> Answer:
        """Raises AskError, Failure."""
        job, _ = received(asked)
        here = trace.get_current_span().get_span_context()
        with self._engine.admit(job, here, 1) as run:
            try:
                self._compute(job, run)
            except Failure:
                run.done("error")
                raise
            run.done("length")  # it was asked for one token
        self._engine.hold(job.request_id, job.input_tokens)
        self._at.journal.write("DEBUG", "prompt processed", job, cached_tokens=run.cached)
        span = {"trace_id": f"{here.trace_id:032x}", "span_id": f"{here.span_id:016x}"}
        return as_json({"cached_tokens": run.cached, "kv": self._address, "span": span})

    def _compute(self, job: Job, run: Run) -> None:
        with self._at.cross("prefill", job, attributes={"gen_ai.request.model": job.model}) as span:
            hits = self._engine.known_prefix(job.blocks, job.input_tokens)
            time.sleep((job.input_tokens - hits) * PREFILL_SECONDS)
            run.prompt(local=hits, external=0)
            run.token()
            span.set_attribute("gen_ai.usage.input_tokens", job.input_tokens)
            span.set_attribute("gen_ai.usage.cache_read.input_tokens", hits)

    def fetched(self, asked: Asked) -> Answer:
        """The KV cache of a request goes to decode. Raises AskError, Failure."""
        job, _ = received(asked)
        blocks = self._engine.release(job.request_id)
        if blocks is None:
            raise Failure(HTTPStatus.NOT_FOUND, "KVCacheGone", "nothing is held for this request")
        return as_json({"blocks": blocks, "bytes": job.input_tokens * KV_BYTES})


class Decode:
    """Loads the KV cache of a prompt, and generates."""

    def __init__(self, boundaries: Boundaries, engine: Engine) -> None:
        self._at, self._engine = boundaries, engine

    def routes(self) -> tuple[Route, ...]:
        """What it answers."""
        return (Route("POST", "/v1/decode", self.decode),)

    def decode(self, asked: Asked) -> Answer:
        """Raises AskError, Failure."""
        job, more = received(asked)
        filled = read.mapping(more, "prefill")
        with self._engine.admit(job, trace.get_current_span().get_span_context(), job.output_tokens) as run:
            try:
                self._load(job, run, filled)
                self._generate(job, run, filled)
            except Failure as failure:
                self._done(job, run, "error" if failure.is_error else "abort", failure.kind)
                raise
            self._done(job, run, job.finish_reason)
        self._at.journal.write("DEBUG", "tokens generated", job, generated_tokens=run.generated)
        found = {"generated_tokens": run.generated, "finish_reason": job.finish_reason}
        return as_json({**found, "first_token_seconds": round(run.first_token_seconds, 6)})

    def _load(self, job: Job, run: Run, filled: dict[str, Any]) -> None:
        url = f"{filled['kv']}/v1/kv"
        call(self._at, "kv_transfer", job, "POST", url, name="kv_transfer", body=job.text(), outcome=_transferred)
        # The last token of the prompt is computed once more: its output is the first token.
        run.prompt(local=0, external=max(0, job.input_tokens - 1), asked_external=True)

    def _generate(self, job: Job, run: Run, filled: dict[str, Any]) -> None:
        attributes = {"gen_ai.request.model": job.model, "batch.size": len(run.companions) + 1}
        links = [_link(filled["span"]), *(Link(there, {"link.kind": "batch"}) for there in run.companions)]
        with self._at.cross("decode", job, attributes=attributes, links=links, fails=False) as span:
            self._steps(job)
            for number in range(1, job.output_tokens + 1):
                time.sleep(DECODE_SECONDS)
                run.token()
                if number == 1:
                    span.add_event("first_token")
                if number == max(1, job.output_tokens // 2):
                    self._end_early(job)
            span.set_attribute("gen_ai.usage.output_tokens", run.generated)
            span.set_attribute("gen_ai.response.finish_reasons", [job.finish_reason])

    def _end_early(self, job: Job) -> None:
        self._at.fail("decode", job)
        if job.cancel:
            raise Failure(CANCELLED, "cancelled", "the caller went away")

    def _steps(self, job: Job) -> None:
        """Spans of steps that were asked for; sent as they are made, so that none is dropped for want of room."""
        tracer = self._at.telemetry.tracer()
        for number in range(job.extra_spans):
            tracer.start_span("decode_step", attributes={**known(job), "step": number}).end()
            if number % _FLUSH_EVERY == _FLUSH_EVERY - 1:
                self._at.telemetry.tracers.force_flush()

    def _done(self, job: Job, run: Run, reason: str, error: str = "") -> None:
        run.done(reason)
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "vllm",
            "gen_ai.request.model": job.model,
            "gen_ai.response.model": job.model,
            **({"error.type": error} if error else {}),
        }
        tag = {"tag": job.secrets["metric_attribute"]} if "metric_attribute" in job.secrets else {}
        note = {"note": job.secrets["exemplar_attribute"]} if "exemplar_attribute" in job.secrets else {}
        self._at.telemetry.duration.record(time.monotonic() - run.arrived, {**attributes, **tag})
        if run.first:
            self._at.telemetry.first_token.record(run.first_token_seconds, {**attributes, **note})


class Retrieval:
    """The tool: it finds the same three documents, whatever is asked."""

    def __init__(self, boundaries: Boundaries) -> None:
        self._at = boundaries

    def routes(self) -> tuple[Route, ...]:
        """What it answers."""
        return (Route("POST", "/v1/retrieve", self.retrieve),)

    def retrieve(self, asked: Asked) -> Answer:
        """Raises AskError, Failure."""
        job, _ = received(asked)
        with self._at.cross("retrieval", job, name="search", attributes={"gen_ai.data_source.id": "documents"}):
            found = [{"id": f"doc_{number}", "score": 1 - number / 10} for number in (1, 2, 3)]
        self._at.journal.write("INFO", "documents found", job, documents=len(found))
        return as_json({"documents": found})


def _transferred(_: Job, found: dict[str, Any]) -> dict[str, Any]:
    return {"kv_transfer.blocks": found["blocks"], "kv_transfer.bytes": found["bytes"]}


def _link(span: dict[str, str]) -> Link:
    """To the span that made the KV cache."""
    context = SpanContext(int(span["trace_id"], 16), int(span["span_id"], 16), is_remote=True)
    return Link(context, {"link.kind": "kv_cache"})
