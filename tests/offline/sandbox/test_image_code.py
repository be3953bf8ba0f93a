"""What of the checkout enters images: the named directories, whole, and nothing that their programs cannot import."""

from __future__ import annotations

import ast
import os
import sys
from typing import TYPE_CHECKING

import pytest

from sandbox.errors import SandboxError
from sandbox.images.layers import code
from sandbox.images.python import LEFT_OUT
from sandbox.images.roles import CHECKOUT, STAND_INS, StandIn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGED = {"grpc", "google", "typing_extensions"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with files of every kind."""
    files = {
        "sandbox/__init__.py": "",
        "sandbox/home.py": "not for containers",
        "sandbox/workloads/gpu/board.py": "board",
        "sandbox/workloads/gpu/fields.csv": "1,2",
        "sandbox/workloads/gpu/__pycache__/board.cpython-311.pyc": "made",
        "sandbox/workloads/.cache/x": "made",
        "signals/__init__.py": "signals",
        "cli/__main__.py": "not for containers",
        "secret.env": "not for anybody",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_only_the_named_directories_are_taken_with_all_their_files(checkout: Path) -> None:
    found = {e.path: e.content for e in code(checkout).entries if e.content is not None}
    assert found == {
        "opt/plumbline/sandbox/__init__.py": b"",
        "opt/plumbline/sandbox/workloads/gpu/board.py": b"board",
        "opt/plumbline/sandbox/workloads/gpu/fields.csv": b"1,2",
        "opt/plumbline/signals/__init__.py": b"signals",
    }


def test_every_directory_comes_before_what_is_in_it(checkout: Path) -> None:
    paths = [entry.path for entry in code(checkout).entries]
    assert all(path.rpartition("/")[0] in paths[: paths.index(path)] for path in paths if "/" in path)


def test_layer_of_the_real_checkout_holds_nothing_else() -> None:
    allowed = ("opt/plumbline/sandbox/workloads/", "opt/plumbline/signals/", "opt/plumbline/sandbox/__init__.py")
    files = [entry.path for entry in code(CHECKOUT).entries if entry.content is not None]
    assert len(files) > 1
    assert [path for path in files if not path.startswith(allowed)] == []


def test_link_that_leads_out_is_refused(checkout: Path) -> None:
    (checkout / "signals/out.py").symlink_to(checkout / "secret.env")
    with pytest.raises(SandboxError, match=r"signals/out\.py is a link"):
        code(checkout)


@pytest.mark.parametrize("path", ["signals/__init__.py", "sandbox/workloads/gpu/new.py"])
def test_key_changes_with_content(checkout: Path, path: str) -> None:
    before = code(checkout).key
    (checkout / path).write_text("changed")
    assert code(checkout).key != before


def test_key_changes_with_a_name(checkout: Path) -> None:
    before = code(checkout).key
    (checkout / "signals/__init__.py").rename(checkout / "signals/other.py")
    assert code(checkout).key != before


@pytest.mark.parametrize("path", ["sandbox/home.py", "cli/__main__.py", "signals/__pycache__/a.pyc"])
def test_key_does_not_change_with_other_files(checkout: Path, path: str) -> None:
    before = code(checkout).key
    (checkout / path).parent.mkdir(exist_ok=True)
    (checkout / path).write_text("changed")
    assert code(checkout).key == before


def test_key_does_not_change_with_the_time_of_a_file(checkout: Path) -> None:
    before = code(checkout).key
    os.utime(checkout / "signals/__init__.py", (1, 1))
    assert code(checkout).key == before


def at_start(body: list[ast.stmt]) -> Iterator[str]:
    """Dotted names that are imported when a module is: not inside functions, not for types alone."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "this project imports by full names"
            yield from (name for alias in node.names for name in (node.module or "", f"{node.module}.{alias.name}"))
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from at_start(node.orelse)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            for part in ("body", "orelse", "finalbody", "handlers"):
                yield from at_start(getattr(node, part, []))
        elif isinstance(node, ast.ExceptHandler | ast.ClassDef):
            yield from at_start(node.body)


def file_of(module: str, checkout: Path) -> Path | None:
    """File of a module of ours."""
    path = checkout / module.replace(".", "/")
    return next((p for p in (path.with_suffix(".py"), path / "__init__.py") if p.is_file()), None)


def missing(entry: str, checkout: Path) -> set[str]:
    """What a start of `entry` would import and the image lacks, as `importer: module`."""
    names = [".".join(entry.split(".")[:n]) for n in range(1, entry.count(".") + 2)] + [f"{entry}.__main__"]
    taken = {e.path.removeprefix("opt/plumbline/") for e in code(checkout).entries}
    seen: set[str] = set()
    found: set[str] = set()
    while names:
        module = names.pop()
        path = file_of(module, checkout)
        if module in seen or path is None:
            continue
        seen.add(module)
        if path.relative_to(checkout).as_posix() not in taken:
            found.add(module)
            continue
        for name in at_start(ast.parse(path.read_text()).body):
            top = name.split(".")[0]
            if top in ("sandbox", "signals"):
                names += [".".join(name.split(".")[:n]) for n in range(1, name.count(".") + 2)]
            elif top in LEFT_OUT or (top not in PACKAGED and top not in sys.stdlib_module_names):
                found.add(f"{module}: {name}")
    return found


@pytest.mark.parametrize("item", STAND_INS, ids=lambda item: item.role)
def test_stand_in_needs_nothing_that_its_image_lacks(item: StandIn) -> None:
    assert missing(item.module, CHECKOUT) == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import yaml", {"sandbox.workloads.gpu.board: yaml"}),
        ("import sqlite3", {"sandbox.workloads.gpu.board: sqlite3"}),
        ("from sandbox.home import Home", {"sandbox.home"}),
        ("from sandbox import home", {"sandbox.home"}),
        ("import signals", {"signals: pydantic"}),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import yaml", set()),
        ("import json, grpc\ndef f():\n    import yaml", set()),
    ],
)
def test_import_that_the_image_lacks_is_found(checkout: Path, text: str, expected: set[str]) -> None:
    (checkout / "signals/__init__.py").write_text("import pydantic")
    (checkout / "sandbox/workloads/gpu/board.py").write_text(text)
    assert missing("sandbox.workloads.gpu.board", checkout) == expected
