"""Plays the person who activates SwanLab in the browser, against the stand-in of the embedded cluster.

It gives a root account and a licence, logs in, makes an API key, and keeps the key in the Secret with which checks and
the gate log in. It may run after every deployment: a key that works is left alone. The root password is in the state
directory, beside the database that it belongs to.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import requests

from sandbox.cluster import layout
from sandbox.errors import SandboxError
from sandbox.process import ProgramError, run
from sandbox.programs.build import binary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from sandbox.home import Home
    from sandbox.progress import Progress

SECRET: Final = "swanlab-api-key"  # noqa: S105  # its name
KEY: Final = "api-key"
ACCOUNT_FILE: Final = "swanlab-root.json"
WAIT_SECONDS: Final = 300.0

_USERNAME: Final = "root"
_KEY_NAME: Final = "plumbline-checks"
_KEY_LENGTH: Final = 21
_LICENCE: Final = "the stand-in takes any text; the real server verifies its licence online"
_KUBECTL_SECONDS: Final = 60.0
_ANSWER_SECONDS: Final = 10.0
_PAUSE_SECONDS: Final = 1.0


class Kubectl(Protocol):
    """Runs kubectl with these arguments, hands it `stdin`, returns what it printed. Raises ProgramError."""

    def __call__(self, arguments: Sequence[str], stdin: str | None = None) -> str: ...


@dataclass(frozen=True)
class Account:
    """The root account."""

    username: str
    password: str


def kubectl_of(home: Home, state: Path) -> Kubectl:
    """kubectl as administrator of the embedded cluster of this state."""

    def call(arguments: Sequence[str], stdin: str | None = None) -> str:
        argv = [str(binary(home, "kubectl")), f"--kubeconfig={state}/kubeconfig", f"--context={layout.CONTEXT}"]
        environment = {**layout.direct(os.environ), "HOME": str(state)}
        return run([*argv, *arguments], timeout=_KUBECTL_SECONDS, env=environment, stdin=stdin).stdout

    return call


def activate(
    state: Path,
    kubectl: Kubectl,
    namespace: str,
    base_url: str,
    progress: Progress,
    *,
    wait_seconds: float = WAIT_SECONDS,
) -> None:
    """Make sure that the Secret in SwanLab's namespace holds an API key that logs in.

    state: directory of the cluster's state. base_url: of the gateway, without `/api`. wait_seconds: how long the
    gateway may take to answer. Raises SandboxError when it does not, or when the kept password is not the account's.
    """
    server = _Server(base_url)
    with progress.step("waiting for SwanLab's gateway"):
        _await(server, wait_seconds)
    if server.key_works(_kept_key(kubectl, namespace)):
        return
    with progress.step("activating SwanLab, as a person in the browser would"):
        account = _account(state)
        if server.needs_licence():
            server.licence(account, state)
        key = server.new_key(account, state)
        if not server.key_works(key):
            raise SandboxError(
                f"SwanLab at {server.url} refuses the API key that it just made", "read the logs of its server"
            )
        _keep_key(kubectl, namespace, key)


class _Server:
    """SwanLab's HTTP interface, as its pages and its SDK use it."""

    def __init__(self, base_url: str) -> None:
        self.url = base_url.rstrip("/")
        self._session = requests.Session()
        self._session.trust_env = False

    def call(self, method: str, path: str, **request: Any) -> requests.Response:  # noqa: ANN401  # keywords of requests
        """One request. Raises SandboxError when nobody answers."""
        try:
            return self._session.request(
                method, f"{self.url}/api{path}", timeout=_ANSWER_SECONDS, allow_redirects=False, **request
            )
        except requests.RequestException as error:
            raise SandboxError(
                f"SwanLab at {self.url} does not answer {method} /api{path} ({type(error).__name__})",
                "read the logs of its pods, then run make up again",
            ) from error

    def answers(self) -> bool:
        """Whether `GET /api` says OK, which is what `swanlab ping` asks."""
        try:
            found = self.call("GET", "")
        except SandboxError:
            return False
        return found.ok and found.text.strip() == "OK"

    def key_works(self, key: str) -> bool:
        """Whether an API key logs in. Raises SandboxError when the server fails instead of answering."""
        if not key:
            return False
        found = self.call("POST", "/login/api_key", headers={"authorization": key})
        if found.status_code in (requests.codes.unauthorized, requests.codes.forbidden):
            return False
        _expect(found, "the login with an API key")
        return True

    def needs_licence(self) -> bool:
        """Whether there is no licence, or one that is over."""
        found = self.call("GET", "/self_hosted/info")
        _expect(found, "the question for its licence")
        info = found.json()
        return not info.get("enabled") or bool(info.get("expired"))

    def licence(self, account: Account, state: Path) -> None:
        """Activate, or renew."""
        body = {"username": account.username, "password": account.password, "licence": _LICENCE}
        found = self.call("POST", "/self_hosted/activate", json=body)
        if found.status_code == requests.codes.forbidden:
            raise _locked_out(state)
        _expect(found, "the activation")

    def new_key(self, account: Account, state: Path) -> str:
        """A new API key, in place of older ones of this name: the server keeps no key that it could show again."""
        body = {"username": account.username, "password": account.password}
        login = self.call("POST", "/login", json=body)
        if login.status_code == requests.codes.unauthorized:
            raise _locked_out(state)
        _expect(login, "the login with a password")
        cookies = {"sid": str(login.json()["sid"])}
        listed = self.call("GET", "/user/api_key", cookies=cookies)
        _expect(listed, "the list of API keys")
        for old in listed.json():
            if old.get("name") == _KEY_NAME:
                _expect(self.call("DELETE", f"/user/api_key/{old['id']}", cookies=cookies), "the end of an API key")
        made = self.call("POST", "/user/api_key", json={"name": _KEY_NAME}, cookies=cookies)
        _expect(made, "the wish for an API key")
        key = str(made.json().get("key", ""))
        if len(key) != _KEY_LENGTH or not (key.isascii() and key.isalnum()):
            raise SandboxError(
                f"SwanLab at {self.url} made an API key of another form than {_KEY_LENGTH} letters and digits",
                "SDK 0.7 takes no other: mend sandbox/swanlab_server",
            )
        return key


