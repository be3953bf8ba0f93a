"""The client of a bucket: a target that breaks off, lies about lengths or is busy; and settings that cannot work."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from recovery.errors import DamagedError, RecoveryError
from recovery.vault.s3 import Bucket
from recovery.vault.settings import Account, Target
from tests.offline.programs import free_port
from tests.offline.recovery.locked import LOCKED, Locked, locked, secret

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECRET = "secret-key-of-the-account"  # noqa: S105  # of no account
Scripted = tuple[int, dict[str, str], bytes]
BUSY: Scripted = (503, {}, b"<Error><Code>SlowDown</Code></Error>")
PAGE = b"<ListVersionsResult><IsTruncated>%s</IsTruncated>%s</ListVersionsResult>"
FOLLOWS = b"<NextKeyMarker>k</NextKeyMarker><NextVersionIdMarker>v</NextVersionIdMarker>"


def target(tmp_path: Path, url: object = "http://s3.example", **changed: object) -> Target:
    for name, content in (("access", "account"), ("secret", SECRET), ("signing", "s" * 32)):
        (tmp_path / name).write_text(content, encoding="utf-8")
    account = Account(access_key_file=tmp_path / "access", secret_key_file=tmp_path / "secret")
    known = {"endpoint": url, "bucket": "vault", "retention_days": 7, "signing_key_file": tmp_path / "signing"}
    return Target.model_validate({**known, "writer": account, "reader": account, **changed})


@contextmanager
def answering(*answers: Scripted) -> Iterator[tuple[str, list[str]]]:
    """A network that gives these answers, the last again and again. Yields its address and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            status, headers, body = answers[min(len(asked), len(answers) - 1)]
            asked.append(f"{self.command} {self.path} {self.headers}")
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True

        do_GET = do_PUT = do_HEAD = do_DELETE = _answer

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()


def bucket(tmp_path: Path, endpoint: str, pauses: list[float] | None = None) -> Bucket:
    found, waited = target(tmp_path, endpoint), list[float]() if pauses is None else pauses
    return Bucket(found, found.writer, "writer", pause=waited.append)


def test_a_busy_target_is_asked_again_and_not_for_ever(tmp_path: Path) -> None:
    pauses: list[float] = []
    with answering(BUSY, BUSY, (200, {}, b"content")) as (endpoint, asked):
        assert bucket(tmp_path, endpoint, pauses).get("key") == b"content"
        assert (len(asked), pauses) == (3, [0.5, 2.0])
    pauses.clear()
    with answering(BUSY) as (endpoint, asked):
        with pytest.raises(RecoveryError, match=r"GetObject of vault/key as writer.*SlowDown \(503\).*run again"):
            bucket(tmp_path, endpoint, pauses).get("key")
        assert (len(asked), len(pauses)) == (4, 3)


def test_an_object_that_ends_early_is_no_object(tmp_path: Path) -> None:
    cut = (200, {"Content-Length": "10"}, b"cont")
    with answering(cut, (200, {}, b"whole")) as (endpoint, asked):
        assert bucket(tmp_path, endpoint).get("key") == b"whole"
        assert len(asked) == 2
    with (
        answering(cut) as (endpoint, _),
        pytest.raises(RecoveryError, match=r"GET of vault/key: .* cannot be reached or breaks off .*4 attempts"),
    ):
        bucket(tmp_path, endpoint).get("key")


def test_an_object_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    with answering((200, {"Content-Length": str(2**40)}, b"")) as (endpoint, asked):
        with pytest.raises(DamagedError, match=r"vault/key has 1099511627776 bytes; at most 10"):
            bucket(tmp_path, endpoint).get("key", limit=10)
        assert len(asked) == 1


def test_nobody_there(tmp_path: Path) -> None:
    with pytest.raises(RecoveryError, match="cannot be reached") as caught:
        bucket(tmp_path, f"http://127.0.0.1:{free_port()}").put("key", b"x")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((200, {}, b""), "is not what S3 describes"),
        ((200, {}, b"<html><body>Sign in</body></html>"), "is not what S3 describes"),
        ((200, {}, b"<ListVersionsResult/>"), "is not what S3 describes"),
        ((200, {}, PAGE % (b"true", b"")), "is not what S3 describes"),
        ((200, {}, PAGE % (b"true", FOLLOWS)), "is not what S3 describes"),
        ((200, {}, PAGE % (b"false", b"<Version><Key>k</Key></Version>")), "is not what S3 describes"),
        ((301, {"Location": "http://elsewhere"}, b""), r"HTTP 301"),
        ((404, {}, b"<Error><Code>NoSuchBucket</Code></Error>"), "make the bucket with object lock"),
    ],
    ids=["nothing", "a page", "no end", "no next", "the same page again", "half a version", "moved", "no bucket"],
)
def test_a_list_that_is_none_is_an_error_and_never_empty(tmp_path: Path, answer: Scripted, message: str) -> None:
    with answering(answer) as (endpoint, _), pytest.raises(RecoveryError, match=message):
        list(bucket(tmp_path, endpoint).versions("points/"))


def test_a_missing_bucket_is_no_missing_object(tmp_path: Path) -> None:
    def missing(code: str) -> Scripted:
        return (404, {}, f"<Error><Code>{code}</Code></Error>".encode())

    with answering(missing("NoSuchKey")) as (endpoint, _):
        assert bucket(tmp_path, endpoint).get("key") is None
    for code in ("NoSuchBucket", ""):
        with answering(missing(code)) as (endpoint, _), pytest.raises(RecoveryError, match="GetObject of vault/key"):
            bucket(tmp_path, endpoint).get("key")


