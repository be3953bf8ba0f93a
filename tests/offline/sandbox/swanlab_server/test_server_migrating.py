"""Which steps of the schema are applied by which version."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sandbox.swanlab_server import database
from sandbox.swanlab_server.errors import StartError
from sandbox.swanlab_server.migrating import Migration, migrations, missing

if TYPE_CHECKING:
    from pathlib import Path

FIRST = Migration("0001_3.0.0_a", (3, 0, 0), "SELECT 1;")
SECOND = Migration("0002_3.2.0_b", (3, 2, 0), "SELECT 2;")
STEPS = (FIRST, SECOND)


def test_a_server_applies_what_its_version_needs_and_nothing_newer() -> None:
    assert missing(STEPS, (3, 1, 1), {}) == [FIRST]
    assert missing(STEPS, (3, 2, 0), {}) == [FIRST, SECOND]


def test_what_is_applied_is_not_applied_again() -> None:
    assert missing(STEPS, (3, 2, 0), {FIRST.name: FIRST.checksum}) == [SECOND]


def test_an_old_server_refuses_a_newer_schema() -> None:
    applied = {step.name: step.checksum for step in STEPS}
    with pytest.raises(StartError, match=r"0002_3\.2\.0_b.*3\.1\.1"):
        missing(STEPS, (3, 1, 1), applied)


def test_a_step_that_was_changed_after_it_was_applied_is_noticed() -> None:
    with pytest.raises(StartError, match="another content"):
        missing(STEPS, (3, 1, 1), {FIRST.name: "0" * 64})


def test_the_shipped_steps_are_in_order_and_3_2_0_has_one_of_its_own() -> None:
    versions = [step.version for step in migrations()]
    assert versions == sorted(versions)
    assert [step.name for step in migrations() if step.version == (3, 2, 0)] == ["0004_3.2.0_run_group"]
    assert all(step.version <= (3, 1, 1) for step in migrations()[:-1])


def test_the_renamed_column_has_its_name_by_version() -> None:
    assert database.names((3, 1, 1)).run_group == "cluster"
    assert database.names((3, 2, 0)).run_group == "run_group"
    assert database.names((3, 4, 0)).run_group == "run_group"


@pytest.mark.parametrize("names", [("1_3.0.0_a.sql",), ("0002_3.0.0_a.sql",), ("0001_3.2.0_a.sql", "0002_3.1.0_b.sql")])
def test_files_that_are_misnamed_or_out_of_order_are_refused(tmp_path: Path, names: tuple[str, ...]) -> None:
    for name in names:
        (tmp_path / name).write_text("SELECT 1;")
    with pytest.raises(StartError, match=names[-1]):
        migrations(tmp_path)
