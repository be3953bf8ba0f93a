"""The matrix has no hole, each version has its lock, and a matrix with a hole is refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from smoke.sdk.environments import LOCKS, read_lock
from smoke.sdk.matrix import MATRIX, MatrixError, read_matrix, select
from smoke.sdk.model import ALWAYS

if TYPE_CHECKING:
    from pathlib import Path

VERSIONS = ("0.7.20", "0.8.4", "0.8.5", "0.9.8", "0.10.3")
KNOWN = read_matrix()


def test_the_five_versions_are_there() -> None:
    assert KNOWN.versions == VERSIONS


@pytest.mark.parametrize("scenario", KNOWN.scenarios, ids=lambda scenario: scenario.name)
def test_every_version_has_an_expected_outcome_with_a_source(scenario: object) -> None:
    found = next(one for one in KNOWN.scenarios if one is scenario)
    assert set(found.expected) == set(VERSIONS)
    for expected in found.expected.values():
        assert expected.outcome in found.outcomes
        assert expected.outcome not in ALWAYS
        assert re.search(r"wheel \d|SwanLab#\d|observed: |docs of SwanLab", expected.source)


def test_known_incompatibilities_stand_in_it() -> None:
    """By hand, from SwanLab's issues and wheels: a matrix that forgets one must not pass."""
    expected = {scenario.name: scenario.expected for scenario in KNOWN.scenarios}
    assert expected["login_web_host"]["0.7.20"].outcome == "accepted"
    assert expected["login_web_host"]["0.8.4"].outcome == "TypeError"
    assert expected["get_run_without_run"]["0.7.20"].outcome == "None"
    assert expected["get_run_without_run"]["0.10.3"].outcome == "RuntimeError"
    assert expected["second_init_session_ended"]["0.8.4"].outcome == "second_refused"
    assert expected["second_init_session_ended"]["0.9.8"].outcome == "both"
    assert {one.outcome for one in expected["roundtrip"].values()} == {"equal"}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_lock_pins_this_version_and_every_package_by_hash(version: str) -> None:
    text = read_lock(version).text
    blocks = re.split(r"\n(?=[a-z0-9])", "\n".join(line for line in text.splitlines() if not line.startswith("#")))
    names = [re.match(r"([a-z0-9-]+)==[\w.]+ \\\n    --hash=sha256:[0-9a-f]{64}", block) for block in blocks]
    assert all(names)
    assert f"swanlab=={version} \\" in text
    assert {"numpy", "pillow", "soundfile"} <= {found.group(1) for found in names if found}
    assert "://" not in text


def test_there_is_no_lock_without_a_version() -> None:
    assert {path.stem for path in LOCKS.glob("*.txt")} == set(VERSIONS)


def test_versions_are_chosen_in_order() -> None:
    assert select(KNOWN, []) == VERSIONS
    assert select(KNOWN, ["0.10.3", "0.8.4"]) == ("0.8.4", "0.10.3")
    with pytest.raises(MatrixError, match=r"SDK 0\.6\.0 is not in smoke/sdk_matrix\.toml"):
        select(KNOWN, ["0.6.0"])


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('outcome = "equal"', 'outcome = "perfect"', "outcome 'perfect' is not one of"),
        (
            'versions = ["0.7.20"]\noutcome = "dot"',
            'versions = []\noutcome = "dot"',
            "does not say what 0.7.20 must do",
        ),
        (
            'versions = ["0.7.20"]\noutcome = "dot"',
            'versions = ["0.7.20", "0.8.4"]\noutcome = "dot"',
            "says twice what",
        ),
        ('versions = ["0.7.20"]\noutcome = "dot"', 'versions = ["0.7.19"]\noutcome = "dot"', "speaks of SDK 0.7.19"),
        ('source = "wheel 0.7.20 swanlab/data/run/main.py:429"', 'source = " "', "is versions, outcome and source"),
        ("[scenarios.nested_key]", "[scenarios.flat_key]", "only in the matrix or only in"),
        ('script = "calls"', 'script = "shouts"', "script 'shouts' is not one of"),
        ('equal = "', 'hang = "x"\nequal = "', "is an outcome of every scenario"),
        ("versions = [", "verions = [", "it takes versions and scenarios"),
        ("versions = [", "versions = [[", "cannot be read"),
    ],
)
def test_a_matrix_with_a_hole_is_refused(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    path = tmp_path / "matrix.toml"
    text = MATRIX.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(MatrixError, match=re.escape(complaint)):
        read_matrix(path)


def test_a_matrix_of_ones_own_may_ask_for_some_scenarios_and_ours_has_them_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head, *parts = re.split(r"(?m)^(?=\[scenarios\.\w+\]$)", MATRIX.read_text(encoding="utf-8"))
    path = tmp_path / "matrix.toml"
    path.write_text(head + "".join(part for part in parts if 'script = "calls"' in part), encoding="utf-8")
    assert {scenario.script for scenario in read_matrix(path).scenarios} == {"calls"}
    monkeypatch.setattr("smoke.sdk.matrix.MATRIX", path)
    with pytest.raises(MatrixError, match="roundtrip"):
        read_matrix()
