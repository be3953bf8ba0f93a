"""Framing of streams in Native format, by hand and as the engine sends them. Expected: documentation of "Native"."""

from __future__ import annotations

import gzip
import re
import zlib
from typing import TYPE_CHECKING

import pytest

from recovery.errors import DamagedError, RecoveryError
from recovery.stores.clickhouse import native
from tests.offline.recovery.clickhouse_servers import Case, case

if TYPE_CHECKING:
    from tests.offline.sandbox.clickhouse_engine.process import Server

BROKEN = "the stream broke after"
# Two columns `a` UInt8 and the marker; one block of two rows, 7 and 8.
PLAIN = b"\x01\x02\x01a\x05UInt8\x07\x08"


def block(blocks: native.Blocks, columns: int = 2, marks: bytes = b"\x01\x01") -> bytes:
    """A block as the server would write it, by hand."""
    name = blocks.marker.encode()
    return bytes([columns, 2]) + PLAIN[2:] + bytes([len(name)]) + name + b"\x05UInt8" + marks


@pytest.fixture(scope="module")
def one(shared_engine: Server, tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A table of which the engine sends several blocks."""
    found = case(shared_engine, tmp_path_factory.mktemp("secrets"))
    found.run("CREATE TABLE @.t (a UInt64, s String) ENGINE = MergeTree ORDER BY a")
    found.run("INSERT INTO @.t SELECT number, repeat('x', number % 300) FROM numbers(200000)")
    return found


def sent(one: Case, blocks: native.Blocks) -> bytes:
    """What the engine sends for the whole table."""
    statement = f"SELECT a, s, toUInt8(1) AS {blocks.marker} FROM {one.database}.t ORDER BY a FORMAT Native"  # noqa: S608  # of this test
    return b"".join(one.store.client.having(max_threads="1").stream(statement))


@pytest.mark.parametrize("size", [1, 3, 17, 1000])
def test_the_mark_is_taken_out_wherever_pieces_end(size: int) -> None:
    blocks = native.Blocks("x", 1)
    whole = block(blocks) * 3
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
    assert b"".join(blocks.strip(pieces)) == PLAIN * 3
    assert blocks.rows == 6


def test_a_stream_cut_anywhere_but_behind_a_block_is_an_error() -> None:
    blocks = native.Blocks("x", 1)
    length = len(block(blocks))
    for cut in range(1, 2 * length):
        blocks = native.Blocks("x", 1)
        whole = block(blocks) * 2
        if cut == length:
            assert b"".join(blocks.strip([whole[:cut]])) == PLAIN, "the chunks' end and the count of rows are for this"
            continue
        with pytest.raises(RecoveryError, match=BROKEN):
            list(blocks.strip([whole[:cut]]))


@pytest.mark.parametrize("columns", [1, 3])
def test_another_number_of_columns_is_an_error(columns: int) -> None:
    blocks = native.Blocks("x", 1)
    with pytest.raises(RecoveryError, match="no block follows a block"):
        list(blocks.strip([block(blocks, columns)]))


def test_other_marks_are_an_error() -> None:
    blocks = native.Blocks("x", 1)
    with pytest.raises(RecoveryError, match="not what was asked for"):
        list(blocks.strip([block(blocks, marks=b"\x01\x00")]))


def test_a_servers_last_words_are_told_and_not_taken_for_data() -> None:
    blocks = native.Blocks("x", 1)
    words = b"\nCode: 241. DB::Exception: Memory limit exceeded (MEMORY_LIMIT_EXCEEDED)\n"
    with pytest.raises(RecoveryError, match="DB::Exception: Memory limit exceeded"):
        list(blocks.strip([block(blocks), words]))


def test_many_columns_take_two_bytes() -> None:
    blocks = native.Blocks("x", 127)
    name = blocks.marker.encode()
    head = b"\x01a\x05UInt8\x07" * 127
    whole = b"\x80\x01\x01" + head + bytes([len(name)]) + name + b"\x05UInt8\x01"
    assert b"".join(blocks.strip([whole])) == b"\x7f\x01" + head


def test_no_rows_are_no_error() -> None:
    blocks = native.Blocks("x", 1)
    assert list(blocks.strip([])) == []
    assert blocks.rows == 0


def test_what_the_engine_sends_is_framed_and_can_be_cut_nowhere(one: Case) -> None:
    blocks = native.Blocks("x", 2)
    whole = sent(one, blocks)
    marks = [found.end() for found in re.finditer(re.escape(blocks.marker.encode()) + rb"\x05UInt8", whole)]
    assert len(marks) > 3, "several blocks, or this shows nothing"
    stripped = b"".join(blocks.strip([whole]))
    assert (blocks.rows, blocks.marker.encode() in stripped) == (200_000, False)
    for cut in (1, 1000, marks[0] - 1, marks[0], marks[0] + 1, marks[1] + 5, len(whole) // 2, len(whole) - 1):
        again = native.Blocks("x", 2)
        again.marker, again._head = blocks.marker, blocks._head
        with pytest.raises(RecoveryError, match=BROKEN):
            list(again.strip([whole[:cut]]))


def test_gzip_is_the_same_each_time_and_read_by_everybody() -> None:
    pieces = [b"a" * 1000, b"", b"b" * 5]
    packed = b"".join(native.compress(pieces))
    assert packed == b"".join(native.compress(pieces))
    assert packed[4:8] == b"\0\0\0\0", "no time in the head"
    assert gzip.decompress(packed) == b"a" * 1000 + b"bbbbb"
    assert b"".join(native.decompress("x", [packed[:9], packed[9:]])) == b"a" * 1000 + b"bbbbb"


def test_large_pieces_are_handed_out_in_small_ones() -> None:
    packed = zlib.compress(bytes(50 * 1024**2), 9, wbits=31)
    assert max(len(piece) for piece in native.decompress("x", [packed])) <= 1024**2
    assert sum(len(piece) for piece in native.decompress("x", [packed])) == 50 * 1024**2


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-1], lambda b: b[:-9], lambda b: b + b"x", lambda b: b[20:], lambda _: b""]
)
def test_gzip_that_is_cut_off_or_goes_on_is_damaged(damage: object) -> None:
    assert callable(damage)
    packed = damage(b"".join(native.compress([bytes(range(256)) * 50])))
    with pytest.raises(DamagedError):
        list(native.decompress("x", [packed]))