def test_a_put_whose_answer_was_lost_is_told_apart(tmp_path: Path) -> None:
    exists: Scripted = (412, {}, b"<Error><Code>PreconditionFailed</Code></Error>")
    for answers, repeated in (((exists,), False), ((BUSY, exists), True)):
        with answering(*answers) as (endpoint, asked):
            done = bucket(tmp_path, endpoint).put("key", b"one")
            assert (done.new, done.repeated) == (False, repeated)
            assert "If-None-Match: *" in asked[0]
            assert "x-amz-checksum-sha256: dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=" in asked[0]
            assert SECRET not in "".join(asked)


def test_conflicts_and_what_a_target_cannot_do(tmp_path: Path) -> None:
    conflict: Scripted = (409, {}, b"<Error><Code>ConditionalRequestConflict</Code></Error>")
    with answering(conflict, (200, {"x-amz-version-id": "7"}, b"")) as (endpoint, asked):
        done = bucket(tmp_path, endpoint).put("key", b"one")
        assert (done.new, done.version, len(asked)) == (True, "7", 2)
    cannot: Scripted = (501, {}, b"<Error><Code>NotImplemented</Code></Error>")
    with answering(cannot) as (endpoint, asked):
        with pytest.raises(RecoveryError, match="conditional writes"):
            bucket(tmp_path, endpoint).put("key", b"one")
        assert len(asked) == 1


def test_a_list_of_many_versions_is_read_to_its_end(store: Locked) -> None:
    name = store.fresh()
    admin = store.bucket(name)
    wanted = [f"k/{number:04}" for number in range(10)]
    for key in wanted:
        admin.put(key, b"")
    admin.put(wanted[4], b"over", absent=False)
    found = list(admin.versions("k/", page_size=3))
    assert found == list(admin.versions("k/"))
    assert [version.key for version in found if version.latest] == wanted
    assert len(found) == len(wanted) + 1
    assert list(admin.versions("none/")) == []


def test_the_real_store_refuses_what_arrives_altered(store: Locked) -> None:
    writer = store.bucket(store.fresh(), "writer")
    answer = writer.ask("PUT", "key", body=b"one", headers={"x-amz-checksum-sha256": "A" * 43 + "="})
    assert (answer.status, answer.code) == (400, "BadDigest")
    assert list(store.bucket(writer.name).versions("")) == []


def test_keys_with_strange_characters_are_signed_as_they_are_sent(store: Locked) -> None:
    admin = store.bucket(store.fresh())
    for key in ("a b/c+d&e=f", "ü/€", "100%/~x", "q?x#y"):
        admin.put(key, key.encode())
        assert admin.get(key) == key.encode()
        assert [version.key for version in admin.versions(key)] == [key]


def test_a_lock_is_seen_as_it_is(store: Locked) -> None:
    writer, reader = store.bucket(LOCKED, "writer"), store.bucket(LOCKED, "reader")
    put = writer.put("locked/x", b"one")
    head, retention = reader.head("locked/x", put.version), reader.retention("locked/x", put.version)
    assert head is not None
    assert retention == (head.mode, head.locked_until)
    assert (head.size, head.sha256, head.mode) == (
        3,
        "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed",
        "COMPLIANCE",
    )
    assert reader.head("locked/none") is None
    body = b"<LegalHold><Status>ON</Status></LegalHold>"
    assert store.bucket(LOCKED).ask("PUT", "locked/x", query={"legal-hold": ""}, body=body).status == 200
    held = reader.head("locked/x")
    assert held is not None
    assert held.locked_until is not None
    assert held.locked_until.year == 9999


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locked]:
    with locked(tmp_path_factory.mktemp("store")) as found:
        yield found


def test_settings_are_read_from_json_with_paths_as_text() -> None:
    text = """{"endpoint": "https://s3.example:9000", "bucket": "vault", "ca_file": "/etc/ca.pem", "retention_days": 30,
               "signing_key_file": "/k/signing", "reader": {"access_key_file": "/k/a", "secret_key_file": "/k/s"}}"""
    found = Target.model_validate_json(text)
    assert (found.region, found.writer, str(found.ca_file)) == ("us-east-1", None, "/etc/ca.pem")
    assert found.reader is not None
    assert str(found.reader.secret_key_file) == "/k/s"


@pytest.mark.parametrize(
    "changed",
    [
        {"endpoint": "s3.example:9000"},
        {"endpoint": "ftp://s3.example"},
        {"endpoint": "http://user:secret@s3.example"},
        {"endpoint": "http://s3.example/path"},
        {"bucket": "A"},
        {"bucket": "../x"},
        {"retention_days": 0},
        {"unknown": 1},
    ],
)
def test_settings_that_cannot_work_are_refused(tmp_path: Path, changed: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        target(tmp_path, **changed)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("secret", b"", "is empty"),
        ("secret", b" \n", "is empty"),
        ("secret", None, r"cannot be read \(No such file or directory\)"),
        ("access", b"\xff\xfe", "is not UTF-8"),
        ("access", b"one\ntwo", "more than one line"),
        ("signing", b"x" * 4097, "has more than 4096 bytes"),
        ("signing", b"short", "it has 5 characters; accepted are 32 or more"),
    ],
)
def test_key_files_that_hold_no_key_are_named(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    found = target(tmp_path, "http://s3.example")
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(RecoveryError, match=message) as caught:
        _opened(found)
    assert str(tmp_path / name) in str(caught.value)


def _opened(found: Target) -> None:
    Bucket(found, found.writer, "writer")
    found.signing_key()


def test_an_account_is_shown_without_its_keys(store: Locked) -> None:
    found = store.target(LOCKED)
    assert secret("writer") not in repr(found) + found.model_dump_json()
    assert secret("writer") not in repr(vars(store.bucket(LOCKED, "writer")))
