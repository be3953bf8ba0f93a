"""The licence: every answer that a server may give, with and without a key."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from gate.licence import LicenceReader, parse
from gate.model import Licence
from tests.offline.gate.servers import web

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
ACTIVE = {"enabled": True, "expired": False, "root": False, "plan": "free", "seats": 5}
KEY = "abcdefghijklmnopqrstu"


@pytest.mark.parametrize(
    ("info", "state", "days", "seats"),
    [
        (ACTIVE, "active", None, 5),
        ({**ACTIVE, "expiredAt": "2026-11-11T00:00:00.000Z"}, "active", 9.5, 5),
        ({**ACTIVE, "expired": True, "expiredAt": "2026-10-31T12:00:00.000Z"}, "expired", -1.0, 5),
        ({**ACTIVE, "expiredAt": "2026-11-02T12:00:00"}, "active", 1.0, 5),
        ({**ACTIVE, "expiredAt": None}, "active", None, 5),
        ({**ACTIVE, "expiredAt": "never"}, "active", None, 5),
        ({**ACTIVE, "seats": "many"}, "active", None, None),
        ({"enabled": True, "seats": 5}, "unknown", None, 5),
        ({**ACTIVE, "expired": None}, "unknown", None, 5),
        ({**ACTIVE, "expired": "no"}, "unknown", None, 5),
        ({"enabled": False, "expired": False, "seats": 0}, "inactive", None, 0),
    ],
)
def test_what_an_answer_says(info: dict[str, Any], state: str, days: float | None, seats: int | None) -> None:
    found = parse(info, NOW)
    assert (found.state, found.days_left, found.seats) == (state, days, seats)


@pytest.mark.parametrize("info", [None, [], "OK", {}, {"enabled": "yes"}, {"enabled": None}])
def test_what_is_no_answer(info: object) -> None:
    with pytest.raises(ValueError, match="enabled"):
        parse(info, NOW)


def test_logged_in_once_and_the_session_is_kept(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{KEY}\n", encoding="utf-8")
    with web() as server:
        server.answers["POST /api/login/api_key"] = (200, {"sid": "s1"})
        server.answers["GET /api/self_hosted/info"] = (200, ACTIVE)
        reader = LicenceReader(f"{server.url}/", tmp_path / "key", 5)
        assert [reader.read(NOW).state, reader.read(NOW).state] == ["active", "active"]
    assert [line for line, _ in server.seen].count("POST /api/login/api_key") == 1
    assert server.seen[0][1]["authorization"] == KEY
    assert server.seen[1][1]["cookie"] == "sid=s1"


def test_session_that_ended_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY, encoding="utf-8")
    with web() as server:
        server.answers["POST /api/login/api_key"] = (200, {"sid": "s1"})
        server.answers["GET /api/self_hosted/info"] = (401, {})
        reader = LicenceReader(server.url, tmp_path / "key", 5)
        assert reader.read(NOW) == Licence()
        server.answers["POST /api/login/api_key"] = (200, {"sid": "s2"})
        server.answers["GET /api/self_hosted/info"] = (200, ACTIVE)
        assert reader.read(NOW).state == "active"


def test_before_activation_there_is_no_key_and_the_server_says_so() -> None:
    with web() as server:
        server.answers["GET /api/self_hosted/info"] = (200, {"enabled": False, "expired": False})
        assert LicenceReader(server.url, None, 5).read(NOW).state == "inactive"
    assert [line for line, _ in server.seen] == ["GET /api/self_hosted/info"]


def test_key_that_comes_later_is_used_then(tmp_path: Path) -> None:
    with web() as server:
        server.answers["POST /api/login/api_key"] = (200, {"sid": "s1"})
        server.answers["GET /api/self_hosted/info"] = (200, {"enabled": False})
        reader = LicenceReader(server.url, tmp_path / "key", 5)
        reader.read(NOW)
        (tmp_path / "key").write_text(KEY, encoding="utf-8")
        reader.read(NOW)
    assert server.seen[-1][1].get("cookie") == "sid=s1"


def test_refused_key_does_not_hide_what_the_server_tells_anybody(tmp_path: Path) -> None:
    """An expired licence lets nobody in, and that is when its state matters."""
    (tmp_path / "key").write_text(KEY, encoding="utf-8")
    with web() as server:
        server.answers["POST /api/login/api_key"] = (401, {"code": "Licence_Expired"})
        server.answers["GET /api/self_hosted/info"] = (200, {**ACTIVE, "expired": True})
        assert LicenceReader(server.url, tmp_path / "key", 5).read(NOW).state == "expired"


@pytest.mark.parametrize("answer", [(500, {}), (200, "<html>"), (200, []), (302, "")])
def test_server_that_does_not_tell_is_unknown(answer: tuple[int, Any]) -> None:
    with web() as server:
        server.answers["GET /api/self_hosted/info"] = answer
        assert LicenceReader(server.url, None, 5).read(NOW) == Licence(state="unknown")


def test_key_is_never_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "key").write_text(KEY, encoding="utf-8")
    with web() as server, caplog.at_level("DEBUG"):
        reader = LicenceReader(server.url, tmp_path / "key", 5)
        reader.read(NOW)
        server.answers["POST /api/login/api_key"] = (500, KEY)
        reader.read(NOW)
    assert caplog.records
    assert KEY not in caplog.text


def test_file_that_holds_no_key_is_no_key(tmp_path: Path) -> None:
    with web() as server:
        server.answers["GET /api/self_hosted/info"] = (200, ACTIVE)
        for content in (b"\xff\xfe", b"two\nlines", b"  \n"):
            (tmp_path / "key").write_bytes(content)
            assert LicenceReader(server.url, tmp_path / "key", 5).read(NOW).state == "active"
    assert not [line for line, _ in server.seen if line.startswith("POST")]
