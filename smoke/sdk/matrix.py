"""Reads smoke/sdk_matrix.toml: the versions under test and what each must do. Any hole in it is an error."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from smoke.sdk.compare import CALLS, JUDGES, SECOND_INITS
from smoke.sdk.driver import SCENARIOS as SCRIPTS
from smoke.sdk.model import ALWAYS, Expected, Matrix, Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

MATRIX: Final = Path(__file__).parent.parent / "sdk_matrix.toml"
FIELDS: Final = frozenset({"script", "question", "outcomes", "expected"})


class MatrixError(Exception):
    """The matrix cannot be used as it is."""


def read_matrix(path: Path | None = None) -> Matrix:
    """The matrix of a file. Raises MatrixError, which says where and what is accepted.

    path: a file of somebody's own, which may ask for some scenarios alone; None is MATRIX, which has them all.
    """
    part, path = path is not None, path or MATRIX
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise MatrixError(f"{path} cannot be read: {error}") from error
    if set(found) != {"versions", "scenarios"}:
        raise MatrixError(f"{path} has {sorted(found)}; it takes versions and scenarios")
    versions = tuple(found["versions"])
    known = {*JUDGES, *CALLS, *SECOND_INITS}
    names = set(found["scenarios"])
    strange = sorted(names - known if part else names ^ known)
    if strange:
        raise MatrixError(f"{path}: scenarios {strange} are only in the matrix or only in smoke/sdk/compare.py")
    return Matrix(versions, tuple(_scenario(path, name, part, versions) for name, part in found["scenarios"].items()))


def select(matrix: Matrix, wanted: Sequence[str]) -> tuple[str, ...]:
    """The versions asked for, in the matrix's order; all of them if none is named. Raises MatrixError."""
    strange = [version for version in wanted if version not in matrix.versions]
    if strange:
        raise MatrixError(
            f"SDK {strange[0]} is not in smoke/sdk_matrix.toml, which has {', '.join(matrix.versions)}\n"
            "  next: choose one of those, or describe what the new one must do"
        )
    return tuple(version for version in matrix.versions if not wanted or version in wanted)


def _scenario(path: Path, name: str, part: dict[str, Any], versions: tuple[str, ...]) -> Scenario:
    where = f"{path}: scenario {name}"
    if set(part) != FIELDS:
        raise MatrixError(f"{where} has {sorted(part)}; it takes {sorted(FIELDS)}")
    if part["script"] not in SCRIPTS:
        raise MatrixError(f"{where}: script {part['script']!r} is not one of {sorted(SCRIPTS)}")
    taken = sorted(set(part["outcomes"]) & set(ALWAYS))
    if taken:
        raise MatrixError(f"{where}: {taken[0]!r} is an outcome of every scenario, and never an expected one")
    expected: dict[str, Expected] = {}
    for entry in part["expected"]:
        _add(where, entry, part["outcomes"], versions, expected)
    missing = [version for version in versions if version not in expected]
    if missing:
        raise MatrixError(f"{where} does not say what {', '.join(missing)} must do")
    return Scenario(name, part["script"], part["question"], part["outcomes"], expected)


def _add(
    where: str,
    entry: dict[str, Any],
    outcomes: dict[str, str],
    versions: tuple[str, ...],
    expected: dict[str, Expected],
) -> None:
    if set(entry) != {"versions", "outcome", "source"} or not str(entry["source"]).strip():
        raise MatrixError(f"{where}: an expectation is versions, outcome and source, not {sorted(entry)}")
    if entry["outcome"] not in outcomes:
        raise MatrixError(f"{where}: outcome {entry['outcome']!r} is not one of {sorted(outcomes)}")
    for version in entry["versions"]:
        if version not in versions:
            raise MatrixError(f"{where} speaks of SDK {version}, which is not among the versions")
        if version in expected:
            raise MatrixError(f"{where} says twice what SDK {version} must do")
        expected[version] = Expected(entry["outcome"], entry["source"])
