"""PostgreSQL's start script: databases are made once and whole, the rest is the server's own."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from sandbox.images.roles import START_POSTGRES
from tests.offline.sandbox.fakes import path_with, program

if TYPE_CHECKING:
    from pathlib import Path

# Notes its call and the password, and makes a cluster of databases; or is killed half way.
INITDB = """
echo "initdb $*" >> "$LOG"
while [ $# -gt 0 ]; do
  case "$1" in -D) directory=$2;; --pwfile=*) echo "password $(cat "${1#--pwfile=}")" >> "$LOG";; esac
  shift
done
mkdir "$directory/base"; echo local > "$directory/pg_hba.conf"
[ -z "${KILLED:-}" ] || exit 137
echo 15 > "$directory/PG_VERSION"
"""
POSTGRES = """
echo "postgres $*" >> "$LOG"
[ "$1" != --single ] || sed 's/^/sql /' >> "$LOG"
"""
PASSWORD = "s3 cret'"  # noqa: S105  of nobody


@pytest.fixture
def log(fake_bin: Path, tmp_path: Path) -> Path:
    """What the programs were called with."""
    program(fake_bin, "initdb", INITDB)
    program(fake_bin, "postgres", POSTGRES)
    return tmp_path / "log"


def start(tmp_path: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the script over tmp_path/data."""
    environment = {
        "PATH": path_with(tmp_path / "bin"),
        "PGDATA": str(tmp_path / "data"),
        "LOG": str(tmp_path / "log"),
        "TMPDIR": str(tmp_path),
    }
    return subprocess.run(
        ["/bin/sh", str(START_POSTGRES), *arguments],
        env=environment | variables,
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
    )


def test_first_start_makes_the_databases_and_the_second_does_not(tmp_path: Path, log: Path) -> None:
    variables = {"POSTGRES_USER": "swanlab", "POSTGRES_PASSWORD": PASSWORD, "POSTGRES_DB": 'a"pp'}
    assert start(tmp_path, **variables).returncode == 0
    first = log.read_text()
    assert "--username=swanlab" in first
    assert "--encoding=UTF8 --locale=C.UTF-8 --auth-local=trust --auth-host=scram-sha-256" in first
    assert f"password {PASSWORD}\n" in first
    assert 'sql CREATE DATABASE "a""pp"\n' in first
    assert (tmp_path / "data/PG_VERSION").exists()
    assert "host all all all scram-sha-256" in (tmp_path / "data/pg_hba.conf").read_text()
    assert list((tmp_path / "data").glob(".*")) == []
    log.unlink()
    assert start(tmp_path, **variables).returncode == 0
    assert log.read_text().startswith("postgres -c listen_addresses=* -c unix_socket_directories=/tmp")
    assert log.read_text().count("\n") == 1


def test_password_is_in_no_argument_and_no_file_that_stays(tmp_path: Path, log: Path) -> None:
    start(tmp_path, POSTGRES_PASSWORD=PASSWORD)
    assert all(PASSWORD not in line for line in log.read_text().splitlines() if not line.startswith("password"))
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path != log]
    assert [path for path in files if PASSWORD.encode() in path.read_bytes()] == []


def test_user_and_database_have_the_names_of_the_official_image(tmp_path: Path, log: Path) -> None:
    start(tmp_path, POSTGRES_PASSWORD=PASSWORD)
    assert "--username=postgres" in log.read_text()
    assert "sql CREATE" not in log.read_text()


def test_values_may_come_from_files(tmp_path: Path, log: Path) -> None:
    (tmp_path / "password").write_text(f"{PASSWORD}\n")
    assert start(tmp_path, POSTGRES_PASSWORD_FILE=str(tmp_path / "password"), POSTGRES_USER="swanlab").returncode == 0
    assert f"password {PASSWORD}\n" in log.read_text()
    assert 'sql CREATE DATABASE "swanlab"' in log.read_text()


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({}, "POSTGRES_PASSWORD is empty and"),
        ({"POSTGRES_PASSWORD": "a", "POSTGRES_PASSWORD_FILE": "/b"}, "are both set; set one of them"),
        ({"POSTGRES_PASSWORD_FILE": "/not/there"}, "names /not/there, which cannot be read"),
    ],
    ids=["empty", "both", "unreadable"],
)
@pytest.mark.usefixtures("log")
def test_first_start_without_a_password_is_refused(tmp_path: Path, variables: dict[str, str], told: str) -> None:
    done = start(tmp_path, **variables)
    assert done.returncode != 0
    assert told in done.stderr
    assert list((tmp_path / "data").iterdir()) == []


def test_later_start_needs_no_password(tmp_path: Path, log: Path) -> None:
    start(tmp_path, POSTGRES_PASSWORD=PASSWORD)
    log.unlink()
    assert start(tmp_path).returncode == 0
    assert "initdb" not in log.read_text()


def test_first_start_that_was_killed_is_begun_anew(tmp_path: Path, log: Path) -> None:
    assert start(tmp_path, POSTGRES_PASSWORD=PASSWORD, KILLED="1").returncode != 0
    assert not (tmp_path / "data/PG_VERSION").exists()
    log.unlink()
    assert start(tmp_path, POSTGRES_PASSWORD=PASSWORD).returncode == 0
    assert log.read_text().count("initdb") == 1
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["PG_VERSION", "base", "pg_hba.conf"]


def test_move_that_was_killed_is_gone_on_with(tmp_path: Path, log: Path) -> None:
    new = tmp_path / "data/.initialising"
    new.mkdir(parents=True)
    (tmp_path / "data/base").mkdir()  # moved before the end came
    for name in ("PG_VERSION", "pg_hba.conf", ".whole"):
        (new / name).write_text("15")
    assert start(tmp_path, POSTGRES_PASSWORD=PASSWORD).returncode == 0
    assert "initdb" not in log.read_text()
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["PG_VERSION", "base", "pg_hba.conf"]


@pytest.mark.parametrize("arguments", [("postgres", "-c", "max_connections=9"), ("-c", "max_connections=9")])
def test_arguments_reach_the_server(tmp_path: Path, log: Path, arguments: tuple[str, ...]) -> None:
    start(tmp_path, *arguments, POSTGRES_PASSWORD=PASSWORD)
    assert log.read_text().splitlines()[-1].endswith(" -c max_connections=9")


@pytest.mark.usefixtures("log")
def test_another_command_is_run_instead(tmp_path: Path) -> None:
    assert start(tmp_path, "echo", "hello").stdout == "hello\n"
    assert not (tmp_path / "data").exists()
