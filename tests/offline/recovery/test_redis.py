"""A Redis database is taken key by key, compared, and changes places with the live one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from recovery.errors import DamagedError, RecoveryError
from recovery.stores.redis_keys import beside, content
from recovery.stores.redis_keys.rebuild import write
from recovery.stores.redis_keys.server import SENTINEL
from tests.offline.recovery.buckets import silent
from tests.offline.recovery.redises import BESIDE, LIVE, OTHER, Redises, fill
from tests.offline.recovery.vaults import Memory
from tests.offline.sandbox.swanlab_server.server_driver import redis_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recovery.model import Part
    from recovery.stores.redis_keys import Keys


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redises]:
    directory = tmp_path_factory.mktemp("redis")
    with redis_server(directory) as url:
        (directory / "work").mkdir()
        yield Redises(url, directory / "work")


@pytest.fixture
def server(running: Redises) -> Redises:
    running.client().flushall()
    return running


def taken(server: Redises) -> tuple[Memory, Part]:
    vault = Memory()
    return vault, server.store().take(vault, "quiesced", silent)


def restored(server: Redises) -> tuple[Keys, Memory, Part]:
    vault, part = taken(server)
    target = server.store()
    target.restore(part, vault, silent)
    return target, vault, part


def test_every_type_comes_back_as_it_was(server: Redises) -> None:
    live, copy = server.client(), server.client(BESIDE)
    fill(live)
    target, vault, part = restored(server)
    assert target.compare(part, vault).differences == ()
    copy.delete(SENTINEL)
    assert {key: live.type(key) for key in live.scan_iter()} == {key: copy.type(key) for key in copy.scan_iter()}
    assert part.figures["keys"] == live.dbsize() == 15
    assert part.figures["types"] == {"string": 6, "list": 1, "set": 2, "hash": 3, "zset": 1, "stream": 2}
    for key in live.scan_iter():
        assert live.pexpiretime(key) == copy.pexpiretime(key), key
    for key in ("string", "empty", b"\xff\x00 odd\n", "large", "number", "session:4711"):
        assert live.get(key) == copy.get(key), key
    assert live.lrange("list", 0, -1) == copy.lrange("list", 0, -1)
    for key in ("set", "integers"):
        assert live.smembers(key) == copy.smembers(key)
    for key in ("hash", "small", "soon"):
        assert live.hgetall(key) == copy.hgetall(key)
    assert live.zrange("zset", 0, -1, withscores=True) == copy.zrange("zset", 0, -1, withscores=True)
    for key in ("stream", "emptied"):
        assert live.xrange(key) == copy.xrange(key)
        names = ("last-generated-id", "entries-added", "max-deleted-entry-id", "groups", "length")
        assert [live.xinfo_stream(key)[name] for name in names] == [copy.xinfo_stream(key)[name] for name in names]
        groups = ("name", "pending", "last-delivered-id", "entries-read")
        of = [[[group[name] for name in groups] for group in client.xinfo_groups(key)] for client in (live, copy)]
        assert of[0] == of[1]
    pending = ("message_id", "consumer", "times_delivered")
    of = [
        [[one[name] for name in pending] for one in client.xpending_range("stream", "readers", "-", "+", 99)]
        for client in (live, copy)
    ]
    assert len(of[0]) == 6
    assert of[0] == of[1]


def test_two_servers_with_the_same_keys_in_another_order_have_the_same_figures(server: Redises) -> None:
    live, other = server.client(), server.client(OTHER)
    for number in range(3000):
        live.sadd("set", number)
        other.sadd("set", 2999 - number)
    other.set("b", "2")
    for name, value in (("a", "1"), ("b", "2")):
        live.set(name, value)
        other.set(name, value)
    vault = Memory()
    parts = [server.store(number).take(vault, "quiesced", silent) for number in (LIVE, OTHER)]
    assert parts[0].figures == parts[1].figures
    other.set("a", "3")
    assert server.store(OTHER).take(vault, "quiesced", silent).figures["content"] != parts[0].figures["content"]


FAULTS: dict[str, Callable[[Any], object]] = {
    "missing": lambda copy: copy.delete("string"),
    "value": lambda copy: copy.set("string", "two"),
    "empty": lambda copy: copy.set("string", ""),
    "kind": lambda copy: (copy.delete("string"), copy.sadd("string", "one")),
    "extra": lambda copy: copy.set("extra", "x"),
    "element": lambda copy: copy.lset("list", 1100, "x"),
    "order": lambda copy: (copy.lset("list", 0, "e1"), copy.lset("list", 1, "e0")),
    "member": lambda copy: copy.srem("set", "m1499"),
    "field": lambda copy: copy.hset("hash", "f1499", "x"),
    "score": lambda copy: copy.zincrby("zset", 1e-9, "z1"),
    "entry": lambda copy: copy.xdel("stream", "1150-1"),
    "group": lambda copy: copy.xgroup_destroy("stream", "idle"),
    "pending": lambda copy: copy.xack("stream", "readers", "2-1"),
    "expiry": lambda copy: copy.persist("soon"),
    "session": lambda copy: copy.delete("session:4711"),
    "session value": lambda copy: copy.set("session:4711", "other", keepttl=True),
    "extra session": lambda copy: copy.set("extra", "x", ex=999),
    "sentinel": lambda copy: copy.delete(SENTINEL),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_of_the_copy_is_found_and_no_name_of_a_key_is_told(server: Redises, fault: str) -> None:
    fill(server.client())
    target, vault, part = restored(server)
    FAULTS[fault](server.client(BESIDE))
    found = target.compare(part, vault).differences
    assert found != ()
    assert "4711" not in "".join(found)


def test_keys_that_expire_meanwhile_are_counted_and_not_missed(server: Redises) -> None:
    live = server.client()
    live.set("stays", "1")
    live.set("goes", "2", px=1500)
    live.set("long", "3", ex=3600)
    vault, part = taken(server)
    assert (part.figures["keys"], part.figures["lasting"]) == (3, 1)
    target = server.store()
    target.restore(part, vault, silent)
    while server.client(BESIDE).exists("goes"):
        pass
    found = target.compare(part, vault)
    assert (found.differences, found.figures["expired"], found.figures["keys"]) == ((), 1, 2)
    # Restored after it expired: it must not come back for good.
    target.restore(part, vault, silent)
    assert server.client(BESIDE).exists("goes") == 0
    assert target.compare(part, vault).differences == ()


def test_restored_twice_is_the_same_and_a_killed_restore_is_made_anew(
    server: Redises, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(server.client())
    target, vault, part = restored(server)
    once = server.content(BESIDE)
    target.restore(part, vault, silent)
    assert server.content(BESIDE) == once
    count = 0

    def dying(*values: Any, **how: Any) -> None:  # noqa: ANN401  # what it stands for takes
        nonlocal count
        count += 1
        if count > 5:
            raise KeyboardInterrupt
        write(*values, **how)

    with monkeypatch.context() as patched:
        patched.setattr(beside, "write", dying)
        with pytest.raises(KeyboardInterrupt):
            target.restore(part, vault, silent)
    assert any("complete copy" in line for line in target.compare(part, vault).differences)
    with pytest.raises(RecoveryError, match="no complete copy"):
        target.promote(force=True)
    target.restore(part, vault, silent)
    assert target.compare(part, vault).differences == ()


def test_promote_refuses_a_used_database_and_with_force_keeps_it(server: Redises) -> None:
    fill(server.client())
    target, vault, part = restored(server)
    before = server.content()
    server.client().set("newer", "x")
    with pytest.raises(RecoveryError, match=r"holds 16 keys, 2 of which expire.*with force"):
        target.promote(force=False)
    assert "the 16 keys that it replaced" in target.promote(force=True)
    assert server.content() == before
    assert server.client(BESIDE).get("newer") == b"x"
    assert "promoted already" in target.promote(force=True)
    for refused in (lambda: target.restore(part, vault, silent), target.discard):
        with pytest.raises(RecoveryError, match="run confirm or demote first"):
            refused()
    target.demote()
    assert server.client().get("newer") == b"x"
    assert target.compare(part, vault).differences == ()
    assert "nothing was promoted" in target.demote()
    target.promote(force=True)
    target.confirm()
    assert (server.content(), server.client(BESIDE).dbsize()) == (before, 0)
    assert "nothing was deleted" in target.confirm()
    assert "nothing was promoted" in target.demote()
    assert server.content() == before


def test_promote_into_an_empty_database_needs_no_force(server: Redises) -> None:
    server.client().set("a", "1")
    target, _, _ = restored(server)
    server.client().flushdb()
    target.promote(force=False)
    assert server.client().keys() == [b"a"]
    target.demote()
    target.discard()
    assert (server.client().dbsize(), server.client(BESIDE).dbsize()) == (0, 0)


def test_a_database_of_somebody_else_is_never_touched(server: Redises) -> None:
    server.client().set("a", "1")
    server.client(BESIDE).set("theirs", "x")
    vault, part = taken(server)
    assert part.left_out == ("database 15 with 1 keys: another one than the address names",)
    target = server.store()
    with pytest.raises(RecoveryError, match="holds 1 keys of somebody else"):
        target.restore(part, vault, silent)
    with pytest.raises(RecoveryError, match="no complete copy"):
        target.promote(force=True)
    for step in (target.confirm, target.discard, target.demote):
        step()
    assert server.client(BESIDE).keys() == [b"theirs"]


def test_the_copy_is_not_part_of_the_next_point(server: Redises) -> None:
    server.client().set("a", "1")
    target, _, part = restored(server)
    again = target.take(Memory(), "quiesced", silent)
    assert (again.figures, again.left_out) == (part.figures, ())


class Busy:
    """Writes a key whenever one is read."""

    def __init__(self, server: Redises, key: str, times: int) -> None:
        self.server, self.key, self.left = server, key, times
        self.pages = content.pages

    def __call__(self, client: Any, key: bytes, *values: Any, **how: Any) -> Iterator[list[content.Item]]:  # noqa: ANN401  # what it stands for takes
        for page in self.pages(client, key, *values, **how):
            if key == self.key.encode() and self.left:
                self.left -= 1
                self.server.client().sadd(self.key, str(uuid4()))
            yield page


def test_a_key_written_while_it_is_read_is_read_again(server: Redises, monkeypatch: pytest.MonkeyPatch) -> None:
    server.client().sadd("set", *range(5000))
    monkeypatch.setattr("recovery.stores.redis_keys.read.pages", Busy(server, "set", 2))
    vault = Memory()
    part = server.store().take(vault, "online", silent)
    text = b"".join(vault.read(part.files[0])).decode().splitlines()
    assert sum(json.loads(line)["first"] for line in text) == 2
    target = server.store()
    target.restore(part, vault, silent)
    assert target.compare(part, vault).differences == ()
    assert server.client(BESIDE).smembers("set") == server.client().smembers("set")
    monkeypatch.setattr("recovery.stores.redis_keys.read.pages", Busy(server, "set", 1))
    with pytest.raises(RecoveryError, match="was written while it was read, 1 times"):
        server.store().take(Memory(), "quiesced", silent)
    monkeypatch.setattr("recovery.stores.redis_keys.read.pages", Busy(server, "set", 10_000))
    with pytest.raises(RecoveryError, match="was written while it was read, 5 times"):
        server.store().take(Memory(), "online", silent)


def test_a_key_that_goes_away_half_read_leaves_nothing(server: Redises, monkeypatch: pytest.MonkeyPatch) -> None:
    server.client().sadd("set", *range(5000))
    server.client().set("a", "1")

    def deleting(client: Any, key: bytes, *values: Any, **how: Any) -> Iterator[list[content.Item]]:  # noqa: ANN401  # what it stands for takes
        yield from content.pages(client, key, *values, **how)
        if key == b"set":
            server.client().delete(key)

    with monkeypatch.context() as patched:
        patched.setattr("recovery.stores.redis_keys.read.pages", deleting)
        vault = Memory()
        part = server.store().take(vault, "online", silent)
    assert part.figures["keys"] == 1
    target = server.store()
    target.restore(part, vault, silent)
    assert target.compare(part, vault).differences == ()
    assert sorted(server.client(BESIDE).keys()) == [b"a", SENTINEL]


def test_a_new_key_is_refused_when_quiesced(server: Redises) -> None:
    server.client().set("a", "1")

    class Meddling(Memory):
        def put(self, path: str, pieces: Any) -> Any:  # noqa: ANN401  # as the one that it stands for
            found = super().put(path, pieces)
            server.client().set("new", "x")
            return found

    with pytest.raises(RecoveryError, match="1 keys came into being"):
        server.store().take(Meddling(), "quiesced", silent)


def test_a_type_that_commands_cannot_make_is_refused_or_named(server: Redises, monkeypatch: pytest.MonkeyPatch) -> None:
    server.client().set("a", "1")
    server.client().sadd("b", "1")
    monkeypatch.setattr("recovery.stores.redis_keys.read.KINDS", ("string",))
    with pytest.raises(RecoveryError, match="is of type set, which only the module"):
        server.store().take(Memory(), "quiesced", silent)
    part = server.store().take(Memory(), "online", silent)
    assert part.figures["keys"] == 1
    assert any("is of type set" in line for line in part.left_out)


def test_no_password_is_told_and_what_is_no_address_is_refused(server: Redises) -> None:
    path = server.work / "wrong"
    for text, said in (
        ("", "wrong is empty; accepted .* redis://"),
        ("\n", "wrong is empty"),
        ("http://x", "holds no address"),
        ("redis://:CANARY/x@127.0.0.1:1/0", "cannot be"),
        ("redis://:CANARY@127.0.0.1:1/0", "must be reachable"),
        (server.url.replace("//", "//:CANARY@") + "/0", "AuthenticationError"),
        (f"{server.url}/15", "is the live one and restore_database"),
    ):
        path.write_text(text, encoding="utf-8")
        store = type(server.store())(server.settings(path), server.work)
        with pytest.raises(RecoveryError, match=said) as found:
            store.take(Memory(), "online", silent)
        assert "CANARY" not in f"{found.value!r} {found.value.__cause__!r} {store!r}"


def test_a_point_without_keys_or_with_a_cut_file_is_damaged(server: Redises) -> None:
    server.client().set("a", "1")
    vault, part = taken(server)
    target = server.store()
    with pytest.raises(DamagedError, match=r"has no keys\.jsonl"):
        target.restore(part.model_copy(update={"files": ()}), vault, silent)
    whole = b"".join(vault.read(part.files[0]))
    for text, said in ((whole[:-1], "cut off"), (b"{}\n", "cannot be read")):
        broken = part.model_copy(update={"files": (vault.put("keys.jsonl", [text]),)})
        with pytest.raises(DamagedError, match=said):
            target.restore(broken, vault, silent)
    fewer = part.model_copy(update={"files": (vault.put("keys.jsonl", []),)})
    target.restore(fewer, vault, silent)
    assert any("keys is 0" in line for line in target.compare(fewer, vault).differences)
