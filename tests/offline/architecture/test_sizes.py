"""Functions and files stay small enough to be read at one go."""

from __future__ import annotations

import ast
from functools import cache
from statistics import median

from tests.offline.architecture.tree import modules

FUNCTION_LINES, FUNCTION_AIM = 60, 40
FILE_LINES, FILE_AIM = 400, 300
AIMED = 0.98  # of all functions and files hold the aim; the rest stays below the limit


def functions(module: str, source: str) -> dict[str, int]:
    """Function → its lines, from `def` to its end."""
    return {
        f"{module}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def too_long(sizes: dict[str, int], limit: int) -> list[str]:
    """What is longer than `limit`, the longest first."""
    return [f"{name}: {lines} lines" for name, lines in sorted(sizes.items(), key=lambda i: -i[1]) if lines > limit]


@cache
def all_functions() -> dict[str, int]:
    """Every function of the project."""
    return {name: lines for module, source in modules().items() for name, lines in functions(module, source).items()}


def all_files() -> dict[str, int]:
    """Every Python file of the project."""
    return {module: len(source.splitlines()) for module, source in modules().items()}


def test_no_function_is_over_the_limit() -> None:
    assert too_long(all_functions(), FUNCTION_LINES) == []


def test_no_file_is_over_the_limit() -> None:
    assert too_long(all_files(), FILE_LINES) == []


def test_nearly_all_functions_hold_the_aim() -> None:
    sizes = all_functions()
    over = too_long(sizes, FUNCTION_AIM)
    assert len(over) <= (1 - AIMED) * len(sizes), "\n".join(over)


def test_nearly_all_files_hold_the_aim() -> None:
    sizes = all_files()
    over = too_long(sizes, FILE_AIM)
    assert len(over) <= (1 - AIMED) * len(sizes), "\n".join(over)


def test_half_of_the_functions_fit_on_a_quarter_of_a_page() -> None:
    assert median(all_functions().values()) <= FUNCTION_AIM / 4


def test_long_function_is_seen() -> None:
    source = "class A:\n    async def long(self):\n" + "        pass\n" * FUNCTION_LINES
    assert too_long(functions("m", source), FUNCTION_LINES) == [f"m:2 long: {FUNCTION_LINES + 1} lines"]


def test_function_at_the_limit_is_accepted() -> None:
    source = "def fits():\n" + "    pass\n" * (FUNCTION_LINES - 1)
    assert too_long(functions("m", source), FUNCTION_LINES) == []


def test_long_file_is_seen() -> None:
    assert too_long({"short": FILE_LINES, "long": FILE_LINES + 1}, FILE_LINES) == [f"long: {FILE_LINES + 1} lines"]
