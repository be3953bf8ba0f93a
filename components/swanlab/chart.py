"""Reads SwanLab's chart without Helm: the keys that its values may have, and its templates.

Helm takes a value that no template reads without a word, so whatever the chart does not know is asked of the chart
itself: a directory, a .tgz, or the chart repository.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

import requests
import yaml

from components.errors import DeployError
from components.swanlab.names import CHART

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.swanlab.args import Chart

_TIMEOUT_SECONDS: Final = (5.0, 30.0)
_MAX_BYTES: Final = 20_000_000
_MAX_FILE: Final = 2_000_000


@dataclass(frozen=True, kw_only=True)
class ChartFiles:
    """What is read of a chart. values: its values.yaml. templates: path in the chart → text."""

    values: dict[str, Any]
    templates: dict[str, str]


def known_keys(chart: Chart) -> dict[str, Any]:
    """The chart's own values: the tree of keys that it knows. Raises DeployError, see read()."""
    return read(chart).values


def read(chart: Chart) -> ChartFiles:
    """The chart's files. Raises DeployError if it is not there, cannot be reached or is none; names the way out."""
    try:
        return _parsed(dict(_files(chart)))
    except (OSError, tarfile.TarError, requests.RequestException, yaml.YAMLError, _WrongError) as error:
        raise DeployError(_refusal(chart, error)) from error


class _WrongError(Exception):
    """The chart is reached, and not what it must be."""


def _refusal(chart: Chart, error: Exception) -> str:
    if chart.path is not None:
        return (
            f"SwanLab's chart at {chart.path} (plumbline:swanlab.chart.path) cannot be read: {error}; accepted: a "
            f"directory with Chart.yaml and values.yaml, or a .tgz of one; fix: name another path."
        )
    return (
        f"SwanLab's chart {CHART} {chart.version} cannot be had from {chart.repository}: {error}; nothing is deployed "
        f"whose values were not compared with it; fix: on a machine that reaches it `helm pull {CHART} --repo "
        f"{chart.repository} --version {chart.version}`, then pulumi config set --path 'plumbline:swanlab.chart.path' "
        "<file>."
    )


def _files(chart: Chart) -> Iterator[tuple[str, str]]:
    """Path below the chart's directory → text."""
    if chart.path is None:
        yield from _unpacked(_download(chart))
        return
    path = Path(chart.path)
    if path.is_dir():
        for found in sorted((path, *path.rglob("*"))):
            if found.is_file() and _wanted(found.relative_to(path).as_posix()):
                yield found.relative_to(path).as_posix(), found.read_text(encoding="utf-8")
    else:
        yield from _unpacked(path.read_bytes())


def _wanted(name: str) -> bool:
    return name in ("Chart.yaml", "values.yaml") or (name.startswith("templates/") and name.endswith((".yaml", ".tpl")))


def _unpacked(archive: bytes) -> Iterator[tuple[str, str]]:
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as packed:
        for member in packed:
            name = member.name.partition("/")[2]
            content = packed.extractfile(member) if member.isfile() and _wanted(name) else None
            if content is not None:
                yield name, content.read(_MAX_FILE).decode()


def _download(chart: Chart) -> bytes:
    base = f"{chart.repository or ''}".rstrip("/") + "/"
    if not base.startswith(("http://", "https://")):
        raise _WrongError("only chart repositories with http:// or https:// are read")
    index = yaml.safe_load(_get(urljoin(base, "index.yaml")))
    entries = (index.get("entries") or {}).get(CHART) or [] if isinstance(index, dict) else []
    entry = next((e for e in entries if str(e.get("version")) == chart.version), None)
    if entry is None:
        there = ", ".join(str(e.get("version")) for e in entries[:5]) or "none"
        raise _WrongError(f"its index has no such version (newest there: {there})")
    archive = _get(urljoin(base, str(entry["urls"][0])))
    digest = str(entry.get("digest") or "").removeprefix("sha256:")
    if digest and hashlib.sha256(archive).hexdigest() != digest:
        raise _WrongError("the file is not the one that its index describes (sha256 differs)")
    return archive


def _get(url: str) -> bytes:
    with requests.get(url, timeout=_TIMEOUT_SECONDS, stream=True) as answer:
        answer.raise_for_status()
        found = b""
        for part in answer.iter_content(65536):
            found += part
            if len(found) > _MAX_BYTES:
                raise _WrongError(f"{url} is larger than {_MAX_BYTES} bytes")
    return found


def _parsed(files: dict[str, str]) -> ChartFiles:
    missing = [name for name in ("Chart.yaml", "values.yaml") if name not in files]
    if missing:
        raise _WrongError(f"it has no {' and no '.join(missing)}")
    values = yaml.safe_load(files["values.yaml"])
    if not isinstance(values, dict):
        raise _WrongError("its values.yaml is not an object")
    templates = {name: text for name, text in files.items() if name.startswith("templates/")}
    return ChartFiles(values=values, templates=templates)
