"""Activation: what it does to a server that behaves as the stand-in's routes do, and to the Secret."""

from __future__ import annotations

import base64
import io
import json
import stat
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from sandbox.activation import ACCOUNT_FILE, activate
from sandbox.errors import SandboxError
from sandbox.process import ProgramError
from sandbox.progress import Progress
from tests.offline.serving import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

NAMESPACE = "plumbline-swanlab"


class Swanlab:
    """Accounts, licence and keys, in memory."""

    def __init__(self) -> None:
        self.up = True
        self.password = ""
        self.enabled = self.expired = False
        self.keys: dict[str, str] = {}
        self.made = 0
        self.url = ""
        self.asked: list[str] = []
        self.broken = ""

    def answer(self, line: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[int, Any]:
        """What the server says. headers: names in lower case."""
        self.asked.append(line)
        if not self.up or line == self.broken:
            return 502, {}
        licensed = self.enabled and not self.expired
        refused: tuple[int, Any] = (401, {})
        open_to_all: dict[str, Callable[[], tuple[int, Any]]] = {
            "GET /api": lambda: (200, "OK"),
            "GET /api/self_hosted/info": lambda: (200, {"enabled": self.enabled, "expired": self.expired}),
            "POST /api/self_hosted/activate": lambda: self._activate(body),
            "POST /api/login/api_key": lambda: (
                (200, {"sid": "k"}) if licensed and headers["authorization"] in self.keys else refused
            ),
            "POST /api/login": lambda: (
                (200, {"sid": "p"}) if licensed and body["password"] == self.password else refused
            ),
        }
        if line in open_to_all:
            return open_to_all[line]()
        return self._keys(line) if "sid=p" in headers.get("cookie", "") else refused

    def _activate(self, body: dict[str, Any]) -> tuple[int, Any]:
        if self.enabled and body["password"] != self.password:
            return 403, {}
        self.password, self.enabled, self.expired = body["password"], bool(body["licence"]), False
        return 201, {"enabled": True}

    def _keys(self, line: str) -> tuple[int, Any]:
        method, _, path = line.partition(" ")
        if method == "GET":
            return 200, [{"id": number, "name": name} for number, name in enumerate(self.keys.values())]
        if method == "DELETE":
            del self.keys[list(self.keys)[int(path.rpartition("/")[2])]]
            return 204, ""
        self.made += 1
        key = f"{self.made:021d}"
        self.keys[key] = "plumbline-checks"
        return 201, {"key": key}


class Cluster:
    """kubectl with one Secret. written: what each apply was told, words and standard input."""

    def __init__(self) -> None:
        self.secret: dict[str, Any] | None = None
        self.written: list[tuple[list[str], str]] = []
        self.broken = False

    def __call__(self, arguments: Sequence[str], stdin: str | None = None) -> str:
        if self.broken:
            raise ProgramError(["kubectl"], "exited with 1", "connection refused")
        if "get" in arguments:
            assert list(arguments[:2]) == ["-n", NAMESPACE]
            return "" if self.secret is None else json.dumps(self.secret)
        assert stdin is not None
        self.written.append((list(arguments), stdin))
        told = json.loads(stdin)
        assert (told["metadata"]["name"], told["metadata"]["namespace"]) == ("swanlab-api-key", NAMESPACE)
        self.hold(told["stringData"]["api-key"])
        return ""

    def hold(self, key: str) -> None:
        self.secret = {"data": {"api-key": base64.b64encode(key.encode()).decode()}}

    @property
    def key(self) -> str:
        assert self.secret is not None
        return base64.b64decode(self.secret["data"]["api-key"]).decode()


@contextmanager
def served(state: Swanlab) -> Iterator[Swanlab]:
    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            length = int(self.headers.get("Content-Length", "0"))
            body = json.loads(self.rfile.read(length) or b"{}")
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, answer = state.answer(f"{self.command} {self.path}", headers, body)
            content = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = handle_any

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with serving(server) as state.url:
        yield state


@pytest.fixture
def swanlab() -> Iterator[Swanlab]:
    with served(Swanlab()) as state:
        yield state


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def run(state: Path, cluster: Cluster, swanlab: Swanlab, wait: float = 30) -> str:
    """Activate once; what was printed."""
    printed = io.StringIO()
    activate(state, cluster, NAMESPACE, f"{swanlab.url}/", Progress(stream=printed), wait_seconds=wait)
    return printed.getvalue()


def test_fresh_installation_is_activated_and_its_key_kept(tmp_path: Path, cluster: Cluster, swanlab: Swanlab) -> None:
    printed = run(tmp_path, cluster, swanlab)
    assert swanlab.enabled
    assert list(swanlab.keys) == [cluster.key]
    account = json.loads((tmp_path / ACCOUNT_FILE).read_text(encoding="utf-8"))
    assert account["password"] == swanlab.password
    assert len(account["password"]) >= 32
    assert stat.S_IMODE((tmp_path / ACCOUNT_FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [ACCOUNT_FILE]
    assert "waiting for SwanLab's gateway" in printed


def test_neither_key_nor_password_is_shown(tmp_path: Path, cluster: Cluster, swanlab: Swanlab) -> None:
    printed = run(tmp_path, cluster, swanlab)
    words = " ".join(word for arguments, _ in cluster.written for word in arguments)
    for hidden in (cluster.key, swanlab.password):
        assert hidden not in printed
        assert hidden not in words


def test_second_run_changes_nothing(tmp_path: Path, cluster: Cluster, swanlab: Swanlab) -> None:
    run(tmp_path, cluster, swanlab)
    swanlab.asked.clear()
    run(tmp_path, cluster, swanlab)
    assert (swanlab.asked, len(cluster.written)) == (["GET /api", "POST /api/login/api_key"], 1)


def test_lost_secret_gets_a_new_key_and_the_old_one_ends(tmp_path: Path, cluster: Cluster, swanlab: Swanlab) -> None:
    run(tmp_path, cluster, swanlab)
    first, password = cluster.key, swanlab.password
    swanlab.keys["mine"] = "of a person"
    cluster.secret = None
    run(tmp_path, cluster, swanlab)
    assert cluster.key != first
    assert set(swanlab.keys) == {cluster.key, "mine"}
    assert swanlab.password == password


@pytest.mark.parametrize("content", [{}, {"data": None}, {"data": {"api-key": "???"}}, {"data": {"api-key": "/w=="}}])
def test_secret_without_a_key_is_filled(
    tmp_path: Path, cluster: Cluster, swanlab: Swanlab, content: dict[str, Any]
) -> None:
    cluster.secret = content
    run(tmp_path, cluster, swanlab)
    assert cluster.key in swanlab.keys


def test_key_of_another_database_is_replaced(tmp_path: Path, cluster: Cluster, swanlab: Swanlab) -> None:
    cluster.hold("z" * 21)
    run(tmp_path, cluster, swanlab)
    assert cluster.key in swanlab.keys


def test_licence_that_is_over_is_renewed(tmp_path: Path, cluster: Cluster, swanlab: Swanlab) -> None:
    run(tmp_path, cluster, swanlab)
    swanlab.expired = True
    run(tmp_path, cluster, swanlab)
    assert (swanlab.expired, cluster.key in swanlab.keys) == (False, True)


def test_run_that_broke_after_activation_is_continued(tmp_path: Path, cluster: Cluster, swanlab: Swanlab) -> None:
    cluster_that_fails = Cluster()
    swanlab.broken = "POST /api/user/api_key"
    with pytest.raises(SandboxError, match="status 502"):
        run(tmp_path, cluster_that_fails, swanlab)
    swanlab.broken = ""
    run(tmp_path, cluster, swanlab)
    assert cluster.key in swanlab.keys


@pytest.mark.parametrize("expired", [False, True])
def test_lost_password_says_what_to_do(tmp_path: Path, cluster: Cluster, swanlab: Swanlab, *, expired: bool) -> None:
    swanlab.password, swanlab.enabled, swanlab.expired = "another", True, expired
    with pytest.raises(SandboxError, match=r"put the file .* back"):
        run(tmp_path, cluster, swanlab)


def test_password_file_that_is_damaged_is_not_replaced(tmp_path: Path, cluster: Cluster, swanlab: Swanlab) -> None:
    (tmp_path / ACCOUNT_FILE).write_text("{}", encoding="utf-8")
    with pytest.raises(SandboxError, match="does not hold username and password"):
        run(tmp_path, cluster, swanlab)
    assert (tmp_path / ACCOUNT_FILE).read_text(encoding="utf-8") == "{}"


def test_gateway_that_never_answers_is_named(tmp_path: Path, cluster: Cluster, swanlab: Swanlab) -> None:
    swanlab.up = False
    with pytest.raises(SandboxError, match=r"did not answer /api with OK"):
        run(tmp_path, cluster, swanlab, wait=0)
    assert not list(tmp_path.iterdir())


def test_server_that_fails_is_no_reason_for_another_key(tmp_path: Path, cluster: Cluster, swanlab: Swanlab) -> None:
    run(tmp_path, cluster, swanlab)
    swanlab.broken = "POST /api/login/api_key"
    with pytest.raises(SandboxError, match="status 502"):
        run(tmp_path, cluster, swanlab)
    assert len(cluster.written) == 1


def test_cluster_that_does_not_answer_is_said(tmp_path: Path, cluster: Cluster, swanlab: Swanlab) -> None:
    cluster.broken = True
    with pytest.raises(SandboxError, match="cannot be read"):
        run(tmp_path, cluster, swanlab)
