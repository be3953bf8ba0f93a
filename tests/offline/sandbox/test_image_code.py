"""What of the checkout enters images: what a program imports and the data of its packages, and nothing else."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from sandbox.errors import SandboxError
from sandbox.images.code import files, layer
from sandbox.images.layers import CODE_ROOT
from sandbox.images.materials import WHEEL_SETS
from sandbox.images.python import LEFT_OUT
from sandbox.images.roles import CHECKOUT, PYTHON, PythonProgram

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = "sandbox.workloads.gpu"
MODULE = "sandbox.workloads.gpu.exporter"
# Import names that packages of the lock have, where they are not the package's own.
NAMES = {
    "opentelemetry-sdk": "opentelemetry",
    "chdb-core": "chdb",
    "grpcio": "grpc",
    "protobuf": "google",
    "psycopg-pool": "psycopg_pool",
    "prometheus-client": "prometheus_client",
}
# Imports every module below the paths that it is told, with no site but the one that it is told.
IMPORT_ALL = """
import importlib, pathlib, sys
root, site, *names = sys.argv[1:]
sys.path[:] = [root, *(path for path in sys.path if path not in ("", site)), site]
for name in names:
    importlib.import_module(name)
print(*sorted({m.__file__ for m in sys.modules.values() if getattr(m, "__file__", None)}), sep="\\n")
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with files of every kind."""
    texts = {
        "sandbox/__init__.py": "",
        "sandbox/home.py": "# not for containers",
        "sandbox/notes.txt": "not for containers",
        "sandbox/workloads/__init__.py": "",
        "sandbox/workloads/gpu/__init__.py": "",
        "sandbox/workloads/gpu/__main__.py": "from sandbox.workloads.gpu import exporter",
        "sandbox/workloads/gpu/board.py": "from signals import xid",
        "sandbox/workloads/gpu/exporter.py": "import json\nfrom sandbox.workloads.gpu.board import Board",
        "sandbox/workloads/gpu/plugin.py": "import grpc",
        "sandbox/workloads/gpu/fields.csv": "1,2",
        "sandbox/workloads/gpu/tables/0001.sql": "create",
        "sandbox/workloads/gpu/chart/Chart.yaml": "name: gpu",
        "sandbox/workloads/gpu/chart/templates/a.yaml": "a: b",
        "sandbox/workloads/gpu/chart/files/script.py": "import yaml",
        "sandbox/workloads/gpu/stubs.pyi": "made",
        "sandbox/workloads/gpu/__pycache__/board.cpython-311.pyc": "made",
        "sandbox/workloads/gpu/.cache/x.py": "made",
        "sandbox/workloads/sink/__init__.py": "another program",
        "signals/__init__.py": "",
        "signals/xid.py": "",
        "signals/rules/__init__.py": "not for this program",
        "gate/__init__.py": "",
        "gate/__main__.py": "import signals.xid",
        "gate/page.html": "<p>",
        "cli/__main__.py": "not for containers",
        "secret.env": "not for anybody",
    }
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


SIGNALS = ["signals/__init__.py", "signals/xid.py"]
ABOVE = ["sandbox/__init__.py", "sandbox/workloads/__init__.py"]
GPU = "sandbox/workloads/gpu"


def test_package_comes_whole_with_its_data_and_what_it_imports(checkout: Path) -> None:
    own = ["__init__.py", "__main__.py", "board.py", "exporter.py", "fields.csv", "plugin.py", "tables/0001.sql"]
    assert files(checkout, PROGRAM) == [*ABOVE, *(f"{GPU}/{name}" for name in own), *SIGNALS]


def test_module_comes_with_what_it_imports_and_the_data_beside_it(checkout: Path) -> None:
    own = ["__init__.py", "board.py", "exporter.py", "fields.csv", "tables/0001.sql"]
    assert files(checkout, MODULE) == [*ABOVE, *(f"{GPU}/{name}" for name in own), *SIGNALS]


def test_data_loose_in_a_room_belongs_to_the_program_that_the_room_is(checkout: Path) -> None:
    assert files(checkout, "gate") == ["gate/__init__.py", "gate/__main__.py", "gate/page.html", *SIGNALS]


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from sandbox.home import Home", False),
        ("import typing\nif typing.TYPE_CHECKING:\n    pass\nelse:\n    import sandbox.home", True),
        ("def f():\n    from sandbox import home", True),
        ("try:\n    import sandbox.home as h\nexcept ImportError:\n    pass", True),
    ],
    ids=["for types alone", "not for types", "in a function", "in a try"],
)
def test_import_is_followed_wherever_it_happens(checkout: Path, text: str, *, taken: bool) -> None:
    (checkout / GPU / "board.py").write_text(text)
    assert ("sandbox/home.py" in files(checkout, MODULE)) == taken


def test_layer_holds_the_files_below_its_root(checkout: Path) -> None:
    found = {e.path: e.content for e in layer(checkout, "gate").entries if e.content is not None}
    assert found == {
        f"{CODE_ROOT}/gate/__init__.py": b"",
        f"{CODE_ROOT}/gate/__main__.py": b"import signals.xid",
        f"{CODE_ROOT}/gate/page.html": b"<p>",
        f"{CODE_ROOT}/signals/__init__.py": b"",
        f"{CODE_ROOT}/signals/xid.py": b"",
    }


def test_every_directory_comes_before_what_is_in_it(checkout: Path) -> None:
    paths = [entry.path for entry in layer(checkout, PROGRAM).entries]
    assert all(path.rpartition("/")[0] in paths[: paths.index(path)] for path in paths if "/" in path)


def test_module_that_is_not_there_is_told(checkout: Path) -> None:
    with pytest.raises(SandboxError, match=r"no module sandbox\.nobody\n  next: correct the role in"):
        layer(checkout, "sandbox.nobody")


@pytest.mark.parametrize("path", ["signals/xid.py", f"{GPU}/fields.csv", f"{GPU}/more"])
def test_link_that_leads_out_is_refused(checkout: Path, path: str) -> None:
    (checkout / path).unlink(missing_ok=True)
    (checkout / path).symlink_to(checkout / "secret.env")
    with pytest.raises(SandboxError, match=f"{path} is a link"):
        layer(checkout, PROGRAM)


@pytest.mark.parametrize("path", ["signals/xid.py", f"{GPU}/new.py", f"{GPU}/fields.csv", f"{GPU}/tables/0002.sql"])
def test_key_changes_with_content(checkout: Path, path: str) -> None:
    before = layer(checkout, PROGRAM).key
    (checkout / path).write_text("x = 1")
    assert layer(checkout, PROGRAM).key != before


def test_key_changes_with_a_name(checkout: Path) -> None:
    before = layer(checkout, PROGRAM).key
    (checkout / GPU / "plugin.py").rename(checkout / GPU / "other.py")
    assert layer(checkout, PROGRAM).key != before


@pytest.mark.parametrize(
    "path",
    [
        *("sandbox/home.py", "cli/__main__.py", "signals/__pycache__/a.pyc", "signals/rules/__init__.py"),
        *("sandbox/workloads/sink/__init__.py", f"{GPU}/chart/templates/a.yaml", "sandbox/notes.txt"),
    ],
)
def test_key_does_not_change_with_other_files(checkout: Path, path: str) -> None:
    before = layer(checkout, PROGRAM).key
    (checkout / path).parent.mkdir(exist_ok=True)
    (checkout / path).write_text("changed")
    assert layer(checkout, PROGRAM).key == before


def test_key_does_not_change_with_the_time_of_a_file(checkout: Path) -> None:
    before = layer(checkout, PROGRAM).key
    os.utime(checkout / "signals/xid.py", (1, 1))
    assert layer(checkout, PROGRAM).key == before


@pytest.mark.parametrize("item", PYTHON, ids=lambda item: item.image)
def test_no_rule_and_no_page_of_the_catalogue_restarts_a_program(item: PythonProgram) -> None:
    assert [
        path for path in files(CHECKOUT, item.module) if path.startswith(("signals/rules", "signals/catalogue"))
    ] == []


def write(root: Path, module: str) -> list[str]:
    """Write the code layer of the real checkout below `root`. Returns the names of its modules."""
    names = []
    for path in files(CHECKOUT, module):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes((CHECKOUT / path).read_bytes())
        if path.endswith(".py"):
            names.append(path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    return names


def loaded(root: Path, names: list[str]) -> list[str]:
    """Import modules with nothing of ours on the path but `root`. Returns the files of all that was loaded."""
    site = os.path.dirname(os.path.dirname(pytest.__file__))  # noqa: PTH120  as it stands in sys.path
    argv = [sys.executable, "-P", "-c", IMPORT_ALL, str(root), site, *names]
    environment = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        argv, env=environment, cwd=root, check=True, capture_output=True, text=True, timeout=120
    ).stdout.split()


@pytest.mark.parametrize("item", PYTHON, ids=lambda item: item.image)
def test_every_module_of_a_layer_imports_with_the_code_of_the_layer_alone(item: PythonProgram, tmp_path: Path) -> None:
    names = write(tmp_path, item.module)
    assert item.module in names or f"{item.module}.__main__" in names
    assert [
        path for path in loaded(tmp_path, names) if path.startswith(str(CHECKOUT)) and "site-packages" not in path
    ] == []


def test_module_that_its_layer_lacks_does_not_import(tmp_path: Path) -> None:
    names = write(tmp_path, "sandbox.workloads.alert_sink")
    (tmp_path / "sandbox/workloads/alert_sink/inbox.py").unlink()
    names.remove("sandbox.workloads.alert_sink.inbox")
    with pytest.raises(subprocess.CalledProcessError) as failed:
        loaded(tmp_path, names)
    assert "No module named 'sandbox.workloads.alert_sink.inbox'" in failed.value.stderr


def strangers(checkout: Path, module: str, packages: str) -> set[str]:
    """Imports of a layer that are neither ours, nor of the image's standard library, nor of its set of packages.

    Imports inside functions do not count: a program may have a way that its container does not take.
    """
    brought = next((item.roots for item in WHEEL_SETS if item.name == packages), ())
    known = {NAMES.get(name, name) for name in brought}
    known |= {"urllib3"} if "requests" in known else set()  # whose exceptions and retries requests takes from it
    known |= {"typing_extensions"} if "grpc" in known else set()
    taken = files(checkout, module)
    ours = {path.split("/", maxsplit=1)[0] for path in taken}
    found = set()
    for path in (path for path in taken if path.endswith(".py")):
        for name in at_start(ast.parse((checkout / path).read_text()).body):
            top = name.split(".", maxsplit=1)[0]
            if top in LEFT_OUT or (top not in known | ours and top not in sys.stdlib_module_names):
                found.add(f"{path}: {top}")
    return found


def at_start(body: list[ast.stmt]) -> list[str]:
    """Names that are imported when a module is: not inside functions, not for types alone."""
    found: list[str] = []
    for node in body:
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "this project imports by full names"
            found.append(node.module or "")
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            found += at_start(node.orelse)
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.ClassDef | ast.ExceptHandler):
            for part in ("body", "orelse", "finalbody", "handlers"):
                found += at_start(getattr(node, part, []))
    return found


@pytest.mark.parametrize("item", PYTHON, ids=lambda item: item.image)
def test_program_needs_no_package_that_its_image_lacks(item: PythonProgram) -> None:
    assert strangers(CHECKOUT, item.module, item.packages) == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import yaml", {f"{GPU}/board.py: yaml"}),
        ("import curses", {f"{GPU}/board.py: curses"}),
        ("try:\n    import chdb\nexcept ImportError:\n    pass", {f"{GPU}/board.py: chdb"}),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import yaml", set()),
        ("import json, grpc\ndef f():\n    import yaml", set()),
    ],
)
def test_package_that_the_image_lacks_is_found(checkout: Path, text: str, expected: set[str]) -> None:
    (checkout / GPU / "board.py").write_text(text)
    assert strangers(checkout, PROGRAM, "gpu") == expected
