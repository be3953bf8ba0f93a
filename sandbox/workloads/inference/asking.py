"""How a request is asked for. POST to the gateway, `/v1/chat/completions`, a JSON object:

    model       name of the model, default `demo-llm`
    messages    list of {"role": …, "content": …}, as OpenAI has it. Their words are counted, and leave the gateway as
                hashes of blocks of 16 alone. Default: 32 words that are always the same. With max_tokens, 8192 at most
    max_tokens  1 to 4096, default 16
    stream      true: server-sent events instead of one JSON object
    simulate    what is to be played, an object of:
        output_tokens  what the model would say, default 8; it ends with `length` at max_tokens, else with `stop`
        latency        {point: seconds up to 60}
        fail           {point: HTTP status from 400 to 599}: exception event, status and code of it. A request fails
                       once, so one point. Decode fails after half of its tokens, all others before they begin
        cancel         true: the caller goes away after half of the tokens (status 499, finished_reason abort)
        retrieval      false: the model asks for no tool, and there are no spans of it
        extra_spans    0 to 50000 spans more in decode, one per step
        nonce          a word that lands in every log line (`nonce`) and on every span (attribute `nonce`)
        logs           `stdout`, `otlp` or `both`; default as the role was started
        secrets        {place: text}: the caller's text is put into that place, see `PLACES`
        secrets_at     point that has the places, default `decode`

Points are the boundaries that a request crosses, `POINTS`; `gateway` means auth, `router` means routing.
Each member of `simulate` may stand in the query as well, where it wins: `?latency.decode=2.5&fail.decode=500&nonce=x`.

A `traceparent` of the caller is respected and its `tracestate` handed on; every span is sent, whatever the flag says,
since what is kept is the collector's decision. The answer tells `trace_id` and `request_id`, as members and in
headers `x-trace-id` and `x-request-id`, an error as well.

POST `/v1/batch` with {"requests": 1 to 20000, "parallel": 1 to 16, "request": as above} makes that many, each a trace
of its own; the answer lists their trace ids, request ids and status. A traceparent is refused there.

Every role has GET `/healthz`, GET `/metrics` and POST `/flush`, without spans. The last sends what is waiting to be
sent, and tells what was made, taken and not taken since the role began, and how many lines were written.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field, fields
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from sandbox.workloads.inference import read
from sandbox.workloads.inference.read import AskError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

POINTS: Final = (
    *("auth", "rate_limit", "routing", "queue", "prefill"),
    *("kv_transfer", "decode", "retrieval", "stream"),
)
ALIASES: Final = {"gateway": "auth", "router": "routing"}
PLACES: Final = {
    "span_name": "name of the span",
    "span_attribute": "attribute `note` of the span",
    "span_attribute_list": "second member of attribute `labels` of the span",
    "span_attribute_number": "attribute `reference` of the span, as an integer: digits alone",
    "span_attribute_key": "key of an attribute of the span",
    "status_message": "description of the span's status; the point must fail",
    "exception_message": "attribute exception.message of the exception event; the point must fail",
    "event_name": "name of an event of the span",
    "event_attribute": "attribute `detail` of an event of the span",
    "link_attribute": "attribute `note` of a link of the span",
    "scope_name": "name of the instrumentation scope",
    "scope_version": "version of the instrumentation scope",
    "scope_attribute": "attribute `note` of the instrumentation scope",
    "log_body": "message of a log line: in OTLP, a body that is a string",
    "log_nested": "an object, a list and an object deep in a log line: in OTLP, in a body that is a map",
    "log_attribute": "member `note` of a log line: in OTLP, an attribute",
    "metric_attribute": "attribute `tag` of a point of gen_ai.server.request.duration",
    "exemplar_attribute": "filtered attribute `note` of an exemplar of gen_ai.server.time_to_first_token",
}
LOGS: Final = ("stdout", "otlp", "both")
BLOCK: Final = 16
"""Tokens of a block of the KV cache, as vLLM has it by default."""
LARGEST_BATCH: Final = 20_000
_MAX_TOKENS: Final = 4096
_MAX_LATENCY: Final = 60.0
_MAX_SPANS: Final = 50_000
MAX_MODEL_LEN: Final = 8192
"""Tokens of a prompt and what is generated for it, together."""
_INTEGER_DIGITS: Final = 18  # what fits into OTLP's integers
_PLAY: Final = (
    *("output_tokens", "latency", "fail", "cancel", "retrieval"),
    *("extra_spans", "nonce", "logs", "secrets", "secrets_at"),
)
_DEFAULT_MESSAGES: Final = [{"role": "user", "content": " ".join(f"word{number}" for number in range(32))}]


@dataclass(frozen=True, kw_only=True)
class Job:
    """A request as it goes from role to role. latency: seconds. logs: "" is what a role was started with.

    blocks: a hash per full block of the prompt, which depends on all blocks before it.
    """

    request_id: str
    model: str
    messages: int
    characters: int
    input_tokens: int
    blocks: tuple[str, ...]
    max_tokens: int
    output_tokens: int
    stream: bool = False
    latency: Mapping[str, float] = field(default_factory=dict)
    fail: Mapping[str, int] = field(default_factory=dict)
    cancel: bool = False
    retrieval: bool = True
    extra_spans: int = 0
    nonce: str = ""
    logs: str = ""
    secrets: Mapping[str, str] = field(default_factory=dict)
    secrets_at: str = "decode"

    @property
    def finish_reason(self) -> str:
        """`length` where max_tokens ended it, else `stop`."""
        return "length" if self.output_tokens >= self.max_tokens else "stop"

    def secrets_of(self, point: str) -> Mapping[str, str]:
        """Place → text, for this point alone."""
        return self.secrets if point == self.secrets_at else {}

    def text(self, **more: object) -> bytes:
        """For the next role, with what it needs besides."""
        return json.dumps({"job": asdict(self), **more}).encode()


def handed_on(body: bytes) -> tuple[Job, dict[str, Any]]:
    """The job that another role sent, and what came with it. Raises AskError."""
    found = read.members(body)
    job = read.mapping(found, "job")
    if set(job) != {item.name for item in fields(Job)}:
        raise AskError("the body has no job as the gateway hands it on; ask the gateway, not this role")
    return Job(**{**job, "blocks": tuple(job["blocks"])}), found


def asked(body: bytes, query: Mapping[str, Sequence[str]], request_id: str) -> Job:
    """The job that a caller asks for. Raises AskError."""
    found = read.members(body or b"{}")
    read.known(found, ("model", "messages", "max_tokens", "stream", "simulate"), "the request")
    play = _overlaid(read.mapping(found, "simulate"), query)
    read.known(play, _PLAY, "simulate")
    words, messages = _words(found.get("messages", _DEFAULT_MESSAGES))
    max_tokens = read.whole(found, "max_tokens", 16, 1, _MAX_TOKENS)
    job = Job(
        request_id=request_id,
        model=read.word(found, "model", "demo-llm"),
        messages=messages,
        characters=sum(len(word) for word in words),
        input_tokens=len(words),
        blocks=_blocks(words),
        max_tokens=max_tokens,
        output_tokens=min(max_tokens, read.whole(play, "output_tokens", 8, 1, _MAX_TOKENS)),
        stream=read.truth(found, "stream", default=False),
        latency=_latency(read.mapping(play, "latency")),
        fail=_fail(read.mapping(play, "fail")),
        cancel=read.truth(play, "cancel", default=False),
        retrieval=read.truth(play, "retrieval", default=True),
        extra_spans=read.whole(play, "extra_spans", 0, 0, _MAX_SPANS),
        nonce=read.word(play, "nonce", ""),
        logs=read.one_of(play, "logs", LOGS),
        secrets=_secrets(read.mapping(play, "secrets")),
        secrets_at=_point(read.word(play, "secrets_at", "decode"), "simulate.secrets_at"),
    )
    return _consistent(job)


def batch(body: bytes) -> tuple[int, int, bytes]:
    """How many requests, how many at a time, and what each asks for. Raises AskError."""
    found = read.members(body)
    read.known(found, ("requests", "parallel", "request"), "the batch")
    count = read.whole(found, "requests", 1, 1, LARGEST_BATCH)
    return count, read.whole(found, "parallel", 4, 1, 16), json.dumps(read.mapping(found, "request")).encode()


def _consistent(job: Job) -> Job:
    failing = {"status_message", "exception_message"} & set(job.secrets)
    if failing and job.secrets_at not in job.fail:
        raise AskError(
            f"simulate.secrets has {', '.join(sorted(failing))}, which a span without an error does not have; "
            f"add simulate.fail with {job.secrets_at}"
        )
    if not 0 < job.input_tokens <= MAX_MODEL_LEN - job.max_tokens:
        raise AskError(
            f"messages has {job.input_tokens} words; accepted are 1 to {MAX_MODEL_LEN - job.max_tokens}, since with "
            f"max_tokens there may be {MAX_MODEL_LEN}"
        )
    if not job.retrieval and "retrieval" in {*job.fail, *job.latency, *([job.secrets_at] if job.secrets else [])}:
        raise AskError("simulate names retrieval, which it also switches off; drop one of the two")
    if len(job.fail) > 1:
        raise AskError(f"simulate.fail has {', '.join(job.fail)}; accepted is one point, since a request fails once")
    if job.fail and job.cancel:
        raise AskError("simulate has fail and cancel; accepted is one of them, since a request ends once")
    return job


def _overlaid(play: Mapping[str, Any], query: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """With what the query says: `latency.decode=2.5` is {"latency": {"decode": 2.5}}."""
    found: dict[str, Any] = {k: dict(v) if isinstance(v, dict) else v for k, v in play.items()}
    for name, values in query.items():
        key, dot, inner = name.partition(".")
        if dot:
            at = found.setdefault(key, {})
            if not isinstance(at, dict):
                raise AskError(f"simulate.{key} is {at!r}; accepted is an object")
            at[inner] = values[-1] if key == "secrets" else _plain(values[-1])
        else:
            found[key] = values[-1] if key in ("nonce", "logs", "secrets_at") else _plain(values[-1])
    return found


def _plain(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _words(messages: object) -> tuple[list[str], int]:
    if not isinstance(messages, list) or not messages:
        raise AskError("messages is no list, or an empty one; accepted is a list of objects with role and content")
    words: list[str] = []
    for number, message in enumerate(messages):
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, str):
            raise AskError(f"messages[{number}] has no content that is a string")
        words += content.split()
    return words, len(messages)


def _blocks(words: Sequence[str]) -> tuple[str, ...]:
    chain, found = b"", []
    for start in range(0, len(words) - BLOCK + 1, BLOCK):
        chain = hashlib.sha256(chain + "\n".join(words[start : start + BLOCK]).encode()).digest()
        found.append(chain.hex()[:16])
    return tuple(found)


def _point(name: str, where: str) -> str:
    point = ALIASES.get(name, name)
    if point not in POINTS:
        raise AskError(f"{where} names {name!r}; accepted are {', '.join((*POINTS, *ALIASES))}")
    return point


def _latency(found: Mapping[str, Any]) -> dict[str, float]:
    seconds: dict[str, float] = {}
    for name, value in found.items():
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
        if not 0 <= number <= _MAX_LATENCY:
            raise AskError(f"simulate.latency.{name} is {value!r}; accepted are seconds from 0 to {_MAX_LATENCY:g}")
        seconds[_point(name, "simulate.latency")] = number
    return seconds


def _fail(found: Mapping[str, Any]) -> dict[str, int]:
    low, high = HTTPStatus.BAD_REQUEST, 599
    return {_point(name, "simulate.fail"): read.whole(found, name, low, low, high) for name in found}


def _secrets(found: Mapping[str, Any]) -> dict[str, str]:
    read.known(found, tuple(PLACES), "simulate.secrets")
    texts = {name: read.word(found, name, "") for name in found}
    empty = sorted(name for name, text in texts.items() if not text)
    if empty:
        raise AskError(f"simulate.secrets.{empty[0]} is empty; give the text that is looked for")
    number = texts.get("span_attribute_number", "0")
    if not (number.isascii() and number.isdigit() and len(number) <= _INTEGER_DIGITS):
        raise AskError(
            f"simulate.secrets.span_attribute_number is no number of up to {_INTEGER_DIGITS} digits; it goes out as one"
        )
    return texts
