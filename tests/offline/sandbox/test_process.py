"""Programs are run with a deadline, and leave nothing running behind."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from typing import TYPE_CHECKING, Any

import pytest

from sandbox.process import ProgramError, kill_running, run
from tests.offline.sandbox.fakes import wait_for_file, wait_until_ended

if TYPE_CHECKING:
    from pathlib import Path

LONG = "sleep 300 & echo $! > {}; wait"


def test_output_and_exit_code_are_returned() -> None:
    done = run(["sh", "-c", "echo out; echo err >&2; exit 3"], timeout=20, check=False)
    assert (done.code, done.stdout, done.stderr) == (3, "out\n", "err\n")


def test_standard_input_is_passed_on() -> None:
    assert run(["cat"], timeout=20, stdin="some rules\n").stdout == "some rules\n"


def test_input_is_empty_unless_it_is_given() -> None:
    assert run(["cat"], timeout=20).stdout == ""


def test_deadline_kills_children_of_the_program_too(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    for seconds in (1, 20):  # on a busy machine the shell may not have come that far within one second
        with pytest.raises(ProgramError, match=f"sh did not end within {seconds} s"):
            run(["sh", "-c", LONG.format(noted)], timeout=seconds)
        if noted.exists() and noted.read_text().strip():
            break
    assert wait_until_ended(int(noted.read_text()))


def test_interrupt_kills_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noted = tmp_path / "pid"

    def interrupted(*_: object, **__: object) -> None:
        wait_for_file(noted)
        raise KeyboardInterrupt

    monkeypatch.setattr("subprocess.Popen.communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(["sh", "-c", LONG.format(noted)], timeout=60)
    assert wait_until_ended(int(noted.read_text()))


def test_programs_of_other_threads_can_be_killed(tmp_path: Path) -> None:
    noted, errors = tmp_path / "pid", list[ProgramError]()

    def work() -> None:
        try:
            run(["sh", "-c", LONG.format(noted)], timeout=60)
        except ProgramError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    wait_for_file(noted)
    while thread.is_alive():  # the program may have written before its start was noted
        kill_running()
        thread.join(0.1)
    assert "exited with -9" in str(errors[0])


def test_error_carries_the_whole_output() -> None:
    with pytest.raises(ProgramError) as caught:
        run(["sh", "-c", "seq 100 >&2; exit 1"], timeout=20)
    assert caught.value.output.split() == [str(n) for n in range(1, 101)]


def test_error_message_ends_with_the_last_lines() -> None:
    with pytest.raises(ProgramError) as caught:
        run(["sh", "-c", "seq 100 >&2; exit 1"], timeout=20)
    assert str(caught.value) == "sh exited with 1: " + "\n".join(str(n) for n in range(86, 101))


def test_standard_output_explains_a_failure_without_standard_error() -> None:
    with pytest.raises(ProgramError, match="exited with 4: the reason"):
        run(["sh", "-c", "echo the reason; exit 4"], timeout=20)


def test_missing_program_is_named() -> None:
    with pytest.raises(ProgramError, match=r"no-such-program cannot start \(No such file or directory\)"):
        run(["no-such-program"], timeout=20)


def test_output_that_is_no_text_is_no_error() -> None:
    assert run(["printf", r"a\377b"], timeout=20).stdout == "a�b"


def test_environment_is_replaced_when_given() -> None:
    done = run(["sh", "-c", "echo $ONLY:$HOME"], timeout=20, env={"ONLY": "this", "PATH": os.environ["PATH"]})
    assert done.stdout == "this:\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_program_that_starts_in_the_moment_of_an_interrupt_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    noted, start = tmp_path / "pid", subprocess.Popen

    def interrupted_start(*words: Any, **options: Any) -> Any:  # noqa: ANN401  # as Popen takes and gives them
        made = start(*words, **options)
        wait_for_file(noted)
        os.kill(os.getpid(), number)  # the program runs, and nobody has its id yet
        return made

    monkeypatch.setattr(subprocess, "Popen", interrupted_start)
    before = {one: signal.signal(one, signal.default_int_handler) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        with pytest.raises(KeyboardInterrupt):
            run(["sh", "-c", LONG.format(noted)], timeout=60)
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    assert wait_until_ended(int(noted.read_text()))
