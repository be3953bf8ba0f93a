"""Image archives are valid OCI layouts, equal for equal inputs, with an id that a runtime would compute too."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from sandbox.images.oci import Entry, Settings, file_digest, write_archive, write_layer

if TYPE_CHECKING:
    from pathlib import Path

REFERENCE = "plumbline.local/echo:1.2-0a1b2c3d"
SETTINGS = Settings(("/bin/echo", "-n"), env={"B": "2", "A": "1"}, labels={"who": "us"})


def layer(path: Path, *entries: Entry) -> Path:
    """Write a layer and return its path."""
    write_layer(entries or (Entry("bin"), Entry("bin/echo", content=b"echo")), path)
    return path


class Archive:
    """An archive as a runtime reads it: index → manifest → configuration → layers, each by digest."""

    def __init__(self, path: Path) -> None:
        """Read every member."""
        with tarfile.open(path) as tar:
            self.files = {m.name: tar.extractfile(m).read() for m in tar.getmembers()}  # type: ignore[union-attr]  # all are files
        (self.entry,) = json.loads(self.files["index.json"])["manifests"]
        self.manifest = json.loads(self.blob(self.entry))
        self.config = json.loads(self.blob(self.manifest["config"]))

    def blob(self, descriptor: dict[str, Any]) -> bytes:
        """Content that a descriptor names; digest and size are computed from it."""
        algorithm, _, digest = descriptor["digest"].partition(":")
        content = self.files[f"blobs/{algorithm}/{digest}"]
        assert hashlib.sha256(content).hexdigest() == digest
        assert len(content) == descriptor["size"]
        return content


@pytest.fixture
def layers(tmp_path: Path) -> list[Path]:
    """Two layers."""
    return [layer(tmp_path / "base.tar"), layer(tmp_path / "top.tar", Entry("etc/x", 0o644, content=b"x"))]


@pytest.fixture
def archive(tmp_path: Path, layers: list[Path]) -> Archive:
    """An archive of both."""
    write_archive(REFERENCE, layers, SETTINGS, tmp_path / "image.tar")
    return Archive(tmp_path / "image.tar")


def test_archive_says_that_it_is_an_oci_layout(archive: Archive) -> None:
    assert json.loads(archive.files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}


def test_index_names_the_image_for_the_importer(archive: Archive) -> None:
    assert archive.entry["annotations"]["io.containerd.image.name"] == REFERENCE


def test_media_types_are_those_of_the_specification(archive: Archive) -> None:
    oci = "application/vnd.oci.image"
    assert archive.entry["mediaType"] == archive.manifest["mediaType"] == f"{oci}.manifest.v1+json"
    assert archive.manifest["config"]["mediaType"] == f"{oci}.config.v1+json"
    assert {item["mediaType"] for item in archive.manifest["layers"]} == {f"{oci}.layer.v1.tar"}


def test_layers_are_in_order_and_whole(archive: Archive, layers: list[Path]) -> None:
    assert [archive.blob(item) for item in archive.manifest["layers"]] == [path.read_bytes() for path in layers]


def test_diff_ids_are_digests_of_the_uncompressed_layers(archive: Archive, layers: list[Path]) -> None:
    expected = [f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}" for path in layers]
    assert archive.config["rootfs"] == {"type": "layers", "diff_ids": expected}


def test_archive_holds_nothing_that_nobody_names(archive: Archive) -> None:
    named = [archive.entry, archive.manifest["config"], *archive.manifest["layers"]]
    blobs = {f"blobs/{item['digest'].replace(':', '/')}" for item in named}
    assert set(archive.files) == {"oci-layout", "index.json", *blobs}


def test_settings_reach_the_configuration(archive: Archive) -> None:
    assert archive.config["config"] == {
        "User": "65534:65534",
        "Entrypoint": ["/bin/echo", "-n"],
        "Env": ["A=1", "B=2"],
        "Labels": {"who": "us"},
        "WorkingDir": "/",
    }


def test_signal_that_stops_a_program_reaches_the_configuration(tmp_path: Path, layers: list[Path]) -> None:
    write_archive(REFERENCE, layers, replace(SETTINGS, stop_signal="SIGINT"), tmp_path / "image.tar")
    assert Archive(tmp_path / "image.tar").config["config"]["StopSignal"] == "SIGINT"


def test_image_id_is_the_digest_of_the_configuration(tmp_path: Path, layers: list[Path]) -> None:
    image_id = write_archive(REFERENCE, layers, SETTINGS, tmp_path / "image.tar")
    assert image_id == Archive(tmp_path / "image.tar").manifest["config"]["digest"]


@pytest.mark.parametrize(("kernel", "image"), [("x86_64", "amd64"), ("aarch64", "arm64"), ("riscv64", "riscv64")])
def test_architecture_is_this_machines(
    tmp_path: Path, layers: list[Path], monkeypatch: pytest.MonkeyPatch, kernel: str, image: str
) -> None:
    monkeypatch.setattr("platform.machine", lambda: kernel)
    write_archive(REFERENCE, layers, SETTINGS, tmp_path / "image.tar")
    assert Archive(tmp_path / "image.tar").config["architecture"] == image


def test_equal_inputs_give_equal_archives(tmp_path: Path, layers: list[Path]) -> None:
    write_archive(REFERENCE, layers, SETTINGS, tmp_path / "a.tar")
    for path in layers:
        os.utime(path, (1, 1))
        path.chmod(0o600)
    write_archive(REFERENCE, layers, SETTINGS, tmp_path / "b.tar")
    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()


def test_equal_entries_give_equal_layers(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    first = layer(tmp_path / "a.tar", Entry("bin/p", file=program)).read_bytes()
    os.utime(program, (1, 1))
    program.chmod(0o700)
    assert layer(tmp_path / "b.tar", Entry("bin/p", file=program)).read_bytes() == first


def test_layer_entries_have_the_given_kind_mode_and_content(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"run")
    path = layer(
        tmp_path / "l.tar",
        Entry("tmp", 0o1777),
        Entry("etc/passwd", 0o644, content=b"root"),
        Entry("bin/run", file=program),
        Entry("bin/sh", 0o777, link="run"),
    )
    with tarfile.open(path) as tar:
        found = {m.name: (m.type, m.mode, m.linkname, m.size, m.uid, m.mtime) for m in tar.getmembers()}
    assert found == {
        "tmp": (tarfile.DIRTYPE, 0o1777, "", 0, 0, 0),
        "etc/passwd": (tarfile.REGTYPE, 0o644, "", 4, 0, 0),
        "bin/run": (tarfile.REGTYPE, 0o755, "", 3, 0, 0),
        "bin/sh": (tarfile.SYMTYPE, 0o777, "run", 0, 0, 0),
    }


def test_file_digest_is_sha256(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"abc")
    # FIPS 180-2, appendix B.1
    assert file_digest(path) == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
