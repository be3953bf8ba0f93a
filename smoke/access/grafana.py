"""Grafana over its HTTP API: as a stranger, as its administrator, and with a password that must be refused.

Grafana counts wrong passwords by the name that was typed, in lower case, whichever way they came, basic authentication
too: after five within five minutes it refuses that name for as long, the right password included. A name that nobody
has is not counted, and neither is an attempt that is refused because of the lock. The account is found by its login
and by its e-mail address, and each of the two has a count of its own. So that people are never locked out of `admin`:

- The password of the Secret is tried by the e-mail address first. Once it was accepted, `admin` is typed with it,
  which is not counted. Where it was refused, `admin` is typed once in a run, and nothing more.
- What must be refused is tried by the e-mail address, once in a run, or by a name that nobody has.
- Before `admin` is typed, both have been counted on the e-mail address. So that is locked before `admin` is, of which
  at most three attempts fall into five minutes. While it is locked, `admin` is not typed: the lock's end is awaited.

The last holds as long as the account keeps the e-mail address that Grafana gave it. Where people have changed it, the
password is typed as `admin` once in each run, which is counted only if it is wrong.
"""

from __future__ import annotations

import base64
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

import requests

from smoke import limits
from smoke.access.errors import RefusedError, UnreachableError
from smoke.access.http import SERVER_ERROR, Client
from smoke.redact import remember

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]
Parsed = TypeVar("Parsed")

NAME: Final = "admin"
EMAIL: Final = "admin@localhost"
"""What Grafana gives the account that it makes at its first start."""
DEFAULT_PASSWORD: Final = "admin"  # noqa: S105  # everybody's, and to be refused
OK, UNAUTHORIZED, NOT_FOUND = 200, 401, 404
LOCKED: Final = "login-attempt.blocked"
PAGE: Final = 1000
PAGES_AT_MOST: Final = 50
WHO: Final = "/api/user"


@dataclass(frozen=True)
class Reply:
    """One answer, whatever its status. found: its JSON, None if it is none. location: path that it leads on to."""

    status: int
    text: str
    found: Any
    location: str

    @property
    def word(self) -> str:
        """Grafana's own name of an error, empty without one."""
        return str(self.found.get("messageId") or "") if isinstance(self.found, dict) else ""

    def __str__(self) -> str:
        said = self.found.get("message") if isinstance(self.found, dict) else self.text
        more = f" to {self.location}" if self.location else ""
        return f"HTTP {self.status}{more}: {str(said)[:200]}"


@dataclass(frozen=True)
class Login:
    """secret: where the password is, for people. password: reads it."""

    secret: str
    password: Callable[[], str]


@dataclass
class _Session:
    """What this run knows of its login.

    name: that is typed, once the password was accepted. refused: names by which it was refused. tried: who → name that
    was typed with a wrong password, and the answer. nobody: a name that no account has.
    """

    name: str = ""
    password: str = field(default="", repr=False)
    email: str = EMAIL
    refused: set[str] = field(default_factory=set)
    tried: dict[str, tuple[str, Reply]] = field(default_factory=dict)
    nobody: str = ""


class LockedError(UnreachableError):
    """Too many wrong passwords were counted; it ends by itself."""


