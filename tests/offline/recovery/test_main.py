"""The exit code is a verdict, so nothing may end with one that nobody gave."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from recovery import __main__ as program

if TYPE_CHECKING:
    import pytest


def test_a_fault_of_the_program_is_no_verdict(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Python would end with 1, which says that a restore point is bad."""

    def broken(_: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(program, "_run", broken)
    assert program.main(["--config", "config.json", "status"]) == 3
    assert "nothing was judged" in caplog.text
    assert "ZeroDivisionError" in caplog.text
    assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
