"""Which way imports may point, and what points the other way."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Room → what it may import of the others. A dotted name allows that module alone.
ALLOWED: Final[dict[str, set[str]]] = {
    "signals": set(),
    "components": {"signals"},
    "stacks": {"signals", "components"},
    "__main__": {"signals", "components", "stacks"},
    "smoke": {"signals", "stacks.contract"},
    "recovery": {"signals", "stacks.contract"},
    "sandbox": {"signals"},
    "gate": {"signals"},
    "cli": {"sandbox"},
    "bin": set(),
}
# Only these may know the engine: whatever checks a stack must run where the engine is not.
WITH_ENGINE: Final = {"components", "stacks", "__main__"}
# Rooms that are held to few packages: content is pure, and the commands only join what others do.
THIRD_PARTY: Final[dict[str, set[str]]] = {"signals": {"yaml", "pydantic"}, "cli": {"yaml"}, "bin": set()}
CONTRACT: Final = "stacks.contract"


def imported(module: str, source: str) -> Iterator[str]:
    """Dotted names that a module imports, wherever in it and for types alone too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: -node.level] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def violations(module: str, source: str) -> list[str]:
    """What a module imports against the direction, one line each."""
    room = module.split(".", maxsplit=1)[0]
    if room not in ALLOWED:
        return []
    return [f"{module} imports {name}" for name in imported(module, source) if not _may(room, name)]


def _may(room: str, name: str) -> bool:
    top = name.split(".", maxsplit=1)[0]
    if top == room or top in sys.stdlib_module_names - {"__main__"}:
        return True
    if top in ALLOWED or top == "tests":
        return any(name == allowed or name.startswith(f"{allowed}.") for allowed in ALLOWED[room])
    if top.startswith("pulumi") and room not in WITH_ENGINE:
        return False
    return room not in THIRD_PARTY or top in THIRD_PARTY[room]


def with_engine(start: str, modules: Mapping[str, str]) -> list[str]:
    """Modules that `start` needs, itself among them, and that import the engine."""
    todo, seen, found = [start], set[str](), []
    while todo:
        module = todo.pop()
        if module in seen or module not in modules:
            continue
        seen.add(module)
        names = list(imported(module, modules[module]))
        found += [f"{module} imports {name}" for name in names if name.split(".")[0].startswith("pulumi")]
        for name in [module, *names]:  # a package runs before its module, and `from package import module` names both
            todo += [name, name.rpartition(".")[0]]
    return found