class Grafana(Client):
    """One Grafana. Raises UnreachableError and RefusedError from every method; LockedError while a lock lasts."""

    def __init__(
        self,
        name: str,
        locate: Callable[[], str],
        broken: Callable[[], None],
        *,
        login: Login,
        use_proxies: bool = False,
    ) -> None:
        super().__init__(name, locate, broken, use_proxies=use_proxies)
        self._login = login
        self._self = _Session()

    def stranger(self, path: str) -> Reply:
        """What somebody without a password gets; redirections are not followed. Raises UnreachableError alone."""
        return self._request("GET", path, None)

    def sign_in(self) -> None:
        """See that the Secret's password is accepted. What was refused is not asked again."""
        if self._self.name:
            return
        password = self._login.password()
        if not self._accepted(EMAIL, password):
            self.refusals()
            if not self._accepted(NAME, password):
                message = (
                    f"the password of {self._login.secret} is refused for {NAME}; it is not tried again in this run"
                )
                raise RefusedError(f"{self.name} {WHO}", message, UNAUTHORIZED)

    def refusals(self) -> dict[str, Reply]:
        """What is answered to passwords that must be refused, each tried once in a run: who → answer."""
        nobody = f"plumbline-nobody-{secrets.token_hex(8)}"
        # Under another address than before nothing was tried yet: an account that there is not refuses anything.
        self._try("the default login", self._self.email or EMAIL, DEFAULT_PASSWORD)
        self._try("a login of nobody", self._self.nobody or nobody, secrets.token_hex(16))
        self._self.nobody = self._self.nobody or nobody
        return {who: reply for who, (_, reply) in self._self.tried.items()}

    @property
    def email(self) -> str:
        """E-mail address of the account, empty if it has none; Grafana's own as long as nobody has signed in."""
        return self._self.email

    def get(self, path: str, params: dict[str, str] | None = None) -> Reply:
        """Answer to a GET of the administrator, whatever its status."""
        return self._signed("GET", path, params=params)

    def read(self, path: str, kind: type[Parsed], params: dict[str, str] | None = None) -> Parsed:
        """The JSON of a good answer, which must be of a kind."""
        return self._parsed(path, self.get(path, params), kind)

    def find(self, path: str) -> Json | None:
        """The object at a path, None if there is none."""
        reply = self.get(path)
        return None if reply.status == NOT_FOUND else self._parsed(path, reply, dict)

    def listed(self) -> list[Json]:
        """Every dashboard, as search tells of it: uid, title, tags, folderUid."""
        found: list[Json] = []
        for page in range(1, PAGES_AT_MOST + 1):
            params = {"type": "dash-db", "limit": str(PAGE), "page": str(page)}
            part = self.read("/api/search", list, params)
            found += part
            if len(part) < PAGE:
                return found
        raise UnreachableError(f"{self.name} /api/search", f"more than {PAGES_AT_MOST} pages")

    def query(self, body: Json) -> Reply:
        """Answer to the queries of one panel, as its page posts them."""
        return self._signed("POST", "/api/ds/query", body=body)

    def _signed(
        self, method: str, path: str, *, params: dict[str, str] | None = None, body: Json | None = None
    ) -> Reply:
        self.sign_in()
        reply = self._request(method, path, (self._self.name, self._self.password), params=params, body=body)
        self._unlocked(path, reply)
        if reply.status == UNAUTHORIZED:
            # Asked again, each answer would count as one more wrong password. It is Grafana's own: what a store
            # refuses with 401 comes through the proxy as 400.
            self._self.refused.update((EMAIL, NAME))
            self._self.name = ""
            raise RefusedError(
                f"{self.name} {path}", f"the password is refused that was accepted: {reply}", UNAUTHORIZED
            )
        return reply

    def _accepted(self, name: str, password: str) -> bool:
        if name in self._self.refused:
            return False
        remember(base64.b64encode(f"{name}:{password}".encode()).decode())
        reply = self._request("GET", WHO, (name, password))
        self._unlocked(WHO, reply)
        if reply.status == UNAUTHORIZED:
            self._self.refused.add(name)
            return False
        account = self._parsed(WHO, reply, dict)
        # From here on the password is known to be right for the account, so that its own name is never counted; and
        # what the address counts, of a wrong password that is tried on purpose, does not lock this run out.
        self._self.name, self._self.password = str(account.get("login") or name), password
        self._self.email = str(account.get("email") or "")
        return True

    def _try(self, who: str, name: str, password: str) -> None:
        if self._self.tried.get(who, ("",))[0] == name:
            return
        reply = self._request("GET", WHO, (name, password))
        if reply.status >= SERVER_ERROR:
            raise UnreachableError(f"{self.name} {WHO}", str(reply))
        self._unlocked(WHO, reply)
        self._self.tried[who] = (name, reply)

    def _unlocked(self, path: str, reply: Reply) -> None:
        if reply.word == LOCKED:
            raise LockedError(f"{self.name} {path}", "locked after wrong passwords; this ends within five minutes")

    def _parsed(self, path: str, reply: Reply, kind: type[Parsed]) -> Parsed:
        subject = f"{self.name} {path}"
        if reply.status >= SERVER_ERROR:
            raise UnreachableError(subject, str(reply))
        if reply.status != OK:
            raise RefusedError(subject, str(reply), reply.status)
        if not isinstance(reply.found, kind):
            raise UnreachableError(subject, f"the answer is not its JSON: {reply.text[:80]}")
        return reply.found

    def _request(
        self,
        method: str,
        path: str,
        login: tuple[str, str] | None,
        *,
        params: dict[str, str] | None = None,
        body: Json | None = None,
    ) -> Reply:
        # What an answer sets must not make a later stranger's question one of a session.
        self._session.cookies.clear()
        try:
            answer = self._session.request(
                *(method, self._locate() + path),
                params=params,
                json=body,
                # Without one, requests looks for a password of this host in the caller's home.
                auth=login or _nobody,
                headers={"Accept": "application/json"} if path.startswith("/api/") else {},
                allow_redirects=False,
                timeout=(limits.CONNECT, limits.REQUEST),
            )
        except requests.RequestException as error:
            self._broken()
            raise UnreachableError(f"{self.name} {path}", f"{type(error).__name__}: {error}") from error
        return Reply(answer.status_code, answer.text, _json(answer), urlsplit(answer.headers.get("Location", "")).path)


def _nobody(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _json(answer: requests.Response) -> Any:  # noqa: ANN401  # whatever it is
    try:
        return answer.json()
    except ValueError:
        return None
