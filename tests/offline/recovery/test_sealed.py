"""Secrets of the stack leave it sealed, whole, and named without their values."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from recovery import seal
from recovery.create import create
from recovery.errors import DamagedError, RecoveryError
from recovery.model import CHUNK_BYTES
from recovery.restore import promote
from recovery.stores import sealed
from tests.offline.recovery.buckets import silent
from tests.offline.recovery.examples import config
from tests.offline.recovery.vaults import Memory

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import JsonValue

    from recovery.model import Part

CANARY = "canary-2b91d7"
VALUES = {"postgres": {"password": f"{CANARY}-pg", "user": f"{CANARY}-user"}, "s3": {"key": f"{CANARY}-s3\n"}}


@dataclass(frozen=True)
class Mounted:
    """Two mounted secrets, and a pair of keys."""

    store: sealed.Sealed
    private: Path
    root: Path


def mount(directory: Path, values: dict[str, bytes]) -> None:
    """As the kubelet does: files are links into `..data`, which is a link to a directory with a time in its name."""
    data = directory / "..2026_11_30"
    data.mkdir(parents=True)
    (directory / "..data").symlink_to(data.name)
    for key, value in values.items():
        (data / key).write_bytes(value)
        (directory / key).symlink_to(f"..data/{key}")


@pytest.fixture
def mounted(tmp_path: Path) -> Mounted:
    for name, values in VALUES.items():
        mount(tmp_path / "mnt" / name, {key: value.encode() for key, value in values.items()})
    private, public = seal.generate()
    (tmp_path / "private").write_text(private, encoding="utf-8")
    (tmp_path / "work").mkdir()
    settings = sealed.Settings(
        name="secrets",
        directories=tuple(str(tmp_path / "mnt" / name) for name in VALUES),
        recovery_public_key=public,
    )
    return Mounted(sealed.open_store(settings, tmp_path / "work"), tmp_path / "private", tmp_path)


def taken(found: Mounted) -> tuple[Memory, Part]:
    vault = Memory()
    return vault, found.store.take(vault, "quiesced", silent)


def opened(private: Path, part: Part, vault: Memory) -> dict[str, dict[str, str]]:
    """What was sealed, as text."""
    found = sealed.open_part(private.read_text(encoding="utf-8"), part, vault)
    return {name: {key: value.decode() for key, value in values.items()} for name, values in found.items()}


def test_what_was_mounted_is_what_opens(mounted: Mounted) -> None:
    vault, part = taken(mounted)
    assert opened(mounted.private, part, vault) == VALUES
    assert part.figures["secrets"] == {"postgres": ["password", "user"], "s3": ["key"]}
    assert part.figures["recovery_key"] == seal.fingerprint(mounted.store.settings.recovery_public_key)


def test_values_that_are_no_text_are_kept(mounted: Mounted) -> None:
    mount(mounted.root / "mnt" / "binary", {"key": b"\xff\x00", "empty": b""})
    settings = mounted.store.settings.model_copy(update={"directories": (str(mounted.root / "mnt" / "binary"),)})
    store = sealed.open_store(settings, mounted.root / "work")
    vault = Memory()
    part = store.take(vault, "online", silent)
    found = sealed.open_part(mounted.private.read_text(encoding="utf-8"), part, vault)
    assert found == {"binary": {"key": b"\xff\x00", "empty": b""}}


def test_no_value_and_nothing_of_it_is_anywhere(mounted: Mounted) -> None:
    vault, part = taken(mounted)
    told = list[str]()

    def tell(line: str) -> None:
        told.append(line)

    mounted.store.restore(part, vault, tell)
    seen = [part.model_dump_json(), repr(mounted.store), repr(mounted.store.compare(part, vault)), *told]
    seen += [mounted.store.promote(force=True), mounted.store.demote(), mounted.store.confirm()]
    kept = (mounted.root / "work" / "secrets.sealed").read_bytes()
    (mounted.root / "other").write_text(seal.generate()[0], encoding="utf-8")
    for action in (
        lambda: opened(mounted.root / "other", part, vault),
        lambda: sealed.open_store(
            mounted.store.settings.model_copy(update={"directories": ("/nowhere",)}), mounted.root
        ).take(vault, "online", silent),
    ):
        with pytest.raises(RecoveryError) as found:
            action()
        seen.append(f"{found.value!r} {found.value.__cause__!r}")
    text = "\n".join(seen).encode() + b"".join(vault.kept.values()) + kept
    for name, values in VALUES.items():
        for value in values.values():
            for shape in (
                value.encode(),
                base64.b64encode(value.encode())[:-4],
                hashlib.sha256(value.encode()).hexdigest().encode(),
            ):
                assert shape not in text, name
    assert CANARY.encode() not in text
    assert (mounted.root / "work" / "secrets.sealed").stat().st_mode & 0o777 == 0o600


def test_the_wrong_private_key_is_named_with_the_right_one(mounted: Mounted) -> None:
    vault, part = taken(mounted)
    private, public = seal.generate()
    (mounted.root / "other").write_text(private, encoding="utf-8")
    with pytest.raises(DamagedError) as found:
        opened(mounted.root / "other", part, vault)
    for fingerprint in (seal.fingerprint(public), part.figures["recovery_key"]):
        assert str(fingerprint) in str(found.value)
    (mounted.root / "other").write_text(mounted.store.settings.recovery_public_key, encoding="utf-8")
    with pytest.raises(RecoveryError, match="not such a recovery key"):
        opened(mounted.root / "other", part, vault)


def test_a_private_key_in_the_configuration_is_refused_without_being_shown() -> None:
    private, _ = seal.generate()
    with pytest.raises(ValidationError) as found:
        sealed.Settings(name="secrets", directories=("/x",), recovery_public_key=private)
    assert found.value.errors()[0]["loc"] == ("recovery_public_key",)


def test_promotion_in_another_pod_keeps_the_bytes_anew(mounted: Mounted) -> None:
    """The working directory of the pod that restored went with it."""
    vault = Memory()
    point = create(config(), (mounted.store,), vault, lambda _: None, mode="online", quiet=None, tell=silent).point
    work = mounted.root / "another"
    work.mkdir()
    promote(point, (sealed.open_store(mounted.store.settings, work),), vault, silent, force=False)
    assert opened(mounted.private, point.parts[0], vault) == VALUES
    assert (work / "secrets.sealed").read_bytes() == b"".join(vault.read(point.parts[0].files[0]))


def test_names_that_the_manifest_does_not_have_are_damage(mounted: Mounted) -> None:
    vault, part = taken(mounted)
    other = part.model_copy(update={"figures": {**part.figures, "secrets": {"postgres": ["password"]}}})
    with pytest.raises(DamagedError, match="other names"):
        opened(mounted.private, other, vault)


@pytest.mark.parametrize(
    "plain",
    [
        {"..": {"key": ""}},
        {"a/b": {"key": ""}},
        {"secret": {"../../key": ""}},
        {"secret": {"": ""}},
        {"secret": {".": ""}},
        {"secret": {"key": "no base64!"}},
        {"secret": {"key": 7}},
        {"secret": "key"},
        ["secret"],
        "secret",
    ],
    ids=str,
)
def test_what_somebody_else_sealed_leads_to_no_other_directory(mounted: Mounted, plain: object) -> None:
    """Whoever has the public key can seal, and whoever writes to the bucket can put it there."""
    vault, part = taken(mounted)
    content = seal.seal(
        mounted.store.settings.recovery_public_key, json.dumps(plain).encode(), b"plumbline recovery secrets 1"
    )
    names: dict[str, JsonValue] = {"secret": ["key"]}
    other = part.model_copy(
        update={"files": (vault.put("secrets.sealed", [content]),), "figures": {**part.figures, "secrets": names}}
    )
    with pytest.raises(DamagedError, match="not what this program seals"):
        opened(mounted.private, other, vault)


def test_more_than_a_program_seals_is_not_read(mounted: Mounted) -> None:
    vault, part = taken(mounted)
    (file,) = part.files
    chunk = file.chunks[0].model_copy(update={"size": CHUNK_BYTES})
    other = part.model_copy(update={"files": (file.model_copy(update={"chunks": (chunk, chunk)}),)})
    vault.kept.clear()
    with pytest.raises(DamagedError, match="which this program never makes"):
        opened(mounted.private, other, vault)


def test_the_kept_copy_is_compared_byte_by_byte(mounted: Mounted) -> None:
    vault, part = taken(mounted)
    with pytest.raises(RecoveryError, match="run restore first"):
        mounted.store.promote(force=True)
    assert mounted.store.compare(part, vault).differences != ()
    mounted.store.restore(part, vault, silent)
    mounted.store.restore(part, vault, silent)
    assert mounted.store.compare(part, vault).differences == ()
    kept = mounted.root / "work" / "secrets.sealed"
    right = kept.read_bytes()
    for wrong in (b"", right[:-1], right[:-1] + bytes([right[-1] ^ 1])):
        kept.write_bytes(wrong)
        assert any(
            "are not those of the restore point" in line for line in mounted.store.compare(part, vault).differences
        )
    mounted.store.discard()
    mounted.store.discard()
    assert not kept.exists()


def test_another_recovery_key_than_the_configured_one_is_a_difference(mounted: Mounted) -> None:
    vault, part = taken(mounted)
    mounted.store.restore(part, vault, silent)
    settings = mounted.store.settings.model_copy(update={"recovery_public_key": seal.generate()[1]})
    found = sealed.open_store(settings, mounted.root / "work").compare(part, vault)
    assert any("sealed for the recovery key" in line for line in found.differences)


@pytest.mark.parametrize("fault", ["missing", "empty", "twice", "unreadable"])
def test_a_secret_that_is_not_there_ends_the_run(mounted: Mounted, fault: str) -> None:
    (mounted.root / "empty").mkdir()
    (mounted.root / "b" / "s3").mkdir(parents=True)
    (mounted.root / "broken").mkdir()
    (mounted.root / "broken" / "..data").symlink_to("gone")
    wrong = {"missing": "none", "empty": "empty", "twice": "b/s3", "unreadable": "broken"}[fault]
    directories = (*mounted.store.settings.directories, str(mounted.root / wrong))
    store = sealed.open_store(mounted.store.settings.model_copy(update={"directories": directories}), mounted.root)
    said = {
        "missing": "cannot be read",
        "empty": "has no file",
        "twice": "two directories",
        "unreadable": "cannot be read",
    }
    with pytest.raises(RecoveryError, match=said[fault]):
        store.take(Memory(), "online", silent)


def test_a_point_without_sealed_bytes_or_with_a_stub_is_damaged(mounted: Mounted) -> None:
    vault, part = taken(mounted)
    with pytest.raises(DamagedError, match=r"has no secrets\.sealed"):
        mounted.store.restore(part.model_copy(update={"files": ()}), vault, silent)
    stub = vault.put("secrets.sealed", [b"x"])
    with pytest.raises(DamagedError, match="too few to hold anything"):
        mounted.store.restore(part.model_copy(update={"files": (stub,)}), vault, silent)
