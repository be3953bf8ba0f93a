"""The cluster is gone: a point in a real bucket, a kit that was kept elsewhere, and the word on another machine."""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
from typing import TYPE_CHECKING

import pytest

from cli import recovery_secrets
from components.recovery import names
from components.secrets import derive
from recovery import open_secrets, seal
from tests.offline.recovery import redises
from tests.offline.recovery.kits import Stack, kit, locked_bucket, opened, replace, typed
from tests.offline.recovery.locked import Locked, locked
from tests.offline.sandbox.swanlab_server import server_driver

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Locked, redises.Redises]]:
    """A real S3 and a real Redis."""
    home = tmp_path_factory.mktemp("servers")
    for name in ("target", "redis"):
        (home / name).mkdir()
    with contextlib.ExitStack() as stack:
        target = stack.enter_context(locked(home / "target"))
        found = redises.Redises(stack.enter_context(server_driver.redis_server(home / "redis")), home)
        found.client().set("run", "before the disaster")
        yield target, found


@pytest.fixture
def stack(servers: tuple[Locked, redises.Redises], tmp_path: Path) -> Stack:
    """With a bucket of its own."""
    private, public = seal.generate()
    target, redis = servers
    (tmp_path / "kit").mkdir(mode=0o700)
    (tmp_path / "kit" / recovery_secrets.PRIVATE).write_text(private + "\n", encoding="utf-8")
    return Stack(tmp_path, target, locked_bucket(target), redis, secrets.token_hex(32), public)


def test_names_of_the_signing_key_are_those_of_the_deployment() -> None:
    assert (open_secrets.SIGNING_SECRET, open_secrets.SIGNING_ENTRY) == (names.SIGNING, names.SIGNING_KEY)


def test_secrets_come_back_without_the_cluster_and_bring_the_data_back(stack: Stack) -> None:
    made = stack.point()
    kit(stack)
    code, said = typed(stack, "--kit", "kit", "--into", "out")
    assert code == 0, said
    assert f"2 secrets of point {made}" in said
    assert f"sha256 {stack.fingerprint}; it was sealed in the point itself: compare" in said
    out = stack.home / "out"
    assert {
        one.name: {entry.name: entry.read_bytes() for entry in one.iterdir()} for one in out.iterdir()
    } == stack.secrets()
    assert {oct(path.stat().st_mode & 0o777) for path in (out, *out.iterdir())} == {"0o700"}
    assert {oct(path.stat().st_mode & 0o777) for path in out.glob("*/*")} == {"0o600"}
    # The new cluster has another root secret: its own signing key does not fit, the opened one does.
    new = Stack(stack.home, stack.target, stack.bucket, stack.redis, secrets.token_hex(32), stack.public)
    refused = new.run("restore", "--point", made, config=new.config(sealing=False), code=3)
    assert "signature" in refused["error"]
    opened_key = new.config(out / names.SIGNING / names.SIGNING_KEY, sealing=False)
    found = new.run("restore", "--point", made, config=opened_key)
    assert (found["point"], found["differences"]) == (made, [])
    assert stack.redis.client(redises.BESIDE).get("run") == b"before the disaster"
    new.run("discard", config=opened_key)


def test_word_ends_with_the_code_of_the_program_and_says_what_the_kit_lacks(stack: Stack) -> None:
    kit(stack)
    code, said = typed(stack, "--kit", "kit", "--into", "out", "--point", "20261130T072000Z-1f2e3d4c")
    assert code == 3
    assert f"there is no point 20261130T072000Z-1f2e3d4c in {stack.bucket}" in said
    (stack.home / "kit" / recovery_secrets.ACCESS_KEY).unlink()
    code, said = typed(stack, "--kit", "kit", "--into", "out")
    assert code == 3
    assert f"error: recovery kit {stack.home}/kit has no accessKey\n" in said


def test_signing_key_that_was_kept_is_checked_first(stack: Stack) -> None:
    made = stack.point()
    (kit(stack) / recovery_secrets.SIGNING).write_text(stack.signing, encoding="utf-8")
    code, said = opened(stack)
    assert code == 0, said
    assert stack.fingerprint in said
    (kit(stack) / recovery_secrets.SIGNING).write_text(derive("x" * 64, names.SIGNING, 1), encoding="utf-8")
    code, said = opened(stack, made, "other")
    assert code == 3
    assert "its signature is not that of this signing key" in said
    assert not (stack.home / "other").exists()


def test_fingerprint_that_was_kept_tells_a_point_of_somebody_else(stack: Stack) -> None:
    """A thief with the writer's key knows the public recovery key as well: his points are sound in themselves."""
    mine = stack.point()
    thief = Stack(stack.home, stack.target, stack.bucket, stack.redis, secrets.token_hex(32), stack.public)
    theirs = thief.point()
    kept = kit(stack) / recovery_secrets.FINGERPRINT
    code, said = opened(stack)
    assert code == 3
    assert "signed with 2 keys" in said
    for word in (stack.fingerprint, thief.fingerprint, mine, theirs):
        assert word in said
    assert not (stack.home / "out").exists()
    kept.write_text(f"{stack.fingerprint}  -\n", encoding="utf-8")
    code, said = opened(stack)
    assert code == 0, said
    assert json.loads(said)["point"] == mine
    code, said = opened(stack, theirs, "theirs")
    assert code == 3
    assert f"nothing there is signed with the key of fingerprint {stack.fingerprint}" in said
    assert not (stack.home / "theirs").exists()
    kept.write_text("", encoding="utf-8")
    code, said = opened(stack, mine, "empty")
    assert code == 3
    assert "signing_key_sha256" in said


