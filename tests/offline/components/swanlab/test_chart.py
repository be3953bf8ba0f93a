"""The chart is read from a directory, an archive or its repository; whatever is wrong names the way out."""

from __future__ import annotations

import hashlib
import io
import tarfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest

from components.errors import DeployError
from components.swanlab.args import Chart
from components.swanlab.chart import known_keys, read
from tests.offline.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILES = {
    "Chart.yaml": "name: self-hosted\nversion: 0.6.2\n",
    "values.yaml": "global:\n  settings:\n    host: ''\n",
    "templates/postgres/deployment.yaml": "{{- if true }}\nmountPath: /var/lib/postgresql/data\n{{- end }}\n",
    "README.md": "not read\n",
}


def packed(files: dict[str, str] = FILES) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"self-hosted/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return buffer.getvalue()


class Repository:
    """A chart repository; `pages` maps a path to what is answered."""

    def __init__(self) -> None:
        pages: dict[str, bytes] = {}

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200 if self.path in pages else 404)
                self.end_headers()
                self.wfile.write(pages.get(self.path, b""))

            def log_message(self, *_: object) -> None:
                """Keep the test's output quiet."""

        self.pages = pages
        self.http = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def chart(self, version: str = "0.6.2") -> Chart:
        return Chart(version=version, repository=self.url)

    def offer(self, url: str, digest: str) -> None:
        entry = f"version: 0.6.2, urls: ['{url}'], digest: '{digest}'"
        self.pages["/index.yaml"] = f"entries:\n  self-hosted:\n  - {{{entry}}}\n".encode()


@pytest.fixture
def repository() -> Iterator[Repository]:
    found = Repository()
    with serving(found.http):
        yield found


def refused(chart: Chart) -> str:
    with pytest.raises(DeployError) as caught:
        read(chart)
    return str(caught.value)


def test_directory_is_read(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = read(Chart(version="0.6.2", path=str(tmp_path)))
    assert found.values == {"global": {"settings": {"host": ""}}}
    assert set(found.templates) == {"templates/postgres/deployment.yaml"}


def test_archive_is_read(tmp_path: Path) -> None:
    (tmp_path / "chart.tgz").write_bytes(packed())
    found = read(Chart(version="0.6.2", path=str(tmp_path / "chart.tgz")))
    assert found.values == {"global": {"settings": {"host": ""}}}
    assert set(found.templates) == {"templates/postgres/deployment.yaml"}


@pytest.mark.parametrize("relative", [True, False])
def test_repository_is_read(repository: Repository, *, relative: bool) -> None:
    repository.offer(
        "charts/c.tgz" if relative else f"{repository.url}/charts/c.tgz", hashlib.sha256(packed()).hexdigest()
    )
    repository.pages["/charts/c.tgz"] = packed()
    assert known_keys(repository.chart()) == {"global": {"settings": {"host": ""}}}


def test_version_that_is_not_there_is_told_with_those_that_are(repository: Repository) -> None:
    repository.offer("c.tgz", "")
    assert "its index has no such version (newest there: 0.6.2)" in refused(repository.chart("9.9.9"))


def test_archive_that_is_not_the_one_of_the_index_is_refused(repository: Repository) -> None:
    repository.offer("c.tgz", "0" * 64)
    repository.pages["/c.tgz"] = packed()
    assert "sha256 differs" in refused(repository.chart())


def test_repository_that_cannot_be_reached_names_the_way_out() -> None:
    message = refused(Chart(version="0.6.2", repository="http://127.0.0.1:1"))
    assert "SwanLab's chart self-hosted 0.6.2 cannot be had from http://127.0.0.1:1" in message
    assert "helm pull self-hosted --repo http://127.0.0.1:1 --version 0.6.2" in message
    assert "pulumi config set --path 'plumbline:swanlab.chart.path' <file>" in message


def test_repository_without_an_index_is_refused(repository: Repository) -> None:
    assert "404" in refused(repository.chart())


def test_other_kinds_of_repository_are_refused() -> None:
    assert "only chart repositories with http:// or https://" in refused(Chart(version="1", repository="oci://r/c"))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"Chart.yaml": "name: x\n"}, "it has no values.yaml"),
        ({}, "it has no Chart.yaml and no values.yaml"),
        ({"Chart.yaml": "name: x\n", "values.yaml": "- a\n"}, "its values.yaml is not an object"),
    ],
)
def test_what_is_no_chart_is_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    (tmp_path / "chart.tgz").write_bytes(packed(files))
    assert message in refused(Chart(version="0.6.2", path=str(tmp_path / "chart.tgz")))


def test_path_that_is_not_there_names_the_setting(tmp_path: Path) -> None:
    message = refused(Chart(version="0.6.2", path=str(tmp_path / "none")))
    assert "(plumbline:swanlab.chart.path) cannot be read" in message
