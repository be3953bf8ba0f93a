"""The proxy as a program."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import requests

from sandbox.faults.__main__ import main
from tests.offline.sandbox.faults.servers import echo

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[4]


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """A file that refuses everything."""
    path = tmp_path / "rules.json"
    path.write_text(json.dumps([{"name": "closed", "status": 503}]))
    return path


@pytest.fixture
def program(rules: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The program before a server: its address, and its process."""
    with echo() as server:
        argv = [sys.executable, "-m", "sandbox.faults", "--upstream", server.url, "--rules", str(rules)]
        with subprocess.Popen(argv, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
            try:
                yield re.findall(r"http://127\.0\.0\.1:\d+", line(process))[-1], process
            finally:
                process.kill()


def line(process: subprocess.Popen[str]) -> str:
    """The next line that the program tells."""
    assert process.stderr is not None
    return process.stderr.readline()


def get(address: str) -> int:
    """Status of a call."""
    with requests.Session() as session:
        session.trust_env = False
        return session.get(f"{address}/x/y?X-Amz-Signature=canary", timeout=60).status_code


def test_program_refuses_tells_and_ends(program: tuple[str, subprocess.Popen[str]]) -> None:
    address, process = program
    assert get(address) == 503
    told = line(process)
    assert "GET /x/y GetObject (0 bytes): 503, closed" in told
    assert "canary" not in told
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0


def test_program_reads_its_rules_anew_and_keeps_them_when_they_are_wrong(
    program: tuple[str, subprocess.Popen[str]], rules: Path
) -> None:
    address, process = program
    rules.write_text("[]")
    process.send_signal(signal.SIGHUP)
    assert "0 rules are in force" in line(process)
    assert get(address) == 200
    line(process)
    rules.write_text("[{}]")
    process.send_signal(signal.SIGHUP)
    assert "the rules stay as they are: rule 1" in line(process)
    assert get(address) == 200


def test_rules_that_cannot_be_read_end_the_program(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        assert main(["--upstream", "http://127.0.0.1:1", "--rules", str(tmp_path / "none.json")]) == 1
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert "none.json cannot be read" in caplog.text


@pytest.mark.parametrize("upstream", ["127.0.0.1:80", "ftp://a", "http://", "http://a/path", "http://a:port"])
def test_address_that_is_no_server_is_refused(upstream: str, rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--upstream", upstream, "--rules", str(rules)])
    assert caught.value.code == 2
    assert "accepted is http://host:port" in capsys.readouterr().err
