"""The trial over the real object store: it passes what is right, and names each permission that is not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from recovery.errors import RecoveryError
from recovery.vault import names
from recovery.vault.trial import trial
from tests.offline.recovery.locked import BRIEF, GOVERNED, LOCKED, LOOSE, PLAIN, RETENTION_DAYS, Locked, locked, secret

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locked]:
    with locked(tmp_path_factory.mktemp("store")) as found:
        yield found


def test_accounts_that_are_right_pass(store: Locked) -> None:
    seen = trial(store.target(LOCKED))
    assert seen.overwrite == "kept"
    locked_for = seen.locked_until - datetime.now(UTC)
    assert abs(locked_for - timedelta(days=RETENTION_DAYS)) < timedelta(minutes=10)
    assert store.keys(seen.probe, LOCKED) == [seen.probe]
    assert seen.probe.startswith(names.PROBES)
    assert trial(store.target(LOCKED)).probe != seen.probe


@pytest.mark.parametrize(
    ("account", "permission"),
    [
        ("writer-deletes", "s3:DeleteObject"),
        ("writer-deletes-versions", "s3:DeleteObjectVersion"),
        ("writer-reads", "s3:GetObject"),
        ("writer-reads-versions", "s3:GetObjectVersion"),
        ("writer-lists", "s3:ListBucket"),
        ("writer-lists-versions", "s3:ListBucketVersions"),
        ("writer-locks", "s3:PutObjectRetention"),
        ("writer-expires", "s3:PutLifecycleConfiguration"),
        ("writer-configures", "s3:PutBucketObjectLockConfiguration"),
        ("writer-permits", "s3:PutBucketPolicy"),
        ("admin", "s3:GetObject"),
    ],
)
def test_a_writer_that_may_more_is_refused(store: Locked, account: str, permission: str) -> None:
    with pytest.raises(
        RecoveryError, match=rf"the writer's account has {permission} .*must not; take it away"
    ) as caught:
        trial(store.target(LOCKED, writer=account))
    assert secret(account) not in str(caught.value)


@pytest.mark.parametrize(
    ("account", "permission"), [("reader-writes", "PutObject"), ("reader-deletes", "DeleteObjectVersion")]
)
def test_a_reader_that_may_more_is_refused(store: Locked, account: str, permission: str) -> None:
    with pytest.raises(RecoveryError, match=rf"the reader's account has s3:{permission} "):
        trial(store.target(LOCKED, reader=account))


@pytest.mark.parametrize("account", ["reader", "nobody"])
def test_a_writer_that_may_not_write_is_told(store: Locked, account: str) -> None:
    with pytest.raises(RecoveryError, match=r"PutObject of locked/probe/.* as writer.*lacks s3:PutObject"):
        trial(store.target(LOCKED, writer=account))


@pytest.mark.parametrize(
    ("account", "permission"),
    [
        ("reader-without-list", "s3:ListBucketVersions"),
        ("reader-without-get", "s3:GetObjectVersion"),
        ("nobody", "s3:"),
    ],
)
def test_a_reader_that_may_not_read_is_told(store: Locked, account: str, permission: str) -> None:
    with pytest.raises(RecoveryError, match=rf"as reader.*AccessDenied.*lacks {permission}"):
        trial(store.target(LOCKED, reader=account))


@pytest.mark.parametrize(
    ("bucket", "message"),
    [
        (PLAIN, "it keeps no versions"),
        (LOOSE, "new objects are not locked; set a default retention of mode COMPLIANCE and 7 days"),
        (GOVERNED, "its lock has mode GOVERNANCE"),
        (BRIEF, r"locked until .*; accepted are 7 days from now or more"),
        ("missing", "PutObject of missing/probe/"),
    ],
)
def test_a_bucket_whose_lock_is_not_in_effect_is_refused(store: Locked, bucket: str, message: str) -> None:
    with pytest.raises(RecoveryError, match=message):
        trial(store.target(bucket))


def test_keys_that_are_wrong_are_named_by_their_file_and_never_shown(store: Locked) -> None:
    target = store.target(LOCKED)
    assert target.writer is not None
    wrong = store.directory / "wrong.secret"
    wrong.write_text("not-the-secret-of-anybody\n", encoding="utf-8")
    account = target.writer.model_copy(update={"secret_key_file": wrong})
    with pytest.raises(RecoveryError, match=r"SignatureDoesNotMatch.*correct the account's secret key file") as caught:
        trial(target.model_copy(update={"writer": account}))
    assert "not-the-secret" not in str(caught.value)
    for role in ("writer", "reader"):
        with pytest.raises(RecoveryError, match=f"no account `{role}`"):
            trial(target.model_copy(update={role: None}))
