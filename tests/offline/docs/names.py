"""What exists: words of the Makefile, stacks, settings, checks, metrics, environment variables, files."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel

from signals.catalogue import PRODUCERS
from signals.rules.sentinel import REVISION_METRIC
from stacks.settings import Settings
from tests.offline.docs.markdown import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROOMS = ("bin", "cli", "components", "sandbox", "signals", "smoke", "stacks", "tests")
SUFFIXES = ("py", "md", "toml", "yaml", "yml", "json", "xml", "html", "lock", "mod", "sum", "ini", "j2")
PREFIX = "plumbline:"
_SERIES = ("_bucket", "_count", "_sum")


@cache
def words() -> dict[str, str]:
    """Word of the Makefile → what `make` says about it."""
    return dict(re.findall(r"^([a-z]+):.*?## (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@cache
def variables() -> frozenset[str]:
    """Variables that a user may give to make."""
    return frozenset(re.findall(r"^([A-Z]+) \?=", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@cache
def stacks() -> frozenset[str]:
    """Names of the stacks."""
    return frozenset(path.name.split(".")[1] for path in (ROOT / "stacks").glob("Pulumi.*.yaml"))


@cache
def settings() -> frozenset[str]:
    """Every accepted key, sections too, without prefix; a member of a list is written `list[].key`."""
    return frozenset(_keys(Settings, "")) - {"stack"}


def _keys(model: type[BaseModel], above: str) -> Iterator[str]:
    for name, info in model.model_fields.items():
        key = f"{above}.{name}" if above else name
        yield key
        inner = section_of(info.annotation)
        if inner is not None:
            yield from _keys(inner[0], f"{key}[]" if inner[1] else key)


def section_of(annotation: Any) -> tuple[type[BaseModel], bool] | None:  # noqa: ANN401  # any annotation
    """The section inside `X`, `X | None` or `tuple[X, ...]`, and whether there can be several."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, False
    for part in get_args(annotation):
        inner = section_of(part)
        if inner is not None:
            return inner[0], inner[1] or getattr(annotation, "__origin__", None) is tuple
    return None


def is_setting(text: str) -> bool:
    """Whether `plumbline:a.b` is a key of the settings; the one metric of that form counts too."""
    key = re.sub(r"\[\d+\]", "[]", text.removeprefix(PREFIX))
    return key in settings() or text == REVISION_METRIC


def is_metric(name: str) -> bool:
    """Whether the catalogue describes this metric, or the metric of this series."""
    known = {metric.name for page in PRODUCERS for metric in page.metrics}
    return name in known or any(name.removesuffix(suffix) in known for suffix in _SERIES)


@cache
def sources() -> dict[Path, str]:
    """Text of every Python file and script of the rooms."""
    paths = [p for room in ROOMS for p in (ROOT / room).rglob("*") if p.suffix in ("", ".py", ".j2", ".ini")]
    readable = [p for p in paths if p.is_file() and "__pycache__" not in p.parts]
    return {path: path.read_text(encoding="utf-8") for path in readable}


def is_spelt(text: str) -> bool:
    """Whether the rooms' code has this text in it; tests do not count."""
    tests = ROOT / "tests"
    return any(text in source for path, source in sources().items() if tests not in path.parents)


@cache
def _files() -> frozenset[str]:
    """Names of every file of the checkout that can be in git."""
    ours = [path for room in (*ROOMS, "docs", ".ci") for path in (ROOT / room).rglob("*")]
    return frozenset(path.name for path in (*ROOT.iterdir(), *ours) if path.is_file())


def is_file(name: str) -> bool:
    """Whether some file of the checkout has this name."""
    return name in _files()


def is_file_of_tests(name: str) -> bool:
    """Whether a file `<name>.py` of tests exists."""
    return f"{name}.py" in _files()


@cache
def tests() -> frozenset[str]:
    """Names of every test function of the project."""
    text = "\n".join(sources()[path] for path in sources() if path.is_relative_to(ROOT / "tests"))
    return frozenset(re.findall(r"^def (test_\w+)", text, re.MULTILINE))


@cache
def texts() -> tuple[str, ...]:
    """Every text in the code of the rooms, tests aside; what is filled in at run time is `\\0`."""
    code = [s for path, s in sources().items() if path.suffix == ".py" and not path.is_relative_to(ROOT / "tests")]
    return tuple(text for source in code for node in ast.walk(ast.parse(source)) if (text := template(node)))


def template(node: ast.AST) -> str:
    """A literal or f-string with `\\0` for what is filled in; empty for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else "\0" for v in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return template(node.left)
    return ""


def says(quoted: str, text: str) -> bool:
    """Whether a message of the code is the one that a page quotes, with `…` for what varies."""
    parts = [re.escape(part.strip()) for part in quoted.split("…")]
    return re.search(r".*".join(parts), text.replace("\0", "…"), re.DOTALL) is not None


@cache
def raised() -> dict[str, str]:
    """`file:line` → message, for every error that a user can act on and whose message stands where it is raised."""
    errors = ("SandboxError", "DeployError", "UsageError", "fail")
    found = {}
    for path, source in sources().items():
        if path.suffix != ".py" or path.is_relative_to(ROOT / "tests"):
            continue
        for node in ast.walk(ast.parse(source)):
            name = getattr(getattr(node, "func", None), "id", "")
            if isinstance(node, ast.Call) and name in errors and node.args and (text := template(node.args[0])):
                found[f"{path.relative_to(ROOT)}:{node.lineno}"] = text
    return found