@pytest.mark.parametrize("how", ["altered", "resigned"])
def test_manifest_that_its_own_key_has_not_signed_opens_nothing(stack: Stack, how: str) -> None:
    made = stack.point()
    kit(stack)
    content = stack.target.bucket(stack.bucket).get(f"points/{made}/manifest.json")
    assert content is not None
    if how == "altered":
        other = content.replace(b"online", b"quiesced")
    else:
        found = json.loads(content)
        other = json.dumps({**found, "hmac": hashlib.sha256(b"any").hexdigest()}).encode()
    assert other != content
    replace(stack, made, other)
    for point in (made, recovery_secrets.LATEST):
        code, said = opened(stack, point)
        assert code == 3
        assert "its signature is not that of this signing key" in said
        assert not (stack.home / "out").exists()


def test_manifest_laid_over_is_passed_over(stack: Stack) -> None:
    made = stack.point()
    kit(stack)
    key = f"points/{made}/manifest.json"
    stack.target.bucket(stack.bucket, "writer").put(key, b"{}", absent=False)
    code, said = opened(stack)
    assert code == 0, said
    assert "1 manifests do not open" in said


def test_manifest_of_a_thief_over_a_point_is_not_taken_for_it(stack: Stack) -> None:
    """His key is sealed in it, and has signed it: the point has two genuine owners, and nobody can say which."""
    made = stack.point()
    kit(stack)
    thief = Stack(stack.home, stack.target, stack.bucket, stack.redis, secrets.token_hex(32), stack.public)
    other = thief.point()
    bucket = stack.target.bucket(stack.bucket)
    theirs = bucket.get(f"points/{other}/manifest.json")
    assert theirs is not None
    replace(stack, other, None)
    stack.target.bucket(stack.bucket, "writer").put(f"points/{made}/manifest.json", theirs, absent=False)
    code, said = opened(stack, made)
    assert code == 3
    assert "signed with 2 keys" in said
    assert not (stack.home / "out").exists()


def test_another_recovery_key_opens_nothing(stack: Stack) -> None:
    made = stack.point()
    (kit(stack) / recovery_secrets.PRIVATE).write_text(seal.generate()[0], encoding="utf-8")
    code, said = opened(stack, made)
    assert code == 3
    assert "do not open with the private key" in said
    assert seal.fingerprint(stack.public) in said
    (kit(stack) / recovery_secrets.PRIVATE).write_text(stack.public, encoding="utf-8")
    assert "not such a recovery key" in opened(stack)[1]


def test_directory_that_holds_something_is_left_alone(stack: Stack) -> None:
    stack.point()
    kit(stack)
    (stack.home / "out").mkdir(mode=0o755)
    code, said = opened(stack)
    assert code == 0, said
    assert oct((stack.home / "out").stat().st_mode & 0o777) == "0o700"
    before = sorted(path.stat().st_mtime_ns for path in (stack.home / "out").rglob("*"))
    code, said = opened(stack)
    assert code == 3
    assert "is not empty; nothing was opened" in said
    assert sorted(path.stat().st_mtime_ns for path in (stack.home / "out").rglob("*")) == before


def test_point_that_nobody_verified_must_be_named(stack: Stack) -> None:
    made = str(stack.run("create")["point"])
    kit(stack)
    code, said = opened(stack)
    assert code == 3
    assert f"was verified; the newest is {made}" in said
    assert opened(stack, made)[0] == 0


def test_point_without_secrets_and_a_bucket_without_points_say_so(stack: Stack) -> None:
    kit(stack)
    code, said = opened(stack)
    assert code == 3
    assert f"there is no restore point in {stack.bucket}" in said
    made = str(stack.run("create", config=stack.config(sealing=False))["point"])
    code, said = opened(stack, made)
    assert code == 3
    assert f"point {made} holds no secrets" in said
    code, said = opened(stack, "../x")
    assert "is no id of a point" in said


def test_configuration_of_a_pod_is_taken_as_it_is(stack: Stack) -> None:
    made = stack.point()
    words = ("open-secrets", "--point", made, "--into", str(stack.home / "pod"))
    private = ("--private", str(stack.home / "kit" / recovery_secrets.PRIVATE))
    assert stack.run(*words, *private)["secrets"] == sorted(stack.secrets())
    path = stack.home / "small.json"
    path.write_text(json.dumps({"target": {"endpoint": stack.target.endpoint, "sining_key_file": "/x"}}))
    error = stack.run(*words, *private, config=path, code=3)["error"]
    for word in ("target.bucket", "target.reader", "target.sining_key_file"):
        assert word in error
