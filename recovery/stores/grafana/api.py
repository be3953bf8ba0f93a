"""Asks Grafana's HTTP API: nothing but the JSON of a whole answer counts as one."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote

import requests
from pydantic import TypeAdapter, ValidationError
from requests.auth import HTTPBasicAuth

from recovery import secret_files
from recovery.errors import RecoveryError, RefusedError
from recovery.stores.grafana.answers import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recovery.stores.grafana.settings import Settings

_SECONDS: Final = 60
_NOT_FOUND: Final = 404
_UNAUTHORIZED: Final = 401
_FAILURES: Final = 500
_ERRORS: Final = 300
"""Redirections too: Grafana leads strangers to its page of login, and that answers with 200."""
_SHOWN: Final = 200
_ATTEMPTS: Final = 5
_MAIN: Final = "1"
"""Number of the organisation that every Grafana begins with."""
Query = dict[str, "str | int"]


Found = TypeVar("Found", bound=Answer)


class Api:
    """One Grafana, asked as its administrator. The password is read once, and shown by nothing."""

    def __init__(self, settings: Settings) -> None:
        self.name = settings.name
        self._settings = settings
        self._session = requests.Session()
        # Neither a proxy nor a password of the environment: the address is one of the cluster.
        self._session.trust_env = False
        # Else it is the one that the administrator switched to last.
        self._session.headers["X-Grafana-Org-Id"] = _MAIN
        password = secret_files.read(settings.password_file, f"the password of store {settings.name}")
        # As bytes: of letters beyond Latin-1 requests knows no spelling.
        self._session.auth = HTTPBasicAuth(settings.login.encode(), password.encode())

    def get(self, path: str, query: Query | None = None) -> Any:  # noqa: ANN401  # JSON of the API
        """What is there. Raises RecoveryError for every status but success, and for what is no JSON."""
        return self._read("GET", path, self._ask("GET", path, query=query))

    def find(self, path: str) -> Any | None:  # noqa: ANN401  # JSON of the API
        """The same, None if it is not there any more. Of that Grafana itself must say so, and not who stands before."""
        answer = self._ask("GET", path, missing=True)
        found = self._read("GET", path, answer)
        if answer.status_code == _NOT_FOUND:
            return None
        if found is None:
            raise RecoveryError(
                f"{self.name}: GET {path} has another shape than Grafana 11.6 gives it; nothing was taken"
            )
        return found

    def send(self, method: str, path: str, body: object) -> Any:  # noqa: ANN401  # JSON of the API
        """Change something. Raises RecoveryError, and RefusedError where nothing was changed for certain."""
        return self._read(method, path, self._ask(method, path, body=body))

    def delete(self, path: str) -> None:
        """Delete something; what is gone already is gone. Raises RecoveryError."""
        self._ask("DELETE", path, missing=True)

    def shaped(self, shape: type[Found], found: object, what: str) -> Found:
        """What is used of an answer. Raises RecoveryError if it is not there: it would be lost."""
        try:
            return shape.model_validate(found)
        except ValidationError as error:
            raise self._misshapen(what, error) from None

    def listed(self, shape: type[Found], found: object, what: str) -> list[Found]:
        """A list of such. Raises RecoveryError."""
        try:
            return TypeAdapter(list[shape]).validate_python(found)  # type: ignore[valid-type]  # a type of a variable
        except ValidationError as error:
            raise self._misshapen(what, error) from None

    def everything(self, path: str, size: Query, under: tuple[str, ...], name: Callable[[Any], object]) -> list[Any]:
        """Every page of a list. size: parameter that asks for a page's size. under: keys that lead to its entries.

        What is deleted while pages are turned moves another entry onto a page that was read, and may leave none behind
        it. So a list is read until two readings are equal. Raises RecoveryError.
        """
        found = self._once(path, size, under, name)
        for _ in range(_ATTEMPTS):
            again = self._once(path, size, under, name)
            if {name(one) for one in again} == {name(one) for one in found}:
                return again
            found = again
        raise RecoveryError(f"{self.name}: the list of {path} changed each time it was read; nothing was taken")

    def _once(self, path: str, size: Query, under: tuple[str, ...], name: Callable[[Any], object]) -> list[Any]:
        found = dict[object, Any]()
        for page in self._pages(path, size, under):
            new = {name(one): one for one in page}
            if not new.keys() - found.keys():
                raise RecoveryError(f"{self.name}: {path} gives the same page twice; Grafana 11.6 knows `page`")
            found |= new
        return list(found.values())

    def _pages(self, path: str, size: Query, under: tuple[str, ...]) -> Iterator[list[Any]]:
        """Up to the first page that is empty: how large one may be is the server's own affair."""
        for page in count(1):
            found = self.get(path, {**size, "page": page})
            for key in under:
                found = found.get(key) if isinstance(found, dict) else None
            if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
                raise RecoveryError(f"{self.name}: {path} does not answer with a list; name a Grafana")
            if not found:
                return
            yield found

    def _ask(
        self, method: str, path: str, *, query: Query | None = None, body: object = None, missing: bool = False
    ) -> requests.Response:
        """missing: whether it may be."""
        url = f"{self._settings.url.rstrip('/')}{path}"
        try:
            answer = self._session.request(
                method, url, params=query, json=body, timeout=_SECONDS, allow_redirects=False
            )
        except requests.RequestException as error:
            raise RecoveryError(
                f"{self.name}: {method} {url} failed: {type(error).__name__}; Grafana must be reachable, and answer "
                "as a whole"
            ) from None
        if answer.status_code >= _ERRORS and not (missing and answer.status_code == _NOT_FOUND):
            kind = RefusedError if answer.status_code < _FAILURES else RecoveryError
            raise kind(f"{self.name}: {method} {url} answers {answer.status_code}: {self._why(answer)}")
        return answer

    def _why(self, answer: requests.Response) -> str:
        if answer.status_code == _UNAUTHORIZED:
            return (
                f"{self._settings.password_file} does not hold the password of account {self._settings.login}, or too "
                "many were wrong in the last five minutes; it must be the one that Grafana was started with"
            )
        try:
            found = answer.json()
        except ValueError:
            return "no JSON; name a Grafana"
        return str(found.get("message", ""))[:_SHOWN] if isinstance(found, dict) else "no message"

    def _read(self, method: str, path: str, answer: requests.Response) -> Any:  # noqa: ANN401  # JSON of the API
        try:
            return answer.json()
        except ValueError:
            raise RecoveryError(
                f"{self.name}: {method} {path} answers with something that is no JSON; name a Grafana"
            ) from None

    def _misshapen(self, what: str, error: ValidationError) -> RecoveryError:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        return RecoveryError(
            f"{self.name}: {what} has another shape than Grafana 11.6 gives it ({where}); nothing was taken"
        )


def within(text: str) -> str:
    """A name as part of a path."""
    return quote(text, safe="")
