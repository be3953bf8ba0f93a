"""Requests to SwanLab's gateway: a session begun by an API key, and answers that are what they should be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urljoin, urlsplit

import requests

from smoke import limits
from smoke.access.errors import RefusedError, UnreachableError
from smoke.access.http import Client, accepted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Json = dict[str, Any]
Parsed = TypeVar("Parsed")

UNAUTHORIZED = 401
NOT_FOUND = 404
# Sizes of a page are a closed list; this is the largest.
PAGE = 100
# A page that answers the same for ever must not keep a check for ever.
PAGES_AT_MOST = 1000
PIECE = 65536


class Gateway(Client):
    """One installation, through its gateway.

    key: gives the API key at each login. Raises UnreachableError (no answer, 5xx, an answer that is not understood)
    and RefusedError from every method.
    """

    def __init__(
        self,
        name: str,
        locate: Callable[[], str],
        broken: Callable[[], None],
        *,
        key: Callable[[], str],
        use_proxies: bool = False,
    ) -> None:
        super().__init__(name, locate, broken, use_proxies=use_proxies)
        self._key = key
        self._sid = ""
        self._user = ""

    @property
    def address(self) -> str:
        """Base address by which this client asks now: scheme, host and port."""
        return self._locate()

    @property
    def uses_proxies(self) -> bool:
        """Whether the proxies that the environment names are meant for that address."""
        return self._session.trust_env

    def user(self) -> str:
        """Name of the account that the key belongs to."""
        self._ensure_login()
        return self._user

    def log_in(self, key: str) -> Json:
        """Log in with any key: `sid`, `expiredAt`, `userInfo`. It leaves the own session as it is."""
        return parsed(
            self.name, "/api/login/api_key", self._send("POST", "/api/login/api_key", authorization=key), dict
        )

    def stranger(self, path: str) -> tuple[int, str]:
        """HTTP status and text that somebody without a session gets for a GET, redirections not followed.

        Raises UnreachableError alone.
        """
        try:
            answer = self._send("GET", path, follow=False)
        except RefusedError as error:
            return error.status, ""
        return answer.status_code, answer.text

    def body(self, path: str, size: int) -> int:
        """HTTP status that a session gets for a POST of `size` bytes, sent in pieces: blanks around an empty object.

        Raises UnreachableError alone, also where the connection is cut.
        """
        self._ensure_login()
        try:
            url, json = self._locate() + path, {"content-type": "application/json"}
            more = {"data": Blanks(size), "headers": json}
            return self._request("POST", url, f"{self.name} {path}", session=True, **more).status_code
        except RefusedError as error:
            if error.status == UNAUTHORIZED:
                self._sid = ""
            return error.status

    def fetch(self, address: str, what: str) -> bytes:
        """What lies at an address that the server gave: relative to the gateway, or on another host.

        Another host is a stranger: it is shown no session. The address itself is never told, for its query is a key.
        """
        base = self._locate()
        url = urljoin(f"{base}/", address)
        own = urlsplit(url)[:2] == urlsplit(base)[:2]
        subject = f"{self.name} {what} at {urlsplit(url).netloc}"
        answer = self._request("GET", url, subject, session=own and "X-Amz-" not in url)
        return bytes(answer.content)

    def _pages(self, path: str) -> Iterator[Json]:
        for page in range(1, PAGES_AT_MOST + 1):
            answer = self._read("GET", path, dict, params={"page": str(page), "size": str(PAGE)})
            found = answer.get("list")
            if not isinstance(found, list):
                raise UnreachableError(f"{self.name} {path}", "the answer has no list")
            yield from found
            if not found or page >= int(answer.get("pages") or 1):
                return
        raise UnreachableError(f"{self.name} {path}", f"more than {PAGES_AT_MOST} pages")

    def _delete(self, path: str) -> None:
        try:
            self._call("DELETE", path)
        except RefusedError as error:
            if error.status != NOT_FOUND:
                raise

    def _read(
        self,
        method: str,
        path: str,
        kind: type[Parsed],
        *,
        params: dict[str, str] | None = None,
        json: Json | None = None,
    ) -> Parsed:
        return parsed(self.name, path, self._call(method, path, params=params, json=json), kind)

    def _call(
        self, method: str, path: str, *, params: dict[str, str] | None = None, json: Json | None = None
    ) -> requests.Response:
        """A request of a session; one that has ended in between is begun anew, once."""
        self._ensure_login()
        try:
            return self._send(method, path, params=params, json=json, session=True)
        except RefusedError as error:
            if error.status != UNAUTHORIZED:
                raise
        self._sid = ""
        self._ensure_login()
        return self._send(method, path, params=params, json=json, session=True)

    def _ensure_login(self) -> None:
        if not self._sid:
            found = self.log_in(self._key())
            self._user = str(field(self.name, field(self.name, found, "userInfo"), "username"))
            self._sid = str(field(self.name, found, "sid"))

    def _send(
        self,
        method: str,
        path: str,
        *,
        params: dict[str, str] | None = None,
        json: Json | None = None,
        session: bool = False,
        authorization: str | None = None,
        follow: bool = True,
    ) -> requests.Response:
        more = {"params": params, "json": json, "allow_redirects": follow}
        more |= {} if authorization is None else {"headers": {"authorization": authorization}}
        return self._request(method, self._locate() + path, f"{self.name} {path}", session=session, **more)

    def _request(
        self,
        method: str,
        url: str,
        subject: str,
        *,
        session: bool,
        **more: Any,  # noqa: ANN401  # as requests takes them
    ) -> requests.Response:
        headers = {**more.pop("headers", {}), **({"Cookie": f"sid={self._sid}"} if session else {})}
        # What an answer sets must not make a later stranger's question one of this session.
        self._session.cookies.clear()
        try:
            answer = self._session.request(
                method, url, headers=headers, timeout=(limits.CONNECT, limits.REQUEST), **more
            )
        except requests.RequestException as error:
            self._broken()
            # The words of requests quote the address, and a signed one is a key.
            raise UnreachableError(subject, f"no answer ({type(error).__name__})") from error
        return accepted(subject, answer)


class Blanks:
    """A file of blanks that ends with an empty JSON object. It is never in memory as a whole."""

    END = b"{}"

    def __init__(self, size: int) -> None:
        """size: bytes."""
        self._left = max(size, len(self.END))

    def __len__(self) -> int:
        """Bytes that are not read yet, by which a request tells its length."""
        return self._left

    def __iter__(self) -> Iterator[bytes]:
        """By this requests tells a file from a text."""
        while piece := self.read(PIECE):
            yield piece

    def read(self, size: int = -1) -> bytes:
        """As any file's."""
        count = self._left if size < 0 else min(size, self._left)
        end = max(0, count - max(0, self._left - len(self.END)))
        done = len(self.END) - min(self._left, len(self.END))
        self._left -= count
        return b" " * (count - end) + self.END[done : done + end]


def parsed(name: str, path: str, answer: requests.Response, kind: type[Parsed]) -> Parsed:
    """The answer's JSON, which must be of a kind. Raises UnreachableError."""
    try:
        found = answer.json()
    except ValueError as error:
        raise UnreachableError(f"{name} {path}", "the answer is not its JSON") from error
    if not isinstance(found, kind):
        raise UnreachableError(f"{name} {path}", f"the answer is a {type(found).__name__}, not its JSON")
    return found


def field(name: str, found: object, key: str) -> Any:  # noqa: ANN401  # fields differ in type
    """A field of an answer. Raises UnreachableError when it is not there."""
    if not isinstance(found, dict) or found.get(key) is None:
        raise UnreachableError(name, f"an answer lacks {key!r}")
    return found[key]
