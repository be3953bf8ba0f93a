"""What may be asked for, and what is refused with a reason."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from sandbox.workloads.inference import IDENTITY
from sandbox.workloads.inference.asking import asked, batch, handed_on
from sandbox.workloads.inference.options import parse
from sandbox.workloads.inference.read import AskError
from signals.catalogue.labels import WORKLOAD_IDENTITY

if TYPE_CHECKING:
    from sandbox.workloads.inference.asking import Job


def ask(simulate: object = None, query: dict[str, list[str]] | None = None, **members: Any) -> Job:  # noqa: ANN401  # JSON
    """The job of a request."""
    body = {**members, **({} if simulate is None else {"simulate": simulate})}
    return asked(json.dumps(body).encode(), query or {}, "chatcmpl-1")


def test_nothing_asked_is_the_default() -> None:
    job = asked(b"", {}, "chatcmpl-1")
    assert (job.model, job.input_tokens, job.max_tokens, job.output_tokens) == ("demo-llm", 32, 16, 8)
    assert (job.finish_reason, job.retrieval, len(job.blocks)) == ("stop", True, 2)


def test_query_wins_over_the_body() -> None:
    query = {
        "latency.router": ["0.5"],
        "fail.decode": ["503"],
        "nonce": ["12"],
        "secrets.span_attribute": ["34"],
        "output_tokens": ["3"],
        "retrieval": ["false"],
    }
    job = ask({"latency": {"decode": 1, "routing": 9}, "nonce": "other"}, query)
    assert job.latency == {"decode": 1, "routing": 0.5}
    assert (job.fail, job.nonce, job.secrets) == ({"decode": 503}, "12", {"span_attribute": "34"})
    assert (job.output_tokens, job.retrieval) == (3, False)


def test_job_survives_its_way_to_the_next_role() -> None:
    job = ask({"latency": {"decode": 1.5}, "secrets": {"event_name": "x"}, "nonce": "ü"}, stream=True)
    assert handed_on(job.text(prefill={"cached_tokens": 0})) == (
        job,
        {**json.loads(job.text()), "prefill": {"cached_tokens": 0}},
    )


def test_blocks_depend_on_all_that_is_before_them() -> None:
    def blocks(*words: str) -> tuple[str, ...]:
        return ask(messages=[{"role": "user", "content": " ".join(words)}]).blocks

    alike = [f"w{number}" for number in range(40)]
    assert len(blocks(*alike)) == 2
    assert blocks(*alike)[0] == blocks(*alike[:16], *"abcdefghijklmnopqrstuvwx")[0]
    assert blocks("x", *alike[1:])[1] != blocks(*alike)[1]
    assert blocks(*alike[:15]) == ()


def test_tokens_end_with_stop_or_length() -> None:
    assert ask({"output_tokens": 5}, max_tokens=5).finish_reason == "length"
    assert ask({"output_tokens": 4}, max_tokens=5).finish_reason == "stop"
    assert ask({"output_tokens": 9}, max_tokens=5).output_tokens == 5


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"modle": "x"}, "the request has modle; accepted are model, messages"),
        ({"model": 3}, "model is int; accepted is a string"),
        ({"messages": []}, "messages is no list, or an empty one"),
        ({"messages": [{"role": "user"}]}, "messages[0] has no content"),
        ({"messages": [{"role": "user", "content": " "}]}, "messages has 0 words; accepted are 1 to 8176"),
        ({"messages": [{"role": "user", "content": "w " * 8189}], "max_tokens": 4}, "accepted are 1 to 8188"),
        ({"max_tokens": 0}, "max_tokens is 0; accepted is a whole number from 1 to 4096"),
        ({"stream": "yes"}, "stream is 'yes'; accepted are true and false"),
        ({"simulate": []}, "simulate is []; accepted is an object"),
        ({"simulate": {"delay": 1}}, "simulate has delay; accepted are"),
        ({"simulate": {"latency": {"decode": 61}}}, "simulate.latency.decode is 61; accepted are seconds from 0 to 60"),
        ({"simulate": {"latency": {"decode": True}}}, "accepted are seconds"),
        ({"simulate": {"latency": {"nowhere": 1}}}, "simulate.latency names 'nowhere'; accepted are auth"),
        ({"simulate": {"fail": {"decode": 200}}}, "decode is 200; accepted is a whole number from 400 to 599"),
        ({"simulate": {"fail": {"decode": 500, "auth": 401}}}, "accepted is one point"),
        ({"simulate": {"fail": {"decode": 500}, "cancel": True}}, "a request ends once"),
        ({"simulate": {"extra_spans": 50001}}, "extra_spans is 50001"),
        ({"simulate": {"logs": "file"}}, "logs is 'file'; accepted are stdout, otlp, both"),
        ({"simulate": {"secrets": {"spanname": "x"}}}, "simulate.secrets has spanname; accepted are span_name"),
        ({"simulate": {"secrets": {"span_name": ""}}}, "simulate.secrets.span_name is empty"),
        ({"simulate": {"secrets": {"span_attribute_number": "4x"}}}, "span_attribute_number is no number"),
        ({"simulate": {"secrets": {"status_message": "x"}}}, "add simulate.fail with decode"),
        ({"simulate": {"secrets": {"exception_message": "x"}, "fail": {"auth": 401}}}, "add simulate.fail with decode"),
        ({"simulate": {"secrets_at": "there"}}, "simulate.secrets_at names 'there'"),
        ({"simulate": {"retrieval": False, "fail": {"retrieval": 500}}}, "which it also switches off"),
        ({"simulate": {"retrieval": False, "latency": {"retrieval": 1}}}, "which it also switches off"),
        (
            {"simulate": {"retrieval": False, "secrets": {"span_name": "x"}, "secrets_at": "retrieval"}},
            "which it also switches off",
        ),
    ],
)
def test_request_that_cannot_be_played_is_refused(members: dict[str, Any], reason: str) -> None:
    with pytest.raises(AskError) as refused:
        ask(**members)
    assert reason in str(refused.value)


@pytest.mark.parametrize("body", [b"[]", b"{", b"nothing"])
def test_body_that_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(AskError, match="the body is"):
        asked(body, {}, "")


def test_batch_is_bounded() -> None:
    assert batch(b'{"requests": 20000, "parallel": 16}') == (20000, 16, b"{}")
    for body in (b'{"requests": 20001}', b'{"requests": 0}', b'{"parallel": 17}', b'{"request": 3}', b'{"count": 3}'):
        with pytest.raises(AskError):
            batch(body)


def test_other_roles_take_what_the_gateway_hands_on_alone() -> None:
    with pytest.raises(AskError, match="ask the gateway"):
        handed_on(b'{"job": {"model": "x"}}')


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "required: --role"),
        (["--role", "gateway", "--router", "http://r:1"], "role gateway needs --retrieval http://host:port"),
        (["--role", "router", "--prefill", "http://p:1"], "role router needs --decode"),
        (["--role", "router", "--prefill", "p:1"], "'p:1' is no base address; accepted is http://host:port"),
        (["--role", "decode", "--port", "70000"], "'70000' is no port"),
        (["--role", "decode", "--max-num-seqs", "0"], "'0' is no count"),
        (["--role", "decode", "--enable-lora"], "unrecognized arguments: --enable-lora"),
    ],
)
def test_wrong_flag_ends_with_a_reason(arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(arguments)
    assert ended.value.code == 2
    assert reason in capsys.readouterr().err


def test_identity_is_spelled_as_on_metrics() -> None:
    assert IDENTITY == WORKLOAD_IDENTITY
