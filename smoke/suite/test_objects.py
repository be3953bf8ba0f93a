"""The object store: each bucket with its owner's key, with other keys, and as a stranger."""

from __future__ import annotations

import secrets
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smoke import limits, poll
from smoke.access.errors import AccessError, RefusedError
from smoke.access.objects import Key
from smoke.check import check
from smoke.judge import objects
from smoke.judge.objects import PREFIX, Attempt
from smoke.model import CheckFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from smoke.access.objects import Objects
    from smoke.model import Problem
    from smoke.stack import Stack
    from stacks.contract import Bucket

SIZE = 64 * 1024
OWNER, WRONG, STRANGER = "its owner", "a wrong key", "a stranger"


@dataclass(frozen=True)
class _Held:
    """A bucket, and the store asked with its owner's key."""

    bucket: Bucket
    store: Objects

    @property
    def name(self) -> str:
        return self.bucket.name


@check("objects.roundtrip")
def test_roundtrip(stack: Stack) -> str:
    everything = _all(stack)
    wrong = stack.objects.as_(Key("plumbline-nobody", secrets.token_hex(20)))
    with _sentinel(everything) as name:
        data = secrets.token_bytes(SIZE)

        def probe() -> list[Problem]:
            problems = []
            for held in everything:
                strangers = {WRONG: wrong} | {f"owner {o.bucket.owner}": o.store for o in _others(held, everything)}
                problems += _roundtrip(held, strangers, name, data)
            return problems

        stack.settle(probe, limits.QUICK)
    names = " and ".join(held.name for held in everything)
    owners = len({held.bucket.owner for held in everything})
    others = f"; {owners} owners are kept apart" if owners > 1 else ""
    return f"{SIZE} bytes were written, read back equal and deleted in {names}; a wrong key was refused{others}"


@check("objects.anonymous")
def test_anonymous(stack: Stack) -> str:
    everything, data = _all(stack), secrets.token_bytes(SIZE)
    stranger = stack.objects
    with _sentinel(everything) as name:

        def probe() -> list[Problem]:
            problems = []
            for held in everything:
                held.store.put(held.name, name, data)
                seen = _get(stranger, STRANGER, held.name, name)
                problems += objects.readable(seen, data) if held.bucket.public_read else objects.refused(seen)
                problems += _untouched(held, stranger, name, data)
            return problems

        stack.settle(probe, limits.QUICK)
    public = [held.name for held in everything if held.bucket.public_read]
    private = [held.name for held in everything if not held.bucket.public_read]
    told = [f"reads objects of {' and '.join(public)} by their name"] if public else []
    told += [f"reads nothing of {' and '.join(private)}"] if private else []
    return f"a stranger {' and '.join(told)}; to list, write and delete is refused in each"


def _all(stack: Stack) -> list[_Held]:
    return poll.fetch(lambda: [_Held(bucket, stack.owner_of(bucket)) for bucket in stack.buckets])


def _others(held: _Held, everything: list[_Held]) -> list[_Held]:
    """One bucket of every other owner."""
    return list({o.bucket.owner: o for o in everything if o.bucket.owner != held.bucket.owner}.values())


def _roundtrip(held: _Held, strangers: dict[str, Objects], name: str, data: bytes) -> list[Problem]:
    store, bucket = held.store, held.name
    store.put(bucket, name, data)
    problems = objects.same_bytes(f"object {bucket}/{name}", data, store.get(bucket, name))
    for who, other in strangers.items():
        if not (held.bucket.public_read and who != WRONG):
            problems += objects.refused(_get(other, who, bucket, name))
        problems += objects.refused(_put(other, who, bucket, name))
    store.delete(bucket, name)
    return problems + objects.gone(_get(store, OWNER, bucket, name))


def _untouched(held: _Held, stranger: Objects, name: str, data: bytes) -> list[Problem]:
    """The stranger may not list, overwrite, add or delete; and nothing has changed by the attempt."""
    bucket = held.name
    attempts = [
        _attempt(STRANGER, f"LIST {bucket}", lambda: stranger.names(bucket, PREFIX)),
        _put(stranger, STRANGER, bucket, name),
        _attempt(STRANGER, f"PUT of a new object to {bucket}", lambda: stranger.put(bucket, f"{name}-new", b"x")),
        _attempt(STRANGER, f"DELETE {bucket}/{name}", lambda: stranger.delete(bucket, name)),
    ]
    problems = [problem for attempt in attempts for problem in objects.refused(attempt)]
    after = _get(held.store, OWNER, bucket, name)
    return problems + objects.readable(after, data)


def _get(store: Objects, who: str, bucket: str, name: str) -> Attempt:
    return _attempt(who, f"GET {bucket}/{name}", lambda: store.get(bucket, name))


def _put(store: Objects, who: str, bucket: str, name: str) -> Attempt:
    return _attempt(who, f"PUT {bucket}/{name}", lambda: store.put(bucket, name, b"x"))


def _attempt(who: str, what: str, act: Callable[[], object]) -> Attempt:
    try:
        answer = act()
    except RefusedError as error:
        return Attempt(who, what, error.status)
    return Attempt(who, what, objects.ALLOWED, answer if isinstance(answer, bytes) else None)


@contextmanager
def _sentinel(everything: list[_Held]) -> Generator[str, None, None]:
    """Name of an object of this run. What was written by it, or left by runs that were killed, is removed."""
    name = objects.sentinel(time.time(), secrets.token_hex(6))
    try:
        yield name
    except (AccessError, CheckFailedError) as error:
        try:
            _remove(everything, name)
        except CheckFailedError as left:
            error.add_note(f"left behind: objects that begin with {name} ({left})")
        raise
    _remove(everything, name)


def _remove(everything: list[_Held], name: str) -> None:
    for held in everything:
        found = _names(held)
        own = [other for other in found if other.startswith(name)]
        for old in (*own, *objects.stale(found, time.time(), limits.LEFT_BEHIND)):
            _delete(held, old)


def _names(held: _Held) -> list[str]:
    return poll.fetch(lambda: held.store.names(held.name, PREFIX), limits.CLEAN_UP)


def _delete(held: _Held, name: str) -> None:
    poll.fetch(lambda: held.store.delete(held.name, name), limits.CLEAN_UP)
