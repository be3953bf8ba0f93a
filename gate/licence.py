"""What the server says of its licence.

`GET /api/self_hosted/info` answers `enabled`, `expired`, `root`, `plan`, `seats`: these are all fields that the SDK
knows (swanlab 0.8.4 and 0.10.3, swanlab/api/typings/selfhosted.py), and no date is among them. A server that tells one
names it `expiredAt` as in the answer to a login; then there are days left, else that number is unknown.
"""

from __future__ import annotations

import logging
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import requests

from gate.model import Licence
from gate.probes import session

if TYPE_CHECKING:
    from pathlib import Path

_log = logging.getLogger(__name__)
_DAY: Final = timedelta(days=1)
_REFUSED: Final = (401, 403)


class LicenceReader:
    """Asks for the licence, logged in where there is a key. It keeps its session: each login is one more to store."""

    def __init__(self, url: str, key_file: Path | None, timeout: float) -> None:
        """url: address of the server without `/api`. timeout: seconds."""
        self._url = url.rstrip("/")
        self._key_file = key_file
        self._timeout = timeout
        self._sid = ""

    def read(self, now: datetime) -> Licence:
        """The licence at this moment; of state `unknown` when the server does not tell."""
        try:
            return parse(self._info(), now)
        except (requests.RequestException, ValueError) as error:
            _log.warning("the server does not tell its licence: %s", type(error).__name__)
            return Licence()

    def _info(self) -> object:
        """Refused with a session it is asked for anew; refused without a key the answer says so by itself."""
        if not self._sid:
            self._sid = self._login()
        answer = self._ask()
        if answer.status_code in _REFUSED and self._sid:
            self._sid = self._login()
            answer = self._ask()
        answer.raise_for_status()
        return answer.json()

    def _ask(self) -> requests.Response:
        cookies = {"sid": self._sid} if self._sid else {}
        with session() as client:
            return client.get(
                f"{self._url}/api/self_hosted/info", cookies=cookies, timeout=self._timeout, allow_redirects=False
            )

    def _login(self) -> str:
        """A session, empty where there is no key or it is refused: an unlicensed server lets nobody in."""
        key = self._key()
        if not key:
            return ""
        with session() as client:
            answer = client.post(
                f"{self._url}/api/login/api_key",
                headers={"authorization": key},
                timeout=self._timeout,
                allow_redirects=False,
            )
        if not answer.ok:
            _log.warning("the API key is refused with status %d", answer.status_code)
            return ""
        body = answer.json()
        return str(body.get("sid", "")) if isinstance(body, dict) else ""

    def _key(self) -> str:
        """It is written after activation, long after this program began; None of it ever reaches a log."""
        if self._key_file is None:
            return ""
        try:
            key = self._key_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return ""
        return key if key.isascii() and key.isprintable() else ""


class Shown:
    """The licence as it was last read, shared by threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._licence = Licence()

    def put(self, licence: Licence) -> None:
        """Replace it."""
        with self._lock:
            self._licence = licence

    def get(self) -> Licence:
        """The last one."""
        with self._lock:
            return self._licence


def parse(info: object, now: datetime) -> Licence:
    """The licence in an answer. Raises ValueError when it is none."""
    fields: dict[str, Any] = info if isinstance(info, dict) else {}
    enabled, seats = fields.get("enabled"), fields.get("seats")
    if enabled not in (True, False):
        raise ValueError("no field `enabled`")
    return Licence(
        state=_state(fields),
        days_left=_days(fields.get("expiredAt"), now) if enabled else None,
        seats=seats if isinstance(seats, int) and not isinstance(seats, bool) else None,
    )


def _state(info: dict[str, Any]) -> Any:  # noqa: ANN401  # one of model.STATES, which Licence narrows
    if not info["enabled"]:
        return "inactive"
    # One that does not say whether it has run out is not taken for one that has not.
    known = {True: "expired", False: "active"}
    expired = info.get("expired")
    return known[expired] if isinstance(expired, bool) else "unknown"


def _days(text: object, now: datetime) -> float | None:
    """Days from now to an instant in ISO 8601, negative afterwards; None when there is none."""
    if not isinstance(text, str):
        return None
    try:
        end = datetime.fromisoformat(text)
    except ValueError:
        return None
    return ((end if end.tzinfo else end.replace(tzinfo=UTC)) - now) / _DAY
