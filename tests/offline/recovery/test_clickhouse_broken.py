"""What must never give a part that looks good: broken streams, killed servers, hidden rows, writers."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from recovery.errors import DamagedError, RecoveryError
from recovery.stores.clickhouse import ClickHouse, figures, native, open_store
from recovery.stores.clickhouse.client import Client, RefusedError
from recovery.stores.clickhouse.settings import Settings
from tests.offline.recovery.clickhouse_proxy import Proxy, proxy
from tests.offline.recovery.clickhouse_servers import Case, case, opened, silent
from tests.offline.recovery.vaults import Memory
from tests.offline.sandbox.clickhouse_engine.process import PASSWORD, Server, engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from recovery.model import File


@pytest.fixture(scope="module")
def server(shared_engine: Server) -> Server:
    """A running engine."""
    return shared_engine


@pytest.fixture
def one(server: Server, tmp_path: Path) -> Case:
    """A database with one table of two partitions."""
    found = case(server, tmp_path)
    found.run("CREATE TABLE @.t (p UInt8, a UInt64, s String) ENGINE = ReplacingMergeTree PARTITION BY p ORDER BY a")
    found.run("INSERT INTO @.t SELECT number % 2, number, repeat('x', number % 99) FROM numbers(200000)")
    return found


@dataclass
class Meddler(Memory):
    """A vault during whose first stream something happens, after `after` bytes."""

    act: Callable[[], object] = field(default=lambda: None)
    after: int = 0
    done: bool = False

    def put(self, path: str, pieces: Iterable[bytes]) -> File:
        """Keep a stream."""
        return super().put(path, self._meddled(pieces))

    def _meddled(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        size = 0
        for piece in pieces:
            yield piece
            size += len(piece)
            if size > self.after and not self.done:
                self.done = True
                self.act()


def test_a_server_killed_in_mid_stream_gives_no_part(tmp_path: Path) -> None:
    with engine(tmp_path / "data") as server:
        one = case(server, tmp_path)
        one.run("CREATE TABLE @.t (a UInt64, s String) ENGINE = MergeTree ORDER BY a")
        one.run("INSERT INTO @.t SELECT number, randomString(100) FROM numbers(1500000)")
        vault = Meddler(act=server.kill, after=8 * 1024**2)
        with pytest.raises(RecoveryError, match="broke"):
            one.take(vault)
        assert vault.done


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("cut", "the stream broke after"),
        ("block", "rows came, the server counts"),
        ("words", "no block follows a block.*DB::Exception: Memory limit"),
        ("drop", "broke .* before its answer was whole"),
        ("old", "without chunks and without a length"),
    ],
)
def test_an_answer_that_ends_too_early_is_never_a_part(one: Case, tmp_path: Path, fault: str, expected: str) -> None:
    with proxy(one.server.port, fault) as between:
        store = opened(one.server, tmp_path, database=one.database, url=between.url)
        with pytest.raises(RecoveryError, match=expected):
            store.take(Memory(), "quiesced", silent)


def test_through_a_proxy_that_does_no_harm_all_is_well(one: Case, tmp_path: Path) -> None:
    with proxy(one.server.port, "none") as between:
        store = opened(one.server, tmp_path, database=one.database, url=between.url)
        part = store.take(Memory(), "quiesced", silent)
        assert figures.parse(part).tables["t"].partitions["0"].rows == 100_000
        secret_is_nowhere(between)


def secret_is_nowhere(between: Proxy) -> None:
    """User and password came in headers, and in no address."""
    assert between.paths
    assert not [path for path in between.paths if "password" in path.lower() or "user=" in path or "quoted" in path]
    assert between.keys == {PASSWORD}


def test_an_error_in_mid_stream_is_told(one: Case) -> None:
    statement = "SELECT throwIf(number = 3000000, 'on purpose'), number FROM numbers(5000000) FORMAT Native"
    with pytest.raises(RecoveryError, match=r"Code: 395.*on purpose"):
        for _ in one.store.client.stream(statement):
            pass


def test_a_memory_limit_is_an_error(one: Case, tmp_path: Path) -> None:
    small = opened(one.server, tmp_path, database=one.database, memory_bytes=300_000)
    with pytest.raises(RecoveryError, match="MEMORY_LIMIT_EXCEEDED"):
        small.take(Memory(), "online", silent)


def test_rows_that_the_account_does_not_see_are_an_error(one: Case) -> None:
    filters = {f"{one.database}.t": "a < 199999"}
    client = one.store.client.having(additional_table_filters=str(filters))
    with pytest.raises(RecoveryError, match="has 1 rows that the account does not see"):
        dataclasses.replace(one.store, client=client).take(Memory(), "online", silent)


def test_rows_that_were_deleted_are_not_missed(one: Case) -> None:
    one.run("DELETE FROM @.t WHERE a < 10")
    vault = Memory()
    part = one.take(vault)
    assert figures.parse(part).tables["t"].partitions["0"].rows == 99_995
    assert one.restore(part, vault).differences == ()


def test_somebody_who_writes_in_spite_of_quiesced_is_an_error(one: Case) -> None:
    vault = Meddler(act=lambda: one.run("INSERT INTO @.t VALUES (1, 999999, 'x')"))
    with pytest.raises(RecoveryError, match=r"changed while it was read \(partitions \['1'\]\)"):
        one.take(vault)


def test_a_definition_that_changes_is_an_error(one: Case) -> None:
    vault = Meddler(act=lambda: one.run("CREATE TABLE @.u (a UInt8) ENGINE = Log"))
    with pytest.raises(RecoveryError, match=r"a definition in database .* changed"):
        one.take(vault, "online")


def test_online_what_changes_is_known_from_the_first_copy_on(one: Case) -> None:
    vault = Meddler(act=lambda: one.run("INSERT INTO @.t VALUES (1, 999999, 'x')"))
    part = one.take(vault, "online")
    found = figures.parse(part).tables["t"].partitions
    assert (found["0"].rows, found["0"].content is None) == (100_000, False)
    assert (found["1"].rows, found["1"].content) in {(100_000, None), (100_001, None)}
    compared = one.restore(part, vault)
    assert compared.differences == ()
    measured = figures.parse(part.model_copy(update={"figures": compared.figures})).tables["t"].partitions
    assert measured["0"] == found["0"]
    assert (measured["1"].rows, measured["1"].content is None) == (found["1"].rows, False)


@pytest.mark.parametrize("cut", [1, 9, 1000])
def test_a_stream_that_is_cut_and_well_hashed_is_damaged(one: Case, cut: int) -> None:
    vault = Memory()
    part = one.take(vault)
    content = b"".join(vault.read(part.files[0]))
    files = (vault.put(part.files[0].path, [content[:-cut]]), *part.files[1:])
    with pytest.raises(DamagedError, match="ends too early"):
        one.store.restore(part.model_copy(update={"files": files}), vault, silent)


def test_a_stream_that_is_shorter_and_well_packed_is_red(one: Case) -> None:
    vault = Memory()
    part = one.take(vault)
    path = part.files[0].path
    plain = b"".join(native.decompress(path, vault.read(part.files[0])))
    head = re.compile(rb"\x03[\x80-\xff]{1,2}[\x01-\x7f]\x01p\x05UInt8")  # three columns, some thousand rows, column p
    second = [found.start() for found in head.finditer(plain)][1]
    for cut, red in ((len(plain) - 5, "error"), (second, "difference")):
        files = (vault.put(path, native.compress([plain[:cut]])), *part.files[1:])
        short = part.model_copy(update={"files": files})
        if red == "error":
            with pytest.raises(RecoveryError):
                one.store.restore(short, vault, silent)
        else:
            assert "partition 0: 100000 rows in the point, " in "\n".join(one.restore(short, vault).differences)


def test_a_part_without_a_stream_is_damaged(one: Case) -> None:
    vault = Memory()
    part = one.take(vault)
    with pytest.raises(DamagedError, match="lacks 1 streams"):
        one.store.restore(part.model_copy(update={"files": part.files[1:]}), vault, silent)
    with pytest.raises(DamagedError, match="figures are not those"):
        one.store.restore(part.model_copy(update={"figures": {"x": 1}}), vault, silent)


def test_no_database_is_an_error(server: Server, tmp_path: Path) -> None:
    with pytest.raises(RecoveryError, match="there is no database nowhere"):
        opened(server, tmp_path, database="nowhere").take(Memory(), "online", silent)


@dataclass(frozen=True)
class Limited(Client):
    """An account of a server with rights for each table, which the engine does not have. says: to CHECK GRANT."""

    says: int = 0

    def rows(self, statement: str, **parameters: str) -> list[list[Any]]:
        """Rows of a small result."""
        if not statement.startswith("CHECK GRANT"):
            return super().rows(statement, **parameters)
        if self.says > 1:
            raise RefusedError("no such statement", self.says)
        return [[self.says]]


def limited(one: Case, says: int) -> ClickHouse:
    """The store with such an account."""
    names = {field.name: getattr(one.store.client, field.name) for field in dataclasses.fields(one.store.client)}
    return dataclasses.replace(one.store, client=Limited(**names, says=says))


def test_an_account_that_may_not_see_every_table_is_refused(one: Case) -> None:
    assert limited(one, 1).take(Memory(), "quiesced", silent).left_out == ()
    with pytest.raises(RecoveryError, match="may not read all of database"):
        limited(one, 0).take(Memory(), "quiesced", silent)
    with pytest.raises(RefusedError):
        limited(one, 497).take(Memory(), "quiesced", silent)
    told = limited(one, 62).take(Memory(), "quiesced", silent).left_out  # SYNTAX_ERROR: older than the statement
    assert [line.partition(":")[0] for line in told] == [f"tables of {one.database} that are hidden from the account"]


def test_no_secret_is_in_a_message(server: Server, tmp_path: Path) -> None:
    store = opened(server, tmp_path, database="x")
    (tmp_path / "password").write_text("wr0ng-secret")
    wrong = open_store(store.settings, tmp_path)
    with pytest.raises(RecoveryError, match="516") as told:
        wrong.take(Memory(), "online", silent)
    assert "wr0ng-secret" not in str(told.value) + repr(told.value) + repr(wrong)
    (tmp_path / "password").write_text("two\nl1nes")
    with pytest.raises(RecoveryError, match="more than one line") as told:
        open_store(store.settings, tmp_path)
    assert "l1nes" not in str(told.value)
    (tmp_path / "password").unlink()
    with pytest.raises(RecoveryError, match="cannot be read"):
        open_store(store.settings, tmp_path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "http://user:pw@h:1"},
        {"url": "ftp://h:1"},
        {"url": "http://h"},
        {"url": "http://h:1/x"},
        {"url": "http://h:1?password=x"},
        {"database": "system"},
        {"restore_as": "app"},
        {"replaced_as": "app__restored"},
    ],
)
def test_settings_that_cannot_be_meant_are_refused(wrong: dict[str, str]) -> None:
    given = {"name": "c", "url": "http://h:1", "database": "app", "username_file": "u", "password_file": "p"}
    assert Settings.model_validate(given).restore_as == "app__restored"
    with pytest.raises(ValueError, match=r"accepted is|three names"):
        Settings.model_validate({**given, **wrong})
