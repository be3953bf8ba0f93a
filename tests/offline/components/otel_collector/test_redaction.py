"""Redaction by the real collector: no secret of any field arrives, and what stands beside it arrives as it was."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from components.otel_collector import patterns, record_text, redaction
from components.otel_collector.args import OtelCollectorArgs, Redaction
from components.otel_collector.config import render_gateway
from components.otel_collector.names import SPAN_METRICS_PORT
from tests.offline.components.otel_collector import canaries
from tests.offline.components.otel_collector.backend import Backend, attributes_of
from tests.offline.components.otel_collector.canaries import CARD, NEIGHBOURS, PHONE, Words
from tests.offline.components.otel_collector.examples import ARGS, args
from tests.offline.components.otel_collector.otlp import logs, record, sent
from tests.offline.components.otel_collector.program import Collector, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECRETS: Final = {
    "a password": ("login with password=hunter2 failed", "hunter2"),
    "an upper case name": ("DB_PASSWORD=hunter2", "hunter2"),
    "a colon": ("api-key: abcdef12345", "abcdef12345"),
    "Python": ("{'secret': 'hunter2', 'n': 1}", "hunter2"),
    "JSON in JSON": (r'{"x": "{\"access_token\": \"hunter2\"}"}', "hunter2"),
    "an authorization": ("Authorization: Basic dXNlcjpodW50ZXIy", "dXNlcjpodW50ZXIy"),
    "a bearer": ("sent Bearer abc.def-123", "abc.def-123"),
    "a JWT": ("got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_123 back", "eyJzdWIiOiIxIn0"),
    "a cookie": ("Cookie: session=abc; theme=dark", "theme=dark"),
    "AWS": ("key AKIAIOSFODNN7EXAMPLE used", "AKIAIOSFODNN7EXAMPLE"),
    "GCP": ("key AIzaSyA1234567890abcdefghijklmnopqrstuv used", "AIzaSyA1234567890"),
    "Aliyun": ("id LTAI5tAbCdEfGhIjKlMn used", "LTAI5tAbCdEfGhIjKlMn"),
    "GitHub": ("clone with ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_abcdefghij"),
    "Hugging Face": ("HF hf_abcdefghijklmnopqrstuvwx", "hf_abcdefghij"),
    "OpenAI": ("sk-proj-abcdefghijklmnop", "sk-proj-abcdefgh"),
    "SwanLab": ("swanlab.login(api_key='fBtwPDe6fH0VUpvLJrkXr')", "fBtwPDe6fH0VUpvLJrkXr"),
    "a private key": ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----", "MIIEow"),
    "half a private key": ("-----BEGIN PRIVATE KEY-----\nMIIEow", "MIIEow"),
    "an address": ("postgres://app:hunter2@db:5432/x", "hunter2"),
    "a signed address": ("GET https://s3/x?X-Amz-Signature=abcdef&a=1", "abcdef"),
    "an e-mail": ("mail to jane.doe+x@mail.example.org bounced", "jane.doe"),
    "a phone": ("call +1 713-555-1212 now", "555-1212"),
    "a phone without sign": ("(713) 555-1212", "555-1212"),
    "a phone by name": ("phone number: 7135551212", "7135551212"),
    "a card": ("paid with 4111 1111 1111 1111", "1111 1111"),
    "a card without blanks": ("paid with 4111111111111111.", "4111111111111111"),
    "an environment": ("PATH=/bin HOME=/root LANG=C SHELL=/bin/sh", "/root"),
    "a prompt of vLLM": ("Received request c-1: prompt: 'Tell me a secret', params: X", "Tell me"),
    "a prompt in JSON": ('{"prompt": "Tell me \\"it\\" now", "n": 2}', "it"),
    "half a prompt": ('{"prompt": "Tell me', "Tell me"),
    "messages": ('{"messages": [{"role": "user", "content": "Tell me"}], "n": 1}', "Tell me"),
    "ids of tokens": ("prompt_token_ids: [15496, 995]", "15496"),
}
"""Text as it stands in log lines → what must not arrive of it."""
INNOCENT: Final = (
    "request 5b8efff798038103d269b633813fc60c took 0.0123456 s",
    "2026-11-30T11:10:05.123456+08:00 step 1200 loss 2.3456789",
    "prompt_tokens=812 completion_tokens=144 total_tokens=956",
    "avg prompt throughput: 812.0 tokens/s, avg generation throughput: 14.2 tokens/s, prefix cache hit rate: 12.5%",
    "allocated 7135551212 bytes of 34359738368",
    "time to first token: 0.123 s, per output token: 0.012 s",
    "POST /v1/chat/completions HTTP/1.1 200 OK from 10.1.2.3:43210",
    "uid 123e4567-e89b-42d3-a456-426614174000 epoch 1796037917937780302",
    "image sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    'File "/app/train.py", line 42, in step',
    "NCCL WARN Call to ibv_reg_mr failed on mlx5_0 rank 3 of 8",
    "tokenizer llama-3-70b loaded in 1.23 s; max_model_len=8192",
)
"""Text that must arrive as it is."""


@dataclass
class Arrived:
    """What came out for what went in. exposed: metrics of spans and of applications."""

    words: list[str]
    backend: Backend
    exposed: str

    def leaks(self) -> set[str]:
        """Words, and the two numbers, that can be found anywhere."""
        everything = f"{self.backend.everything()}\n{self.exposed}"
        numbers = {str(CARD), str(PHONE), f"{float(CARD):g}"}
        return {word for word in {*self.words, *numbers} if word in everything}


@contextmanager
def gateway(directory: Path, given: OtelCollectorArgs, *, redacts: bool = True) -> Iterator[tuple[Collector, Backend]]:
    """The gateway as rendered, but that it decides soon. redacts: false takes the processors out of the pipelines."""
    backend = Backend()
    files = render_gateway(
        replace(
            backend.takes(given),
            scrape_interval_seconds=1,
            sampling=replace(ARGS.sampling, decision_wait_seconds=1, keep_percent=100.0),
        )
    ).files
    if not redacts:
        document = yaml.safe_load(files["collector.yaml"])
        for pipeline in document["service"]["pipelines"].values():
            kept = [name for name in pipeline.get("processors", []) if name not in redaction.ORDER]
            pipeline["processors"] = kept
        files = {"collector.yaml": yaml.safe_dump(document, width=10**6)}
    with backend.up(), Collector(directory, files).running() as collector:
        yield collector, backend


def play(directory: Path, given: OtelCollectorArgs, *, redacts: bool = True) -> Arrived:
    """Send a secret in every field."""
    words = Words()
    with gateway(directory, given, redacts=redacts) as (collector, backend):
        sent(collector.http, canaries.of_traces(words))
        sent(collector.http, canaries.of_logs(words))
        sent(collector.http, canaries.of_metrics(words))
        count = len(canaries.bodies(Words()))
        eventually(
            lambda: len(backend.spans()) == 1 and len(backend.records()) == count,
            lambda: f"{len(backend.spans())} spans, {len(backend.records())} records",
        )
        eventually(
            lambda: all(
                name in collector.exposed(SPAN_METRICS_PORT) for name in ("span_metrics_calls", "m_g_", "m_s_", "m_h_")
            ),
            lambda: collector.exposed(SPAN_METRICS_PORT),
        )
        return Arrived(words.all, backend, collector.exposed(SPAN_METRICS_PORT))


@pytest.fixture(scope="module")
def arrived(tmp_path_factory: pytest.TempPathFactory) -> Arrived:
    return play(tmp_path_factory.mktemp("redacted"), ARGS)


def test_no_secret_of_any_field_arrives(arrived: Arrived) -> None:
    assert arrived.leaks() == set()


def test_the_table_sees_every_field_when_nothing_is_redacted(tmp_path: Path) -> None:
    control = play(tmp_path, ARGS, redacts=False)
    # Metrics leave through Prometheus alone, which shows neither metadata nor scope's schema.
    unseen = {word for word in control.words if word not in control.leaks()}
    metrics = ("canary-m-", "canary-g-", "canary-s-", "canary-h-")
    # Tail sampling takes off the addresses of schemas itself.
    assert {word for word in unseen if not word.startswith(metrics)} == {"canary-t-schema", "canary-t-resourceschema"}
    assert {word for word in control.words if word.startswith(metrics)} & control.leaks()


def test_what_stands_beside_a_secret_arrives_as_it_was(arrived: Arrived) -> None:
    span = arrived.backend.spans()[0]
    for where in (span.attributes, span.events[0].attributes):
        assert {key: attributes_of(where).get(key) for key in NEIGHBOURS} == NEIGHBOURS
    for found in arrived.backend.records():
        assert {key: found["attributes"].get(key) for key in NEIGHBOURS} == NEIGHBOURS
        assert (found["trace_id"], found["span_id"]) == (canaries.TRACE.hex(), canaries.SPAN.hex())
    assert span.name.startswith("GET /****")
    assert span.status.message == "boom **** ****"
    assert (span.trace_id, span.span_id, len(span.links)) == (canaries.TRACE, canaries.SPAN, 0)
    assert 'service_name="canary"' in arrived.exposed


def _through(directory: Path, given: OtelCollectorArgs, bodies: list[str]) -> list[Any]:
    with gateway(directory, given) as (collector, backend):
        sent(collector.http, logs([record(body, values={"at": number}) for number, body in enumerate(bodies)]))
        sent(
            collector.http,
            logs([record("x", values={"note": body, "at": -number - 1}) for number, body in enumerate(bodies)]),
        )
        eventually(lambda: len(backend.records()) == 2 * len(bodies), lambda: str(len(backend.records())))
        found = {one["attributes"]["at"]: one for one in backend.records()}
        return [(found[at]["body"], found[-at - 1]["attributes"]["note"]) for at in range(len(bodies))]


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """Text → it as a body and as an attribute, after redaction."""
    sent_texts = [*(text for text, _ in SECRETS.values()), *INNOCENT]
    return dict(zip(sent_texts, _through(tmp_path_factory.mktemp("texts"), ARGS, sent_texts), strict=True))


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_in_text_is_hidden(name: str, texts: dict[str, tuple[str, str]]) -> None:
    text, secret = SECRETS[name]
    body, attribute = texts[text]
    assert secret not in body
    assert secret not in attribute
    assert record_text.MASK in body


@pytest.mark.parametrize("text", INNOCENT)
def test_text_without_secrets_arrives_as_it_is(text: str, texts: dict[str, tuple[str, str]]) -> None:
    assert texts[text] == (text, text)


def test_a_pattern_that_is_taken_out_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(patterns.VALUES, "e-mail", patterns.Hidden("no mail", ("no mail",)))
    assert {word for word in play(tmp_path, ARGS).leaks() if word.endswith("spanname")} == {"canary-spanname"}


def test_what_a_stack_adds_is_hidden_as_well(tmp_path: Path) -> None:
    own = args(redaction=Redaction(keys=("^customer$",), values=(r"ACME-[0-9]+$",)))
    with gateway(tmp_path, own) as (collector, backend):
        values = {"customer": 17, "note": "of ACME-12", "list": ["ACME-13"], "price$": 1}
        sent(collector.http, logs([record("for ACME-14", values=values)]))
        eventually(lambda: len(backend.records()) == 1, backend.everything)
    text = json.dumps(backend.records())
    assert "ACME" not in text
    assert backend.records()[0]["attributes"]["customer"] == record_text.MASK
    assert backend.records()[0]["attributes"]["price$"] == 1
