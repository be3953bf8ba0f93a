"""A round trip whose start fails once is started again, and one that never starts is not taken for one that ended."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from smoke import poll
from smoke.access.errors import UnreachableError
from smoke.model import CheckFailedError
from smoke.proofs import roundtrip

if TYPE_CHECKING:
    from smoke.model import Problem


class Place:
    """Where nothing runs. failures: how many starts fail."""

    name = "a place"

    def __init__(self, failures: int) -> None:
        self.failures, self.told = failures, list[str]()

    def clear(self) -> None:
        """Nothing to remove."""

    def start(self, _: dict[str, Any]) -> None:
        """Fail as often as wanted."""
        self.told.append("start")
        if self.told.count("start") <= self.failures:
            raise UnreachableError("API server", "no answer")

    def running(self) -> list[Problem]:
        """Ended at once."""
        return []

    def printed(self) -> str:
        """No result."""
        return ""

    def stop(self) -> None:
        """Say so."""
        self.told.append("stop")


@pytest.fixture(autouse=True)
def _nothing_to_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roundtrip, "SwanLabReader", lambda _: SimpleNamespace(sweep=lambda *_: 0))


def proof(place: Place) -> roundtrip.Roundtrip:
    """The proof in that place."""
    stack: Any = SimpleNamespace(swanlab=None)
    return roundtrip.Roundtrip(stack, place)


def test_a_start_that_failed_is_made_anew_after_its_remains_are_gone() -> None:
    place = Place(failures=1)
    own = proof(place)
    with pytest.raises(UnreachableError):
        own.begin()
    assert "not started" in str(own.advance()[0])
    poll.fetch(own.begin)
    own.begin()
    assert place.told == ["stop", "start", "stop", "start"]
    assert "PLUMBLINE-RESULT" in str(own.advance()[0])


def test_a_start_that_fails_for_ever_tells_why(monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(failures=99)
    own = proof(place)
    monkeypatch.setattr("smoke.limits.POLL_EVERY", 0.01)
    with pytest.raises(CheckFailedError, match="API server"):
        poll.fetch(own.begin, 0.05)
    own.end()
    assert place.told[-1] == "stop"
