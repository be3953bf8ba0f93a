"""What is sent: OTLP requests of the shape that the sandbox's inference service sends, encoded once and then filled in.

A trace is the tree of a request with its 20 spans, as the tests of that service hold it (`TREE`); attributes are those
that the service puts there. Every hundredth trace has an error, every hundredth is slow.
"""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.logs.v1.logs_pb2 import SEVERITY_NUMBER_INFO, LogRecord, ScopeLogs
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span, Status

from sandbox.workloads.inference import SCOPE, VERSION
from tests.bench.telemetry import identity
from tests.offline.components.otel_collector.otlp import any_value, attributes
from tests.offline.sandbox.inference.test_inference_traces import TREE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

OK, ERROR, SLOW = "ok", "error", "slow"
RARE: Final = 100
"""One trace of so many has an error, and one is slow."""
TRACES_OF_A_REQUEST, RECORDS_OF_A_REQUEST = 25, 250
PODS: Final = (("gateway", "router"), ("prefill", "decode", "retrieval"))
"""Roles by node: the agent of each sends its part of a trace."""
FILES: Final = 8
"""Container log files that are written side by side."""
_SLOW_SECONDS: Final = 8
_SECOND: Final = 10**9
_KINDS: Final = {"internal": Span.SPAN_KIND_INTERNAL, "server": Span.SPAN_KIND_SERVER, "client": Span.SPAN_KIND_CLIENT}
_TRACE: Final = bytes.fromhex("e9b1d3f7a5c84e2296b07d1f3ac5e8d4")
_SPAN: Final = bytes.fromhex("f3a9c6d1b8e7")
"""First six bytes of every span's id; the last two are its place in the tree."""
_REQUEST: Final = b"@" * 32
_BOUNDARIES: Final[dict[str, dict[str, Any]]] = {
    "chat demo-llm": {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "vllm",
        "gen_ai.request.model": "demo-llm",
        "gen_ai.request.max_tokens": 64,
        "gen_ai.response.finish_reasons": ["length"],
        "gen_ai.usage.input_tokens": 412,
        "gen_ai.usage.output_tokens": 64,
    },
    "prefill": {"gen_ai.request.model": "demo-llm", "gen_ai.usage.input_tokens": 412},
    "decode": {"gen_ai.request.model": "demo-llm", "batch.size": 3, "gen_ai.usage.output_tokens": 64},
    "kv_transfer": {"kv_transfer.blocks": 26, "kv_transfer.bytes": 54_001_664},
    "queue": {"queue.depth": 2},
    "auth": {"auth.scheme": "none"},
    "rate_limit": {"rate_limit.limit": 256},
    "execute_tool search_documents": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search_documents"},
    "retrieval documents": {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": "documents"},
    "search": {"gen_ai.data_source.id": "documents"},
    "stream": {"stream.chunks": 65},
}


def kind_of(number: int) -> str:
    """Of the trace with this number: OK, ERROR or SLOW."""
    return {0: ERROR, 1: SLOW}.get(number % RARE, OK)


def batches(count: int, size: int) -> Iterator[range]:
    """Numbers from 0 to count - 1, so many at a time."""
    return (range(begin, min(begin + size, count)) for begin in range(0, count, size))


def traces(phase: int, numbers: Sequence[int], kinds: Iterable[str]) -> Iterator[bytes]:
    """Requests, one per node of PODS, which together are whole traces. kinds: of each trace."""
    known = [(identity.trace_id(phase, number), number, kind) for number, kind in zip(numbers, kinds, strict=True)]
    for roles in PODS:
        yield b"".join(_of_role(role, phase, known) for role in roles)


def records(phase: int, numbers: Sequence[int]) -> bytes:
    """A request with one log record for each number, all of one pod."""
    found = b"".join(_filled(_RECORD, identity.trace_id(phase, number), phase, number) for number in numbers)
    scope = ScopeLogs(scope=_SCOPE).SerializeToString()
    return _field(1, _field(1, _RESOURCES["gateway"]) + _field(2, scope + found))


def line(phase: int, number: int) -> str:
    """A line of a container's log file, as the runtime writes it."""
    found = identity.trace_id(phase, number)
    now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    text = {
        "time": now,
        "level": "INFO",
        "message": "request served",
        "trace_id": found.hex(),
        "span_id": found[8:].hex(),
        "service": "inference-gateway",
        "component": "gateway",
        "team": "search",
        "run_id": "run-7",
        "request_id": f"chatcmpl-{identity.request_id(found).decode()}",
        **_NUMBERS,
        "input": {"messages": 2, "characters": 2210, "tokens": 412},
    }
    return f"{now} stdout F {json.dumps(text)}\n"


def log_file(number: int) -> str:
    """Path of one of FILES below the directory of pods: namespace, pod, uid, container."""
    return f"team-a_gateway-{number}_0b6f8c1e-4d2a-4c57-9e0b-{number:012x}/inference/0.log"


def _of_role(role: str, phase: int, known: Iterable[tuple[bytes, int, str]]) -> bytes:
    spans = b"".join(_filled(_SPANS[kind][role], trace, phase, number) for trace, number, kind in known)
    return _field(1, _field(1, _RESOURCES[role]) + _field(2, ScopeSpans(scope=_SCOPE).SerializeToString() + spans))


def _filled(template: bytes, trace: bytes, phase: int, number: int) -> bytes:
    own = number.to_bytes(4, "big") + phase.to_bytes(2, "big")
    return template.replace(_TRACE, trace).replace(_SPAN, own).replace(_REQUEST, identity.request_id(trace))


def _field(number: int, content: bytes) -> bytes:
    """A member of a message on the wire, by its number: key, length, content."""
    length, size = b"", len(content)
    while size > 0x7F:
        length, size = length + bytes([size & 0x7F | 0x80]), size >> 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


def _resource(role: str) -> bytes:
    """As the downward API gives it."""
    values = {
        "service.name": f"inference-{role}",
        "service.namespace": "inference",
        "service.instance.id": f"team-a.{role}-0.inference",
        "service.version": VERSION,
        "k8s.namespace.name": "team-a",
        "k8s.pod.name": f"{role}-0",
        "k8s.pod.uid": "0b6f8c1e-4d2a-4c57-9e0b-3f5a1c7d9e21",
        "k8s.node.name": "node-1",
        "k8s.container.name": "inference",
        "team": "search",
        "run_id": "run-7",
        "telemetry.sdk.language": "python",
        "telemetry.sdk.name": "opentelemetry",
    }
    return Resource(attributes=attributes(values)).SerializeToString()


def _values(name: str, kind: str) -> dict[str, Any]:
    """Attributes of a span."""
    path = f"/{name.partition(' /')[2]}"
    http: dict[str, Any] = {"http.request.method": "POST", "http.response.status_code": 200}
    own = dict[str, Any]()
    if kind == "server":
        own = {**http, "http.route": path, "url.path": path, "url.scheme": "http"}
    elif kind == "client":
        own = {**http, "url.full": f"http://inference-next:8000{path}", "server.address": "inference-next"}
        own |= {"server.port": 8000}
    return {"request_id": f"chatcmpl-{_REQUEST.decode()}", **own, **_BOUNDARIES.get(name, {})}


def _span(place: int, kind: str) -> Span:
    """One span of TREE. kind: of the trace; a slow one is slow at its root, an error is where decode has it."""
    _, name, sort, parent = TREE[place]
    fails = kind == ERROR and name in ("decode", "POST /v1/decode", "POST /v1/chat/completions")
    end = _BEGIN + _SECOND // 5 - place * 1_000_000
    found = Span(
        trace_id=_TRACE,
        span_id=_SPAN + place.to_bytes(2, "big"),
        parent_span_id=b"" if parent is None else _SPAN + parent.to_bytes(2, "big"),
        name=name,
        kind=_KINDS[sort],
        start_time_unix_nano=_BEGIN + place * 1_000_000,
        end_time_unix_nano=end + (_SLOW_SECONDS * _SECOND if kind == SLOW and parent is None else 0),
        attributes=attributes(_values(name, sort)),
        status=Status(code=Status.STATUS_CODE_ERROR, message="decode: Service Unavailable") if fails else None,
    )
    if name in ("decode", "stream"):
        found.events.add(name="first_token", time_unix_nano=end)
    return found


def _role_spans(role: str, kind: str) -> bytes:
    """Spans of one trace that one role made, as members of a ScopeSpans."""
    places = [place for place, row in enumerate(TREE) if row[0] == role]
    return b"".join(_field(2, _span(place, kind).SerializeToString()) for place in places)


def _record() -> bytes:
    values = {
        "service": "inference-gateway",
        "component": "gateway",
        "request_id": f"chatcmpl-{_REQUEST.decode()}",
        **_NUMBERS,
        "input.messages": 2,
        "input.characters": 2210,
        "input.tokens": 412,
    }
    found = LogRecord(
        time_unix_nano=_BEGIN,
        observed_time_unix_nano=_BEGIN,
        severity_number=SEVERITY_NUMBER_INFO,
        severity_text="INFO",
        body=any_value("request served"),
        attributes=attributes(values),
        trace_id=_TRACE,
        span_id=_SPAN + bytes(2),
    )
    return _field(2, found.SerializeToString())


_NUMBERS: Final[dict[str, Any]] = {
    "generated_tokens": 64,
    "cached_tokens": 400,
    "finish_reason": "length",
    "first_token_seconds": 0.041203,
}
_BEGIN: Final = time.time_ns()
_SCOPE: Final = InstrumentationScope(name=SCOPE, version=VERSION)
_RESOURCES: Final = {role: _resource(role) for roles in PODS for role in roles}
_SPANS: Final = {kind: {role: _role_spans(role, kind) for role in _RESOURCES} for kind in (OK, ERROR, SLOW)}
_RECORD: Final = _record()