def _expect(found: requests.Response, what: str) -> None:
    """The text of an answer is left out: it may hold the key."""
    if not found.ok:
        raise SandboxError(
            f"SwanLab answers {what} with status {found.status_code}", "read the logs of its server, then run make up"
        )


def _locked_out(state: Path) -> SandboxError:
    return SandboxError(
        f"the password in {state / ACCOUNT_FILE} is not that of SwanLab's root account",
        "put the file that belongs to this database back, or delete both with the state (make clean)",
    )


def _await(
    server: _Server,
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    deadline = clock() + seconds
    while not server.answers():
        if clock() >= deadline:
            raise SandboxError(
                f"SwanLab's gateway at {server.url} did not answer /api with OK within {seconds:.0f} s",
                "ask the gate: kubectl logs deployment/swanlab-gate in SwanLab's namespace names what is missing",
            )
        sleep(_PAUSE_SECONDS)


def _account(state: Path) -> Account:
    """The root account, made up and kept at first. On the disk before the server knows it: else nobody ever would."""
    path = state / ACCOUNT_FILE
    if not path.exists():
        made = {"username": _USERNAME, "password": secrets.token_urlsafe(24)}
        temporary = path.with_suffix(f".{os.getpid()}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(made, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return Account(str(found["username"]), str(found["password"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SandboxError(
            f"{path} does not hold username and password", "put it back from a copy, or delete the state (make clean)"
        ) from error


def _kept_key(kubectl: Kubectl, namespace: str) -> str:
    """The key in the Secret; empty where there is none, or none that could be read."""
    printed = _run(kubectl, ["-n", namespace, "get", "secret", SECRET, "--ignore-not-found", "-o", "json"])
    if not printed.strip():
        return ""
    data = json.loads(printed).get("data") or {}
    try:
        return base64.b64decode(data.get(KEY, ""), validate=True).decode("ascii").strip()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _keep_key(kubectl: Kubectl, namespace: str, key: str) -> None:
    """By standard input: everybody on the machine can read arguments. Server-side, so that no copy is annotated."""
    manifest = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": SECRET,
            "namespace": namespace,
            "labels": {"app.kubernetes.io/part-of": "plumbline", "app.kubernetes.io/managed-by": "plumbline-sandbox"},
        },
        "type": "Opaque",
        "stringData": {KEY: key},
    }
    words = ["apply", "--server-side", "--force-conflicts", "--field-manager=plumbline-sandbox", "-f", "-"]
    _run(kubectl, words, json.dumps(manifest))


def _run(kubectl: Kubectl, arguments: Sequence[str], stdin: str | None = None) -> str:
    try:
        return kubectl(arguments, stdin)
    except ProgramError as error:
        raise SandboxError(
            f"Secret {SECRET} cannot be {'written' if stdin else 'read'}: {error}", "is the cluster up? run make up"
        ) from error
