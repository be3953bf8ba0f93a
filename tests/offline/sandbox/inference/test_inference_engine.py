"""The engine: who gets a place, what is known of a prompt, how full the cache is."""

from __future__ import annotations

import json
import threading

from opentelemetry.trace import SpanContext

from sandbox.workloads.inference.asking import Job, asked
from sandbox.workloads.inference.engine import Engine, blocks_of


def job(request_id: str, words: int = 32) -> Job:
    """A request with so many words, the first of which are always the same."""
    text = " ".join(f"w{number}" for number in range(words))
    return asked(json.dumps({"messages": [{"role": "user", "content": text}]}).encode(), {}, request_id)


def context(number: int) -> SpanContext:
    """Where a request's span is."""
    return SpanContext(number, number, is_remote=False)


def sample(engine: Engine, name: str) -> float | None:
    """A gauge as a scrape has it."""
    return engine.metrics.registry.get_sample_value(f"vllm:{name}", {"model_name": "m", "engine": "0"})


def test_request_is_linked_to_those_that_run_beside_it() -> None:
    engine = Engine("m")
    with engine.admit(job("a"), context(1), 8) as first, engine.admit(job("b"), context(2), 8) as second:
        assert first.companions == ()
        assert second.companions == (context(1),)
        assert sample(engine, "num_requests_running") == 2
    with engine.admit(job("c"), context(3), 8) as third:
        assert third.companions == ()


def test_request_waits_for_a_place() -> None:
    engine = Engine("m", slots=1)
    got = threading.Event()

    def second() -> None:
        with engine.admit(job("b"), context(2), 8):
            got.set()

    with engine.admit(job("a"), context(1), 8):
        waiter = threading.Thread(target=second)
        waiter.start()
        while sample(engine, "num_requests_waiting") != 1:
            assert waiter.is_alive()
        assert not got.is_set()
        assert sample(engine, "num_requests_running") == 1
    waiter.join(30)
    assert got.is_set()
    assert (sample(engine, "num_requests_waiting"), sample(engine, "num_requests_running")) == (0, 0)


def test_request_waits_for_room_in_the_cache() -> None:
    engine = Engine("m", blocks=5)
    done = threading.Event()

    def second() -> None:
        with engine.admit(job("b"), context(2), 8):
            done.set()

    with engine.admit(job("a"), context(1), 8):  # 40 tokens: 3 of 5 blocks
        assert engine.usage() == 3 / 5
        waiter = threading.Thread(target=second)
        waiter.start()
        while sample(engine, "num_requests_waiting") != 1:
            assert waiter.is_alive()
        assert not done.is_set()
    waiter.join(30)
    assert done.is_set()
    assert sample(engine, "kv_cache_usage_perc") == 0


def test_last_token_of_a_prompt_is_always_computed() -> None:
    engine = Engine("m")
    assert engine.known_prefix(job("a").blocks, 32) == 0
    assert engine.known_prefix(job("b").blocks, 32) == 16  # two blocks are known, and one token must be computed
    assert engine.known_prefix(job("c", 33).blocks, 33) == 32
    assert engine.known_prefix((), 0) == 0


def test_prefixes_that_nobody_used_for_long_are_forgotten() -> None:
    engine = Engine("m", blocks=2)
    engine.known_prefix(("a", "b"), 40)
    engine.known_prefix(("a",), 40)
    engine.known_prefix(("c",), 40)
    assert engine.known_prefix(("a", "b"), 40) == 16


def test_cache_is_held_until_it_is_fetched_once() -> None:
    engine = Engine("m")
    engine.hold("a", 33)
    assert engine.usage() == 3 / 8192
    assert (engine.release("a"), engine.release("a"), engine.usage()) == (3, None, 0)


def test_what_nobody_fetches_makes_room_for_what_is_new() -> None:
    engine = Engine("m")
    for number in range(20):
        engine.hold(str(number), 4096)  # 256 blocks; half of 8192 may be held
    assert (engine.release("0"), engine.release("3"), engine.release("4")) == (None, None, 256)


def test_longest_request_fits_into_the_cache() -> None:
    body = {"messages": [{"role": "user", "content": "w " * 4096}], "max_tokens": 4096}
    longest = asked(json.dumps(body).encode(), {}, "longest")
    with Engine("m").admit(longest, context(1), longest.max_tokens) as run:
        assert run.companions == ()


def test_blocks_are_filled_from_the_front() -> None:
    assert [blocks_of(tokens) for tokens in (0, 1, 16, 17, 32)] == [0, 1, 1, 2, 2]
