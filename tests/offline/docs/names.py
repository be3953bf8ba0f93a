"""What exists: words of the Makefile, stacks, settings, checks, metrics, environment variables, files."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_origin

from pydantic import BaseModel

from signals.catalogue import PRODUCERS
from signals.rules.sentinel import REVISION_METRIC
from stacks.settings import Settings
from tests.offline.docs.markdown import ROOT
from tests.offline.signals.promtool_cases import records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROOMS = ("bin", "cli", "components", "gate", "recovery", "sandbox", "signals", "smoke", "stacks", "tests")
SUFFIXES = ("py", "md", "toml", "yaml", "yml", "json", "xml", "html", "lock", "mod", "sum", "ini", "j2")
PREFIX = "plumbline:"
NOT_CATALOGUED = {
    "prometheus_tsdb_lowest_timestamp_seconds": "asked once, by a person who reads a runbook",
}
_SERIES = ("_bucket", "_count", "_sum")


@cache
def words() -> dict[str, str]:
    """Word of the Makefile → what `make` says about it."""
    return dict(re.findall(r"^([a-z-]+):.*?## (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


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


@cache
def maps() -> frozenset[str]:
    """Keys of the settings whose own keys a user chooses."""
    return frozenset(_maps(Settings, ""))


def _maps(model: type[BaseModel], above: str) -> Iterator[str]:
    for name, info in model.model_fields.items():
        inner = section_of(info.annotation)
        if get_origin(info.annotation) is dict:
            yield f"{above}{name}"
        elif inner is not None:
            yield from _maps(inner[0], f"{above}{name}" + ("[]." if inner[1] else "."))


@cache
def recorded() -> frozenset[str]:
    """Names of recorded series."""
    return frozenset((*(rule.record for rule in records()), REVISION_METRIC))


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
    """Whether `plumbline:a.b` is a key of the settings, or any key of a map; recorded series of that form count too."""
    key = re.sub(r"\[\d*\]", "[]", text.removeprefix(PREFIX)).removesuffix("[]")
    return key in settings() or key.rpartition(".")[0] in maps() or text in recorded()


def is_metric(name: str) -> bool:
    """Whether the catalogue describes this metric, or the metric of this series, or says that it is not kept."""
    known = {metric.name for page in PRODUCERS for metric in page.metrics} | set(NOT_CATALOGUED)
    dropped = any(drop.metric.startswith(name) for page in PRODUCERS for drop in page.drops)
    return dropped or name in known or any(name.removesuffix(suffix) in known for suffix in _SERIES)


@cache
def other_words() -> frozenset[str]:
    """Words that look like metrics: labels of the catalogue, keys of the settings and of the contract."""
    metrics = [metric for page in PRODUCERS for metric in page.metrics]
    labels = {label for metric in metrics for label in (*metric.labels, *metric.optional)}
    own = {part for key in settings() for part in key.replace("[]", "").split(".")}
    return frozenset(labels | own)


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
def _trees() -> dict[str, ast.Module]:
    """Path → syntax tree of every Python file of the rooms, tests aside."""
    code = {path.relative_to(ROOT): text for path, text in sources().items() if path.suffix == ".py"}
    return {str(path): ast.parse(text) for path, text in code.items() if path.parts[0] != "tests"}


@cache
def texts() -> tuple[str, ...]:
    """Every text in the code; what is filled in at run time is `\\0`."""
    return tuple(text for tree in _trees().values() for node in ast.walk(tree) if (text := template(node)))


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
    """Whether a message of the code begins as a page quotes it, with `…` for what varies."""
    parts = _parts(quoted)
    if not text.removeprefix("error: ").startswith(parts[0]) or not all(part in text for part in parts):
        return False
    return re.match(r".*?".join(map(re.escape, parts)), text.removeprefix("error: "), re.DOTALL) is not None


@cache
def _parts(quoted: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in quoted.split("…"))


@cache
def parts_of_paths() -> frozenset[str]:
    """Names that the code joins to a path: `x / "name"`, or `/name` in a text."""
    found: set[str] = set()
    for tree in _trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                found.update(template(node.right).split("/"))
    joined = re.findall(r"\0/([\w./-]+)", "\n".join(texts()))
    return frozenset((*found, *(part for path in joined for part in path.split("/"))))


def is_fixed(path: str) -> bool:
    """Whether the code has this absolute path, or one below or above it, as a text of its own."""
    own = [text for text in texts() if re.fullmatch(r"/[\w./-]+", text)]
    return any(path == o or path.startswith(f"{o}/") or o.startswith(f"{path}/") for o in own)


@cache
def raised() -> dict[str, str]:
    """`file:line` → message, for every error that a user can act on and whose message stands where it is raised."""
    errors = ("SandboxError", "DeployError", "UsageError", "fail")
    found = {}
    for path, tree in _trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args and getattr(node.func, "id", "") in errors:
                found[f"{path}:{node.lineno}"] = template(node.args[0])
    return {where: text for where, text in found.items() if text}
