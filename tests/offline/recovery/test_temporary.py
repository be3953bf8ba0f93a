"""Files of a run that was killed go with the next one; those of a run that is alive, and of others, stay."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from recovery.__main__ import main
from recovery.outcome import FAILED
from recovery.temporary import PREFIX, sweep, temporary
from tests.offline.recovery.databases import telling
from tests.offline.recovery.examples import written

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

HOLD = """
import sys
from pathlib import Path
from recovery.stores.postgres.programs import passfile
from recovery.stores.postgres.settings import Login
with passfile(Login("db", 5432, "user", "CANARY"), Path(sys.argv[1])) as variables:
    print(variables["PGPASSFILE"], flush=True)
    sys.stdin.read()
"""


@contextmanager
def run(work: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that is within a block of a passfile, and the file."""
    command = [sys.executable, "-c", HOLD, str(work)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        path = work / process.stdout.readline().strip()
        try:
            yield process, path
        finally:
            process.kill()


def killed(work: Path) -> Path:
    """What a run leaves that is killed as it holds a password."""
    with run(work) as (process, path):
        process.kill()
        process.wait()
    assert "CANARY" in path.read_text()
    return path


def test_a_file_is_for_its_run_alone_and_goes_with_it(tmp_path: Path) -> None:
    with temporary(tmp_path, "pgpass") as (path, file):
        assert path.stat().st_mode & 0o777 == 0o600
        assert (path.parent, path.name.startswith(f"{PREFIX}pgpass-")) == (tmp_path, True)
        file.write(b"text")
        file.seek(0)
        assert file.read() == b"text"
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_goes_and_what_another_holds_stays(tmp_path: Path) -> None:
    told = list[str]()
    with run(tmp_path) as (process, alive), temporary(tmp_path, "head") as (own, _):
        left = killed(tmp_path)
        sweep(tmp_path, telling(told))
        assert not left.exists()
        assert alive.exists()
        assert own.exists(), "two stores of one run are no strangers to each other"
        process.kill()
        process.wait()
        assert told == [f"{left} was left of a run that was killed and is removed"]
        sweep(tmp_path, telling(told))
        assert told[1:] == [f"{alive} was left of a run that was killed and is removed"]
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_of_a_run_stays(tmp_path: Path) -> None:
    work, other = tmp_path / "work", tmp_path / "other"
    work.mkdir()
    other.write_text("somebody's")
    (work / "pgpass-of-another-program").write_text("x")
    (work / f"{PREFIX}link").symlink_to(other)
    (work / f"{PREFIX}directory").mkdir()
    os.mkfifo(work / f"{PREFIX}pipe")
    before = sorted(work.iterdir())
    told = list[str]()
    sweep(work, telling(told))
    assert sorted(work.iterdir()) == before
    assert other.read_text() == "somebody's"
    assert [line.partition(" ")[0] for line in told] == [str(work / f"{PREFIX}directory"), str(work / f"{PREFIX}link")]
    assert all("delete it" in line for line in told)


def test_nothing_is_there_to_sweep(tmp_path: Path) -> None:
    told = list[str]()
    sweep(tmp_path / "none", telling(told))
    assert told == []


def test_a_file_that_is_swept_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, seen = fcntl.flock, list[str]()

    def late(handle: int, how: int) -> None:
        if not seen:  # between its making and its lock, another run looks
            seen.append("once")
            sweep(tmp_path, telling(seen))
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with temporary(tmp_path, "pgpass") as (path, file):
        assert len(seen) == 2
        assert str(path) not in seen[1]
        assert os.path.samestat(os.fstat(file.fileno()), path.stat())


def test_every_word_begins_with_it(tmp_path: Path) -> None:
    """Whatever becomes of the run itself: here no key of the target is there."""
    work = tmp_path / "work"
    work.mkdir()
    left = killed(work)
    assert main(["--config", str(written(tmp_path, work=str(work))), "status"]) == FAILED
    assert not left.exists()
