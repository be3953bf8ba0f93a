"""The gateway: who asks, whether they may, what the model server said, the tool, and the stream back."""

from __future__ import annotations

import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import trace

from sandbox.workloads.inference import asking
from sandbox.workloads.inference.boundary import Failure, known
from sandbox.workloads.inference.read import AskError
from sandbox.workloads.inference.web import Answer, Asked, Route, answered, as_json, call, drained, server_span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.workloads.inference.asking import Job
    from sandbox.workloads.inference.boundary import Boundaries

MOST_AT_ONCE: Final = 256
"""Requests that the gateway takes at once; more are told to come later."""
TOOL: Final = "search_documents"
DATA_SOURCE: Final = "documents"
PATH: Final = "/v1/chat/completions"


class Gateway:
    """Role gateway. router, retrieval: base addresses."""

    def __init__(self, boundaries: Boundaries, router: str, retrieval: str) -> None:
        self._at, self._router, self._retrieval = boundaries, router, retrieval
        self._lock, self._running = threading.Lock(), 0

    def routes(self) -> tuple[Route, ...]:
        """What it answers."""
        return (Route("POST", PATH, self.complete), Route("POST", "/v1/batch", self.batch, traced=False))

    def complete(self, asked: Asked) -> Answer:
        """One request, within the span of the server. Raises AskError, Failure."""
        job = asking.asked(asked.body, asked.query, f"chatcmpl-{uuid.uuid4().hex}")
        trace.get_current_span().set_attributes(known(job))
        try:
            with self._counted():
                return self._complete(job)
        except Failure as failure:
            failure.request_id = job.request_id
            raise

    def _complete(self, job: Job) -> Answer:
        found = self._ask(job)
        if job.stream:
            return Answer(HTTPStatus.OK, b"", "text/event-stream", _ids(job), self._stream(job, found))
        with self._at.cross("stream", job, attributes={"stream.chunks": 1}):
            body = json.dumps(_said(job, found)).encode()
        self._at.journal.write("INFO", "request served", job, **_numbers(found))
        return Answer(HTTPStatus.OK, body, headers=_ids(job))

    def batch(self, asked: Asked) -> Answer:
        """Many requests, each the root of a trace of its own. Raises AskError."""
        if "traceparent" in asked.headers:
            raise AskError("a batch with a traceparent; its requests are traces of their own: send them one by one")
        count, parallel, body = asking.batch(asked.body)
        asking.asked(body, {}, "")
        with ThreadPoolExecutor(parallel) as pool:
            results = list(pool.map(lambda _: self._one(body), range(count)))
        return as_json({"requests": count, "results": results})

    def _one(self, body: bytes) -> dict[str, Any]:
        """As the server does it for a request that comes by HTTP."""
        route, asked = Route("POST", PATH, self.complete), Asked({}, {}, body)
        with server_span(self._at, route, asked, {}) as span:
            answer = answered(span, route, asked)
            drained(answer, span, lambda chunk: chunk)
            found = {"trace_id": f"{span.get_span_context().trace_id:032x}", "status": answer.status}
            return {**found, "request_id": answer.headers.get("x-request-id", "")}

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1

    def _ask(self, job: Job) -> dict[str, Any]:
        """Auth and limit, the model, the tool."""
        with self._at.cross("auth", job, attributes={"auth.scheme": "none"}):
            self._at.journal.write("DEBUG", "caller may ask", job)
        with self._at.cross("rate_limit", job, attributes={"rate_limit.limit": MOST_AT_ONCE}):
            if self._running > MOST_AT_ONCE:
                raise Failure(HTTPStatus.TOO_MANY_REQUESTS, "RateLimited", f"more than {MOST_AT_ONCE} requests at once")
        found = self._chat(job)
        if job.retrieval:
            self._tool(job)
        return found

    def _chat(self, job: Job) -> dict[str, Any]:
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "vllm",
            "gen_ai.request.model": job.model,
            "gen_ai.request.max_tokens": job.max_tokens,
            "gen_ai.request.stream": job.stream,
        }
        url = f"{self._router}/v1/route"
        name = f"chat {job.model}"
        return call(self._at, "", job, "POST", url, name=name, body=job.text(), attributes=attributes, outcome=_usage)

    def _tool(self, job: Job) -> None:
        call_id = f"call_{job.request_id[-12:]}"
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": TOOL,
            "gen_ai.tool.type": "datastore",
            "gen_ai.tool.call.id": call_id,
        }
        with self._at.cross("", job, name=f"execute_tool {TOOL}", attributes=attributes):
            about = {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": DATA_SOURCE}
            url = f"{self._retrieval}/v1/retrieve"
            call(self._at, "", job, "POST", url, name=f"retrieval {DATA_SOURCE}", body=job.text(), attributes=about)

    def _stream(self, job: Job, found: dict[str, Any]) -> Iterator[bytes]:
        """One event per token, and the end."""
        count, trace_id = found["generated_tokens"], _ids(job)["x-trace-id"]
        with self._at.cross("stream", job, attributes={"stream.chunks": count + 1}) as span:
            span.add_event("first_chunk")
            for number in range(count):
                piece = {"id": job.request_id, "object": "chat.completion.chunk", "trace_id": trace_id}
                delta = {"index": 0, "delta": {"content": f"token{number} "}, "finish_reason": None}
                yield f"data: {json.dumps({**piece, 'choices': [delta]})}\n\n".encode()
            yield b"data: [DONE]\n\n"
        self._at.journal.write("INFO", "request served", job, **_numbers(found))


def _said(job: Job, found: dict[str, Any]) -> dict[str, Any]:
    count = found["generated_tokens"]
    message = {"role": "assistant", "content": " ".join(f"token{number}" for number in range(count))}
    return {
        "id": job.request_id,
        "object": "chat.completion",
        "model": job.model,
        "choices": [{"index": 0, "message": message, "finish_reason": found["finish_reason"]}],
        "usage": {"prompt_tokens": job.input_tokens, "completion_tokens": count},
        "request_id": job.request_id,
        "trace_id": _ids(job)["x-trace-id"],
    }


def _usage(job: Job, found: dict[str, Any]) -> dict[str, Any]:
    """Attributes of the span of the model's call that are known when it is over."""
    return {
        "gen_ai.response.id": job.request_id,
        "gen_ai.response.model": job.model,
        "gen_ai.response.finish_reasons": [found["finish_reason"]],
        "gen_ai.usage.input_tokens": job.input_tokens,
        "gen_ai.usage.output_tokens": found["generated_tokens"],
        "gen_ai.usage.cache_read.input_tokens": found["cached_tokens"],
    }


def _numbers(found: dict[str, Any]) -> dict[str, Any]:
    names = ("generated_tokens", "cached_tokens", "finish_reason", "first_token_seconds")
    return {name: found[name] for name in names}


def _ids(job: Job) -> dict[str, str]:
    trace_id = trace.get_current_span().get_span_context().trace_id
    return {"x-request-id": job.request_id, "x-trace-id": f"{trace_id:032x}"}
